import { uniqueCallIds } from "../call-ids";
import { isJsonObject } from "../json";
import { type ModelEvent, ProviderError, type ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import { hostedToolOf } from "./hosted-uses";
import { type Fields, fieldsOf, marksOf, type PartMarks, textOf } from "./schema";

/** Estimated memory of an item besides its texts, in characters. */
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
 * part. `grow` receives the number of characters that are stored.
 */
export function createParts(takenIds: ReadonlySet<string>, grow: (chars: number) => void): Parts {
  const storedItems: PartItem[] = [];
  const ids = new Set<string>();
  let calls = 0;

  const pushText = (part: Fields): ModelEvent | null => {
    const type = part["thought"] === true ? "reasoning" : "text";
    const text = textOf(part["text"]);
    const marks = marksOf(part);
    const last = storedItems.at(-1);
    const signature = marks.thoughtSignature ?? "";
    if (text === "" && signature === "") return null;
    grow(text.length + signature.length);
    if (signature === "" && last?.type === type && !last.marks.thoughtSignature)
      last.pieces.push(text);
    else {
      grow(ITEM_CHARS);
      storedItems.push({ type, pieces: [text], marks });
    }
    return text === "" ? null : { type, text };
  };
  const pushCall = (part: Fields, functionCall: Fields): ModelEvent => {
    const item = toCall(part, functionCall);
    grow(
      CALL_CHARS +
        item.id.length +
        item.name.length +
        item.arguments.length +
        textOf(part["thoughtSignature"]).length,
    );
    const idField = item.id !== "" && !ids.has(item.id) && { id: item.id };
    ids.add(item.id);
    storedItems.push(item);
    calls += 1;
    const text = functionCall["args"] === undefined ? "" : item.arguments;
    return { type: "tool_arguments", index: calls - 1, name: item.name, ...idField, text };
  };

  return {
    push(part) {
      const functionCall = fieldsOf(part["functionCall"]);
      if (functionCall) return pushCall(part, functionCall);
      const name = hostedToolOf(part);
      if (name === null) return pushText(part);
      grow(ITEM_CHARS + JSON.stringify(part).length);
      storedItems.push({ type: "hosted", name, opaque: part });
      return null;
    },
    items: () => uniqueCallIds(storedItems.map(toItem), takenIds),
    hasCalls: () => calls > 0,
  };
}

/**
 * The call as an item. `opaque` keeps the id of the provider, because the id of the item may have
 * to differ. Results are sent back with the id of the provider.
 */
function toCall(part: Fields, functionCall: Fields): Extract<ReplyItem, { type: "tool_call" }> {
  if (functionCall["partialArgs"] !== undefined || functionCall["willContinue"] === true) {
    // A call arrives in parts only if the request asks for that, and our requests do not. A partial
    // call must not count as a call without arguments.
    throw new ProviderError(
      "transient",
      "bad_response",
      "The provider sent a tool call in pieces.",
    );
  }
  const id = textOf(functionCall["id"]);
  const name = textOf(functionCall["name"]);
  const text = isJsonObject(functionCall["args"]) ? JSON.stringify(functionCall["args"]) : "{}";
  return { type: "tool_call", id, name, arguments: text, ...opaqueOf(marksOf(part, id)) };
}

function toItem(item: PartItem): ReplyItem {
  if (item.type === "tool_call" || item.type === "hosted") return item;
  return { type: item.type, text: item.pieces.join(""), ...opaqueOf(item.marks) };
}

const opaqueOf = (marks: PartMarks) => (Object.keys(marks).length === 0 ? {} : { opaque: marks });
