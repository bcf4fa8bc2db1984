import { newId, newSeal } from "../../continuity";
import type { WireReply, Json, Piece, ReadRequest, ChargedReply } from "../../dialect";
import { type HostedStep, tokensOf } from "../../reply";
import { itemsOf } from "./request";
import { ChunkSchema, GenerateRequestSchema, type Part, PartSchema } from "./schema";

/**
 * Adds the parts of the format that aimock omits: signatures, hosted tools, sources, complete
 * usage, and a separate final chunk.
 */
export function completeEvents(
  events: readonly Json[],
  chargedReply: ChargedReply,
  { asked, body }: ReadRequest,
): WireReply {
  const aimockParts = events.flatMap(
    (event) => ChunkSchema.parse(event).candidates[0]?.content.parts ?? [],
  );
  const nonEmpty = aimockParts.filter(
    ({ text, functionCall }) => Boolean(text) || functionCall !== undefined,
  );
  const firstVisible = nonEmpty.findIndex(({ thought }) => !thought);
  const insertAt = firstVisible < 0 ? nonEmpty.length : firstVisible;
  const steps = (chargedReply.hosted ?? []).filter(
    ({ name }) => name === "code_execution" || showsSearches(body),
  );
  const parts = sealed(
    [
      ...nonEmpty.slice(0, insertAt),
      ...steps.flatMap((step) => stepParts(step, chargedReply)),
      ...nonEmpty.slice(insertAt),
    ],
    chargedReply,
  );
  const common = { modelVersion: asked.model, responseId: newId("") };
  const pieces = parts.map(({ part, tokens }) =>
    toPiece({ candidates: [candidate([part])], ...common }, tokens),
  );
  const last = lastPart(parts);
  const end = {
    candidates: [
      { ...candidate([last]), finishReason: finishOf(chargedReply), ...grounding(chargedReply) },
    ],
    usageMetadata: usageOf(chargedReply),
  };
  return {
    pieces: [...pieces, { ...toPiece({ ...end, ...common }, 0), usage: true }],
    originalItems: itemsOf([...parts.map(({ part }) => part), last]),
  };
}

/**
 * Whether a reply contains its searches as parts. Only on request; the sources are always sent.
 * Code that was run is always contained.
 */
const showsSearches = (body: Json): boolean =>
  GenerateRequestSchema.parse(body).toolConfig?.includeServerSideToolInvocations === true;

type PacedPart = { part: Part; tokens: number };

const candidate = (parts: readonly Part[]): Json => ({
  content: { role: "model", parts },
  index: 0,
});
const toPiece = (chunk: Json, tokens: number): Piece => ({
  data: JSON.stringify(chunk),
  tokens,
  usage: false,
});

/**
 * Adds the number of tokens to each part, and the signature of the reasoning to the first call.
 * Each call is one part, so it counts all its tokens.
 */
function sealed(parts: readonly Part[], { calls }: ChargedReply): PacedPart[] {
  const firstCall = parts.findIndex(({ functionCall }) => functionCall !== undefined);
  return parts.flatMap((part, place): PacedPart[] => {
    const { functionCall } = part;
    if (!functionCall) return [{ part, tokens: part.text ? 1 : 0 }];
    const text = calls.find(({ id }) => id === functionCall.id)?.arguments ?? "";
    if (!isObject(text)) return []; // this format can only carry JSON
    return [
      {
        part: place === firstCall ? { ...part, thoughtSignature: newSeal() } : part,
        tokens: tokensOf(text),
      },
    ];
  });
}

/** A reply without calls ends with an empty text that carries its signature. */
function lastPart(parts: readonly PacedPart[]): Part {
  const needsNoSignature = parts.length === 0 || parts.some(({ part }) => part.functionCall);
  return needsNoSignature ? { text: "" } : { text: "", thoughtSignature: newSeal() };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function finishOf({ finishReason, calls }: ChargedReply): string {
  if (finishReason === "length") return "MAX_TOKENS";
  if (finishReason === "content_filter") return "SAFETY";
  return calls.every((call) => isObject(call.arguments)) ? "STOP" : "MALFORMED_FUNCTION_CALL";
}

/** In this format, `candidatesTokenCount` does not include reasoning tokens. */
function usageOf({ usage }: ChargedReply): Json {
  const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
  return {
    promptTokenCount: inputTokens,
    ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    candidatesTokenCount: outputTokens - reasoningTokens,
    ...(reasoningTokens > 0 && { thoughtsTokenCount: reasoningTokens }),
    totalTokenCount: inputTokens + outputTokens,
  };
}

function stepParts({ name, input, output }: HostedStep, { citations = [] }: ChargedReply): Part[] {
  const id = newId("");
  const thoughtSignature = newSeal();
  const parts =
    name === "code_execution"
      ? [
          { executableCode: { id, language: "PYTHON", code: input }, thoughtSignature },
          { codeExecutionResult: { id, outcome: "OUTCOME_OK", output } },
        ]
      : [
          {
            toolCall: { id, toolType: "GOOGLE_SEARCH_WEB", args: { queries: [input] } },
            thoughtSignature,
          },
          {
            toolResponse: {
              id,
              toolType: "GOOGLE_SEARCH_WEB",
              response: { search_suggestions: output, found: citations.length },
            },
          },
        ];
  return parts.map((part) => PartSchema.parse(part));
}

/** The searches and sources of a text. In this format, positions count bytes. */
function grounding({ hosted = [], citations = [], text = "" }: ChargedReply): Json {
  const searches = hosted.filter(({ name }) => name === "web_search");
  if (searches.length === 0) return {};
  const supports = citations.map(({ text: passage = text }, index) => {
    const startIndex = Buffer.byteLength(text.slice(0, Math.max(0, text.indexOf(passage))));
    return {
      segment: { startIndex, endIndex: startIndex + Buffer.byteLength(passage), text: passage },
      groundingChunkIndices: [index],
    };
  });
  const groundingMetadata = {
    webSearchQueries: searches.map(({ input }) => input),
    groundingChunks: citations.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: supports,
  };
  return { groundingMetadata };
}
