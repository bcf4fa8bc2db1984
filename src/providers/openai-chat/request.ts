import { cacheKeyField, cacheMarkOf, withCacheMarks } from "../cache-marks";
import { fittingName, resultText } from "../call-ids";
import type { Host } from "../hosts";
import { isJsonObject, parseJson } from "../json";
import { dataUrl, type Part, PDF_TYPE, pdfFilename } from "../attachment-parts";
import type { Message, ModelRequest, ReplyItem, ToolSpec } from "../provider";
import { returnedDetails } from "./reasoning-details";
import { fieldsOf } from "./schema";

type Body = Record<string, unknown>;

/** Parameters that the service sets itself; values in a config are ignored. */
const RESERVED = new Set([
  "max_tokens",
  "max_completion_tokens",
  "n",
  "functions",
  "function_call",
  "extra_body",
]);

/**
 * The body of `POST /chat/completions`. Parameters of the config are passed unchanged. Fields that
 * we set take precedence over them.
 */
export function toBody(request: ModelRequest, host: Host): Body {
  const extra = isJsonObject(request.params["extra_body"]) ? request.params["extra_body"] : {};
  const params = Object.entries({ ...extra, ...request.params }).filter(
    ([name]) => !RESERVED.has(name),
  );
  return {
    ...cacheKeyField(host, request),
    ...Object.fromEntries(params),
    model: request.model,
    messages: toMessages(request, host),
    ...toolFields(request, host),
    [host.tokenLimit]: request.maxOutputTokens ?? undefined,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/**
 * The fields for tools. Omitted without tools, because some servers refuse an empty list of tools,
 * or a tool choice without tools.
 */
function toolFields({ tools, toolChoice }: ModelRequest, host: Host): Body {
  if (tools.length === 0) return { tools: undefined, tool_choice: undefined };
  return {
    tools: tools.map(toTool),
    tool_choice: toolChoice === "required" && host.forcesTools ? "required" : "auto",
  };
}

function toTool({ name, description, parameters }: ToolSpec): Body {
  return { type: "function", function: { name, description, parameters } };
}

function toMessages({ model, system, messages }: ModelRequest, host: Host): Body[] {
  const mark = cacheMarkOf(host, model);
  const first = system === "" ? [] : [{ role: "system", content: system }];
  return [
    ...first,
    ...messages.flatMap((message, n) => [
      ...missingAssistantMessage(messages[n - 1], message, host),
      ...toMessage(message, host, mark),
    ]),
  ];
}

/**
 * The assistant message that some hosts require between tool results and the next user message;
 * otherwise none.
 */
function missingAssistantMessage(
  previous: Message | undefined,
  message: Message,
  { wantsWordAfterResults = false }: Host,
): Body[] {
  const isMissing = wantsWordAfterResults && previous?.role === "tool" && message.role === "user";
  return isMissing ? [{ role: "assistant", content: "I have read the results." }] : [];
}

function toMessage(message: Message, host: Host, mark: Body | null): Body[] {
  switch (message.role) {
    case "user":
      return [{ role: "user", content: toContent(message, mark) }];
    case "tool":
      return [{ role: "tool", tool_call_id: message.toolCallId, content: resultText(message) }];
    case "assistant":
      return toAssistant(message.items, host);
  }
}

/**
 * The content of a user message. Some hosts accept only a string, so the history is one text with
 * what follows it, and with attachments one block: those hosts cache the beginning of a text. Hosts
 * with cache marks get one block per entry of the history.
 */
function toContent(
  { history = [], parts = [], text }: Message & { role: "user" },
  mark: Body | null,
): string | Body[] {
  const texts = mark === null && history.length > 0 ? [history.join("")] : history;
  if (parts.length === 0 && (mark === null || history.length === 0))
    return [...texts, text].join("");
  return [
    ...withCacheMarks({ history: texts.map(toText), parts: parts.map(toPart) }, mark),
    toText(text),
  ];
}

const toText = (text: string): Body => ({ type: "text", text });

function toPart(part: Part): Body {
  switch (part.type) {
    case "text":
      return toText(part.text);
    case "image":
      return { type: "image_url", image_url: { url: dataUrl(part.mediaType, part.base64) } };
    case "pdf":
      return {
        type: "file",
        file: { filename: pdfFilename(part.name), file_data: dataUrl(PDF_TYPE, part.base64) },
      };
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: part.base64, format: part.mediaType === "audio/wav" ? "wav" : "mp3" },
      };
  }
}

function toAssistant(items: readonly ReplyItem[], host: Host): Body[] {
  const text = textOf(items, "text");
  const reasoning = host.wantsReasoningBack ? textOf(items, "reasoning") : "";
  const details = returnedDetails(items);
  const calls = items.flatMap((item) => (item.type === "tool_call" ? [toCall(item)] : []));
  // every server refuses an empty assistant message
  if (text === "" && calls.length === 0) return [];
  return [
    {
      role: "assistant",
      content: text === "" && !host.wantsTextWithCalls ? null : text,
      ...(reasoning !== "" && { reasoning_content: reasoning }),
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ];
}

function textOf(items: readonly ReplyItem[], type: "text" | "reasoning"): string {
  return items.map((item) => (item.type === type ? item.text : "")).join("");
}

/**
 * The call in the form of the API. Arguments that are not a JSON object are replaced by {}. Servers
 * parse the arguments of earlier calls, and with invalid ones they would refuse every later request
 * of the conversation.
 */
function toCall({
  id,
  name,
  arguments: text,
  opaque,
}: Extract<ReplyItem, { type: "tool_call" }>): Body {
  const extra = fieldsOf(fieldsOf(opaque)?.["extra_content"]);
  const calledFunction = {
    name: fittingName(name),
    arguments: isJsonObject(parseJson(text)) ? text : "{}",
  };
  return { id, type: "function", function: calledFunction, ...(extra && { extra_content: extra }) };
}
