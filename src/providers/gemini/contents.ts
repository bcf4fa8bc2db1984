import type { Content, Part } from "@google/genai/web";
import { isJsonObject, parseJson } from "../json";
import { type Part as AttachedPart, PDF_TYPE } from "../attachment-parts";
import type { Message, ReplyItem } from "../provider";
import { readMarks, readPart } from "./schema";

type ToolCall = Extract<ReplyItem, { type: "tool_call" }>;
type ToolResult = Extract<Message, { role: "tool" }>;

/**
 * The conversation in the form that the API requires: the parts of the model are unchanged and in
 * order, and all tool results for one reply are in one content.
 */
export function toContents(messages: readonly Message[]): Content[] {
  const ids = wireIds(messages);
  const contents: Content[] = [];
  let results: Part[] | null = null;
  for (const message of messages) {
    if (message.role === "tool") {
      const part = toResult(message, ids.get(message.toolCallId));
      if (results === null) {
        results = [];
        contents.push({ role: "user", parts: results });
      }
      results.push(part);
      continue;
    }
    results = null;
    const parts =
      message.role === "user"
        ? [
            ...(message.history ?? []).map((text) => ({ text })),
            ...(message.parts ?? []).map(toAttached),
            { text: message.text },
          ]
        : message.items.flatMap(toParts);
    if (parts.length > 0)
      // the API refuses empty contents
      contents.push({ role: message.role === "user" ? "user" : "model", parts });
  }
  return contents;
}

/** Media types for which the API uses another name than the registered one. */
const API_MEDIA_TYPES: ReadonlyMap<string, string> = new Map([["audio/mpeg", "audio/mp3"]]);

function toAttached(part: AttachedPart): Part {
  switch (part.type) {
    case "text":
      return { text: part.text };
    case "image":
      return { inlineData: { mimeType: part.mediaType, data: part.base64 } };
    case "pdf":
      return { inlineData: { mimeType: PDF_TYPE, data: part.base64 } };
    case "audio":
      return {
        inlineData: {
          mimeType: API_MEDIA_TYPES.get(part.mediaType) ?? part.mediaType,
          data: part.base64,
        },
      };
  }
}

/**
 * Maps our ids of tool calls to the ids of the provider. A call for which the provider sent no id
 * is omitted.
 */
function wireIds(messages: readonly Message[]): ReadonlyMap<string, string> {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.items.filter(isToolCall) : [],
  );
  return new Map(
    calls.flatMap((call) => {
      const { id } = readMarks(call.opaque);
      return id === undefined ? [] : [[call.id, id]];
    }),
  );
}

const isToolCall = (item: ReplyItem): item is ToolCall => item.type === "tool_call";

function toResult({ name, text, isError }: ToolResult, id: string | undefined): Part {
  const response = isError ? { error: text } : { result: text };
  return { functionResponse: { ...(id !== undefined && { id }), name, response } };
}

function toParts(item: ReplyItem): Part[] {
  switch (item.type) {
    case "text":
    case "reasoning": {
      const { thoughtSignature } = readMarks(item.opaque);
      if (item.text === "" && thoughtSignature === undefined) return [];
      return [
        {
          text: item.text,
          ...(item.type === "reasoning" && { thought: true }),
          ...(thoughtSignature !== undefined && { thoughtSignature }),
        },
      ];
    }
    case "tool_call":
      return [toCall(item)];
    case "hosted": {
      const part = readPart(item.opaque);
      return part ? [part] : [];
    }
  }
}

function toCall({ name, arguments: text, opaque }: ToolCall): Part {
  const { id, thoughtSignature } = readMarks(opaque);
  const args = parseJson(text);
  return {
    functionCall: { ...(id !== undefined && { id }), name, args: isJsonObject(args) ? args : {} },
    ...(thoughtSignature !== undefined && { thoughtSignature }),
  };
}
