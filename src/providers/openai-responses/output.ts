import type { Citation, HostedUse } from "../../protocol/hosted-tools";
import { uniqueCallIds } from "../call-ids";
import type { ReplyItem } from "../provider";
import { hostedNameOf, hostedUse, returnedHostedItem } from "./hosted-items";
import {
  type Fields,
  isRefusal,
  listOf,
  messageText,
  partsOf,
  reasoningText,
  textOf,
} from "./schema";

/** A finished reply, read from its output items. Items of unknown types are ignored. */

type Output = { items: ReplyItem[]; hosted: HostedUse[]; citations: Citation[]; refused: boolean };

/** Tool calls get ids that are unique, also within `takenIds`. */
export function readOutput(output: readonly Fields[], takenIds: ReadonlySet<string>): Output {
  const messages = output.filter(({ type }) => type === "message");
  const whole = output.every(
    (item) => item["type"] !== "reasoning" || returnedReasoning(item) !== null,
  );
  return {
    items: uniqueCallIds(
      output.flatMap((item) => toItem(item, whole)),
      takenIds,
    ),
    hosted: output.flatMap((item) => {
      const name = hostedNameOf(item);
      return name ? [hostedUse(name, item)] : [];
    }),
    citations: messages.flatMap(citationsOf),
    refused: messages.some(isRefusal),
  };
}

/**
 * `whole`: whether all reasoning of the reply can be sent back. The API refuses an item with an id
 * if the reasoning before it is missing. Then calls are sent back without their id, and hosted
 * items, which require one, are omitted.
 */
function toItem(item: Fields, whole: boolean): ReplyItem[] {
  switch (item["type"]) {
    case "message":
      return toText(item);
    case "reasoning":
      return toReasoning(item);
    case "function_call":
      return [toCall(item, whole)];
    default: {
      const name = hostedNameOf(item);
      return name
        ? [{ type: "hosted", name, ...(whole && { opaque: returnedHostedItem(item) }) }]
        : [];
    }
  }
}

/**
 * `phase` separates intermediate remarks from the answer. Models that set it perform worse without
 * it.
 */
function toText(item: Fields): ReplyItem[] {
  const text = messageText(item);
  const phase = textOf(item["phase"]);
  if (text === "") return [];
  return [{ type: "text", text, ...(phase !== "" && { opaque: { phase } }) }];
}

function toReasoning(item: Fields): ReplyItem[] {
  const text = reasoningText(item);
  const opaque = returnedReasoning(item);
  return text === "" && !opaque ? [] : [{ type: "reasoning", text, ...(opaque && { opaque }) }];
}

/**
 * The item as it is sent back; `null` if it contains only an id of data that the provider did not
 * store. Only fields that the API accepts: it refuses null fields of its own responses, and plain
 * text beside encrypted content.
 */
function returnedReasoning(item: Fields): Fields | null {
  const encrypted = textOf(item["encrypted_content"]);
  const content = listOf(item["content"]);
  const status = textOf(item["status"]);
  if (encrypted === "" && content.length === 0) return null;
  return {
    id: textOf(item["id"]),
    summary: listOf(item["summary"]),
    ...(encrypted === "" ? { content } : { encrypted_content: encrypted }),
    ...(status !== "" && { status }),
  };
}

function toCall(item: Fields, named: boolean): ReplyItem {
  const text = textOf(item["arguments"]);
  const id = textOf(item["id"]);
  return {
    type: "tool_call",
    id: textOf(item["call_id"]) || id,
    name: textOf(item["name"]),
    arguments: text.trim() === "" ? "{}" : text,
    ...(named && id !== "" && { opaque: { id } }),
  };
}

const citationsOf = (message: Fields): Citation[] =>
  partsOf(message["content"], "output_text").flatMap((part) =>
    partsOf(part["annotations"], "url_citation").map(toCitation),
  );

export const toCitation = (annotation: Fields): Citation => ({
  url: textOf(annotation["url"]),
  title: textOf(annotation["title"]),
});
