import { itemsOf } from "../../../../simulated/providers/formats/gemini/request";
import { type Part, PartSchema } from "../../../../simulated/providers/formats/gemini/schema";
import { data, chunksOf, type ReplyContent, type Writer } from "./frame";

/**
 * Writes Google's Gemini API. Calls are complete; arguments that are no JSON object cannot be
 * represented.
 */
export const writeGemini: Writer = (spoken) => {
  const { id, model, text, finish, usage } = spoken;
  const parts = [
    ...chunksOf(text).map((piece) => PartSchema.parse({ text: piece })),
    ...callParts(spoken),
  ];
  const last = PartSchema.parse({
    text: "",
    ...(parts.length > 0 && spoken.calls.length === 0 ? { thoughtSignature: `seal_${id}` } : {}),
  });
  const common = { modelVersion: model, responseId: id };
  const candidate = (part: Part, more: object = {}) => ({
    candidates: [{ content: { role: "model", parts: [part] }, index: 0, ...more }],
  });
  const finishReason =
    finish === "length" ? "MAX_TOKENS" : finish === "content_filter" ? "SAFETY" : "STOP";
  return {
    frames: [
      ...parts.map((part) => data({ ...candidate(part), ...common })),
      data({
        ...candidate(last, { finishReason }),
        ...(usage ? { usageMetadata: usageOf(usage) } : {}),
        ...common,
      }),
    ],
    given: itemsOf([...parts, last]),
  };
};

function callParts({ id, calls }: ReplyContent): Part[] {
  return calls.flatMap((call, index) => {
    const args = asObject(call.arguments);
    if (!args) return [];
    const seal = index === 0 ? { thoughtSignature: `seal_${id}` } : {};
    return [
      PartSchema.parse({
        functionCall: { id: `fn_${id}${index}`, name: call.name, args },
        ...seal,
      }),
    ];
  });
}

function asObject(text: string): unknown {
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
