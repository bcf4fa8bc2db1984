import { withCacheMarks } from "../cache-marks";
import { fittingName, resultText } from "../call-ids";
import { isJsonObject, parseJson } from "../json";
import { dataUrl, type Part, PDF_TYPE, pdfFilename, rejectPart } from "../attachment-parts";
import type { Message, ReplyItem } from "../provider";
import { textOf } from "./schema";

type Item = Record<string, unknown>;

/**
 * The conversation as the `input` of a request. Each item is unchanged and in order. `mark`: the
 * cache mark of the host for this model; `null` if it takes none.
 */
export function toInput(messages: readonly Message[], mark: Item | null = null): Item[] {
  return messages.flatMap((message) => toItems(message, mark));
}

function toItems(message: Message, mark: Item | null): Item[] {
  switch (message.role) {
    case "user":
      return [
        {
          type: "message",
          role: "user",
          content: [
            ...withCacheMarks(
              {
                history: (message.history ?? []).map(toText),
                parts: (message.parts ?? []).map(toPart),
              },
              mark,
            ),
            toText(message.text),
          ],
        },
      ];
    case "tool":
      return [
        { type: "function_call_output", call_id: message.toolCallId, output: resultText(message) },
      ];
    case "assistant":
      return toReply(message.items);
  }
}

const toText = (text: string): Item => ({ type: "input_text", text });

function toPart(part: Part): Item {
  switch (part.type) {
    case "text":
      return toText(part.text);
    case "image":
      return {
        type: "input_image",
        detail: "auto",
        image_url: dataUrl(part.mediaType, part.base64),
      };
    case "pdf":
      return {
        type: "input_file",
        filename: pdfFilename(part.name),
        file_data: dataUrl(PDF_TYPE, part.base64),
      };
    case "audio":
      return rejectPart(part);
  }
}

/**
 * The items of an assistant message. Reasoning at the end, as in an incomplete reply, is dropped,
 * because the API refuses it.
 */
function toReply(items: readonly ReplyItem[]): Item[] {
  const replyItems = items.flatMap(toReplyItem);
  return replyItems.slice(0, replyItems.findLastIndex(({ type }) => type !== "reasoning") + 1);
}

function toReplyItem(item: ReplyItem): Item[] {
  const opaque = isJsonObject(item.opaque) ? item.opaque : null;
  switch (item.type) {
    case "text":
      return item.text === "" ? [] : [toMessage(item.text, textOf(opaque?.["phase"]))];
    case "reasoning":
      return opaque ? [{ ...opaque, type: "reasoning" }] : [];
    case "tool_call":
      return [toCall(item, textOf(opaque?.["id"]))];
    case "hosted":
      return opaque ? [opaque] : [];
  }
}

function toMessage(text: string, phase: string): Item {
  return {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text }],
    ...(phase !== "" && { phase }),
  };
}

/**
 * The item of a call. Arguments that are not a JSON object are replaced by {}. Servers parse the
 * arguments of earlier calls, and with invalid ones they would refuse every later request of the
 * conversation.
 */
function toCall(
  { id, name, arguments: text }: Extract<ReplyItem, { type: "tool_call" }>,
  itemId: string,
): Item {
  return {
    type: "function_call",
    ...(itemId !== "" && { id: itemId }),
    call_id: id,
    name: fittingName(name),
    arguments: isJsonObject(parseJson(text)) ? text : "{}",
  };
}
