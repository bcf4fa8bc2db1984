import { fittingName, resultText } from "../call-ids";
import type { Host } from "../hosts";
import { isJsonObject, parseJson } from "../json";
import { dataUrl, type Part, PDF_TYPE, pdfFilename } from "../parts";
import type { Message, ModelRequest, ReplyItem, ToolSpec } from "../provider";
import { returnedDetails } from "./reasoning-details";
import { fieldsOf } from "./schema";

type Body = Record<string, unknown>;

/** Parameters that are the request's own business, whatever a config says. */
const OURS = new Set([
  "max_tokens",
  "max_completion_tokens",
  "n",
  "functions",
  "function_call",
  "extra_body",
]);

/** Our request as the body of `POST /chat/completions`. Params go in as they are, ours over them. */
export function toBody(request: ModelRequest, host: Host): Body {
  const extra = isJsonObject(request.params["extra_body"]) ? request.params["extra_body"] : {};
  const params = Object.entries({ ...extra, ...request.params }).filter(
    ([name]) => !OURS.has(name),
  );
  return {
    ...Object.fromEntries(params),
    model: request.model,
    messages: toMessages(request, host),
    ...toolFields(request, host),
    [host.tokenLimit]: request.maxOutputTokens ?? undefined,
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** An empty list of tools is an error to some servers, and so is a tool choice without tools. */
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

function toMessages({ system, messages }: ModelRequest, host: Host): Body[] {
  const first = system === "" ? [] : [{ role: "system", content: system }];
  return [
    ...first,
    ...messages.flatMap((message, n) => [
      ...wordBetween(messages[n - 1], message, host),
      ...toMessage(message, host),
    ]),
  ];
}

/** What the model is made to say between results and the next words of the user, for hosts that demand it. */
function wordBetween(
  before: Message | undefined,
  message: Message,
  { wantsWordAfterResults = false }: Host,
): Body[] {
  const isMissing = wantsWordAfterResults && before?.role === "tool" && message.role === "user";
  return isMissing ? [{ role: "assistant", content: "I have read the results." }] : [];
}

function toMessage(message: Message, host: Host): Body[] {
  switch (message.role) {
    case "user":
      return [
        {
          role: "user",
          content: message.parts ? toContent(message.parts, message.text) : message.text,
        },
      ];
    case "tool":
      return [{ role: "tool", tool_call_id: message.toolCallId, content: resultText(message) }];
    case "assistant":
      return toAssistant(message.items, host);
  }
}

const toContent = (parts: readonly Part[], text: string): Body[] => [
  ...parts.map(toPart),
  { type: "text", text },
];

function toPart(part: Part): Body {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
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
  if (text === "" && calls.length === 0) return []; // no server takes an empty assistant message
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

/** Servers parse the arguments of earlier calls and refuse a request for good if they are broken: those go back empty. */
function toCall({
  id,
  name,
  arguments: text,
  opaque,
}: Extract<ReplyItem, { type: "tool_call" }>): Body {
  const extra = fieldsOf(fieldsOf(opaque)?.["extra_content"]);
  const called = {
    name: fittingName(name),
    arguments: isJsonObject(parseJson(text)) ? text : "{}",
  };
  return { id, type: "function", function: called, ...(extra && { extra_content: extra }) };
}
