import { joined } from "../../../../simulated/providers/continuity";
import { data, givenCall, chunksOf, type ReplyContent, type Writer } from "./frame";

/** Writes OpenAI Chat Completions. */
export const writeChat: Writer = (spoken) => {
  const { id, model, text, calls, usage } = spoken;
  const chunk = (delta: object, finish: string | null = null): string =>
    data({
      id,
      object: "chat.completion.chunk",
      model,
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const called = calls.flatMap(({ name, arguments: args }, index) => [
    chunk({
      tool_calls: [
        { index, id: idOf(spoken, index), type: "function", function: { name, arguments: "" } },
      ],
    }),
    ...chunksOf(args).map((piece) =>
      chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    ),
  ]);
  return {
    frames: [
      chunk({ role: "assistant", content: "" }),
      ...chunksOf(text).map((content) => chunk({ content })),
      ...called,
      chunk({}, finishOf(spoken)),
      ...(usage
        ? [data({ id, object: "chat.completion.chunk", model, choices: [], usage: usageOf(usage) })]
        : []),
      "data: [DONE]\n\n",
    ],
    given: joined([
      { kind: "text", id: "", content: text },
      ...calls.map((call, index) => givenCall(idOf(spoken, index), call.name, call.arguments)),
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
