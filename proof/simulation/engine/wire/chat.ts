import { joined } from "../../../../simulated/providers/continuity";
import { sseFrame, toCallItem, chunksOf, type ReplyContent, type Encoder } from "./frame";

/** Encodes a reply as a stream of OpenAI's Chat Completions API. */
export const encodeChat: Encoder = (reply) => {
  const { id, model, text, calls, usage } = reply;
  const chunk = (delta: object, finish: string | null = null): string =>
    sseFrame({
      id,
      object: "chat.completion.chunk",
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const callChunks = calls.flatMap(({ name, arguments: args }, index) => [
    chunk({
      tool_calls: [
        { index, id: idOf(reply, index), type: "function", function: { name, arguments: "" } },
      ],
    }),
    ...chunksOf(args).map((part) =>
      chunk({ tool_calls: [{ index, function: { arguments: part } }] }),
    ),
  ]);
  return {
    frames: [
      chunk({ role: "assistant", content: "" }),
      ...chunksOf(text).map((content) => chunk({ content })),
      ...callChunks,
      chunk({}, finishOf(reply)),
      ...(usage
        ? [
            sseFrame({
              id,
              object: "chat.completion.chunk",
              model,
              choices: [],
              usage: usageOf(usage),
            }),
          ]
        : []),
      "data: [DONE]\n\n",
    ],
    items: joined([
      { kind: "text", id: "", content: text },
      ...calls.map((call, index) => toCallItem(idOf(reply, index), call.name, call.arguments)),
    ]),
  };
};

const idOf = ({ id }: ReplyContent, index: number): string => `call_${id}${index}`;

const finishOf = ({ finish, calls }: ReplyContent): string =>
  finish === "stop" && calls.length > 0 ? "tool_calls" : finish;

const usageOf = ({ input, output, cached }: NonNullable<ReplyContent["usage"]>) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: 0 },
});
