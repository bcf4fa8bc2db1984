import { uniqueCallIds } from "../call-ids";
import { isJsonObject } from "../json";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import { hostedToolOf } from "./hosted-uses";
import { type Fields, fieldsOf, marksOf, type PartMarks, textOf } from "./schema";

/** Memory of an item besides its texts, in characters. */
const ITEM_CHARS = 256;

type TextItem = { type: "text" | "reasoning"; pieces: string[]; marks: PartMarks };
type PartItem = TextItem | Extract<ReplyItem, { type: "tool_call" | "hosted" }>;

type Parts = {
  /** Adds a part; returns its event, or `null`. */
  push(part: Fields): ModelEvent | null;
  items(): ReplyItem[];
  hasCalls(): boolean;
};

/**
 * Stores the parts of a reply in order, as items that can be sent back. Consecutive pieces of text
 * are joined. A part with a signature is never joined, because the signature covers exactly that
 * part. `grow` receives the number of characters kept.
 */
export function createParts(takenIds: ReadonlySet<string>, grow: (chars: number) => void): Parts {
  const kept: PartItem[] = [];
  const ids = new Set<string>();
  let calls = 0;

  const say = (part: Fields): ModelEvent | null => {
    const type = part["thought"] === true ? "reasoning" : "text";
    const text = textOf(part["text"]);
    const marks = marksOf(part);
    const last = kept.at(-1);
    const signature = marks.thoughtSignature ?? "";
    if (text === "" && signature === "") return null;
    grow(text.length + signature.length);
    if (signature === "" && last?.type === type && !last.marks.thoughtSignature)
      last.pieces.push(text);
    else {
      grow(ITEM_CHARS);
      kept.push({ type, pieces: [text], marks });
    }
    return text === "" ? null : { type, text };
  };
  const call = (part: Fields, given: Fields): ModelEvent => {
    const item = toCall(part, given);
    grow(
      CALL_CHARS +
        item.id.length +
        item.name.length +
        item.arguments.length +
        textOf(part["thoughtSignature"]).length,
    );
    const shown = item.id !== "" && !ids.has(item.id) && { id: item.id };
    ids.add(item.id);
    kept.push(item);
    calls += 1;
    const text = given["args"] === undefined ? "" : item.arguments;
    return { type: "tool_arguments", index: calls - 1, name: item.name, ...shown, text };
  };

  return {
    push(part) {
      const given = fieldsOf(part["functionCall"]);
      if (given) return call(part, given);
      const name = hostedToolOf(part);
      if (name === null) return say(part);
      grow(ITEM_CHARS + JSON.stringify(part).length);
      kept.push({ type: "hosted", name, opaque: part });
      return null;
    },
    items: () => uniqueCallIds(kept.map(toItem), takenIds),
    hasCalls: () => calls > 0,
  };
}

/**
 * Keeps the provider's id beside the item's own, which may have to differ. Results are sent back
 * under the provider's id.
 */
function toCall(part: Fields, given: Fields): Extract<ReplyItem, { type: "tool_call" }> {
  if (given["partialArgs"] !== undefined || given["willContinue"] === true) {
    // Calls arrive whole unless the request asks for parts, and ours does not. Half a call must not
    // count as one without arguments.
    throw new ProviderError(
      "transient",
      "bad_response",
      "The provider sent a tool call in pieces.",
    );
  }
  const id = textOf(given["id"]);
  const name = textOf(given["name"]);
  const text = isJsonObject(given["args"]) ? JSON.stringify(given["args"]) : "{}";
  return { type: "tool_call", id, name, arguments: text, ...opaqueOf(marksOf(part, id)) };
}

function toItem(item: PartItem): ReplyItem {
  if (item.type === "tool_call" || item.type === "hosted") return item;
  return { type: item.type, text: item.pieces.join(""), ...opaqueOf(item.marks) };
}

const opaqueOf = (marks: PartMarks) => (Object.keys(marks).length === 0 ? {} : { opaque: marks });
