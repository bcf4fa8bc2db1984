import { itemsOf } from "../../../../simulated/providers/formats/gemini/request";
import { type Part, PartSchema } from "../../../../simulated/providers/formats/gemini/schema";
import { sseFrame, chunksOf, type ReplyContent, type Encoder } from "./frame";

/**
 * Encodes a reply as a stream of Google's Gemini API. This format has no place for incomplete
 * arguments, so calls whose arguments are not a JSON object are left out.
 */
export const encodeGemini: Encoder = (reply) => {
  const { id, model, text, finish, usage } = reply;
  const parts = [
    ...chunksOf(text).map((chunk) => PartSchema.parse({ text: chunk })),
    ...callParts(reply),
  ];
  const lastPart = PartSchema.parse({
    text: "",
    ...(parts.length > 0 && reply.calls.length === 0 ? { thoughtSignature: `seal_${id}` } : {}),
  });
  const common = { modelVersion: model, responseId: id };
  const candidate = (part: Part, more: object = {}) => ({
    candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...more }],
  });
  const finishReason =
    finish === "length" ? "MAX_TOKENS" : finish === "content_filter" ? "SAFETY" : "STOP";
  return {
    frames: [
      ...parts.map((part) => sseFrame({ ...candidate(part), ...common })),
      sseFrame({
        ...candidate(lastPart, { finishReason }),
        ...(usage ? { usageMetadata: usageOf(usage) } : {}),
        ...common,
      }),
    ],
    items: itemsOf([...parts, lastPart]),
  };
};

function callParts({ id, calls }: ReplyContent): Part[] {
  return calls.flatMap((call, index) => {
    const args = parseObject(call.arguments);
    if (!args) return [];
    const signature = index === 0 ? { thoughtSignature: `seal_${id}` } : {};
    return [
      PartSchema.parse({
        functionCall: { id: `fn_${id}${index}`, name: call.name, args },
        ...signature,
      }),
    ];
  });
}

/** `null` if the text is no JSON object. */
function parseObject(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

const usageOf = ({ input, output, cached }: NonNullable<ReplyContent["usage"]>) => ({
  promptTokenCount: input,
  candidatesTokenCount: output,
  cachedContentTokenCount: cached,
  totalTokenCount: input + output,
});
