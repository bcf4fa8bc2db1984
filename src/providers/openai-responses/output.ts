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

/** Reads a finished reply from its output items. Items of unknown types are ignored. */

type Output = { items: ReplyItem[]; hosted: HostedUse[]; citations: Citation[]; refused: boolean };

/**
 * The reply in these output items. Tool calls get ids that are unique within the reply and differ
 * from `takenIds`.
 */
export function readOutput(output: readonly Fields[], takenIds: ReadonlySet<string>): Output {
  const messages = output.filter(({ type }) => type === "message");
  const hasAllReasoning = output.every(
    (item) => item["type"] !== "reasoning" || returnedReasoning(item) !== null,
  );
  return {
    items: uniqueCallIds(
      output.flatMap((item) => toItem(item, hasAllReasoning)),
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
 * The reply items of an output item. `hasAllReasoning`: whether all reasoning of the reply can be
 * sent back. If not, the API refuses items with an id after the missing reasoning. So calls are
 * sent back without their id, and hosted items are not sent back, because they require an id.
 */
function toItem(item: Fields, hasAllReasoning: boolean): ReplyItem[] {
  switch (item["type"]) {
    case "message":
      return toText(item);
    case "reasoning":
      return toReasoning(item);
    case "function_call":
      return [toCall(item, hasAllReasoning)];
    default: {
      const name = hostedNameOf(item);
      return name
        ? [{ type: "hosted", name, ...(hasAllReasoning && { opaque: returnedHostedItem(item) }) }]
        : [];
    }
  }
}

/**
 * The text of a message. `phase` distinguishes intermediate remarks from the answer. Models that
 * set it perform worse if it is not sent back.
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
 * The reasoning item in the form in which it is sent back. `null` if it contains only the id of
 * data that the provider did not store. It has only fields that the API accepts: the API refuses
 * null fields of its own responses, and plain text next to encrypted content.
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

function toCall(item: Fields, withId: boolean): ReplyItem {
  const text = textOf(item["arguments"]);
  const id = textOf(item["id"]);
  return {
    type: "tool_call",
    id: textOf(item["call_id"]) || id,
    name: textOf(item["name"]),
    arguments: text.trim() === "" ? "{}" : text,
    ...(withId && id !== "" && { opaque: { id } }),
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
