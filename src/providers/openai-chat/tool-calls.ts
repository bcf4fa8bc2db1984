import { uniqueCallIds } from "../call-ids";
import { parseJson } from "../json";
import type { ModelEvent, ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import type { CallPiece, Fields } from "./schema";

type Call = {
  index: number;
  wireId: string;
  name: string;
  pieces: string[];
  sent: number;
  extra: Fields | null;
};

type ToolCalls = {
  /** Adds a piece; returns its event once the name of the call is known, else `null`. */
  push(piece: CallPiece): ModelEvent | null;
  items(): ReplyItem[];
};

/**
 * Assembles tool calls from their pieces. A piece belongs to the call with its index. If a server
 * sends no index, or the same index for all calls, ids and names separate the calls. The resulting
 * ids are unique, also within `takenIds`. `grow` receives the number of characters kept.
 */
export function createToolCalls(
  takenIds: ReadonlySet<string>,
  grow: (chars: number) => void,
): ToolCalls {
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();
  const shownId = firstIds(calls);

  const begin = (piece: CallPiece): Call => {
    grow(CALL_CHARS + piece.id.length);
    const call: Call = {
      index: calls.length,
      wireId: piece.id,
      name: "",
      pieces: [],
      sent: 0,
      extra: null,
    };
    calls.push(call);
    if (piece.index !== null) byIndex.set(piece.index, call);
    return call;
  };
  const find = (piece: CallPiece): Call | undefined => {
    if (piece.index === null) return continued(calls, piece);
    const call = byIndex.get(piece.index);
    return call && isAnotherCall(call, piece) ? undefined : call;
  };

  return {
    push(piece) {
      const call = find(piece) ?? begin(piece);
      const kept = call.wireId.length + call.name.length;
      call.wireId ||= piece.id;
      call.name = joinName(call, piece.name);
      grow(call.wireId.length + call.name.length - kept + piece.arguments.length);
      if (piece.arguments !== "") call.pieces.push(piece.arguments);
      if (piece.extra) grow(JSON.stringify(piece.extra).length);
      call.extra = piece.extra ?? call.extra;
      return argumentsEvent(call, shownId(call));
    },
    items: () => uniqueCallIds(calls.map(toItem), takenIds),
  };
}

/**
 * For servers that use one index for all calls: a name starts another call if it comes with a new
 * id, or with arguments although the call's are complete.
 */
function isAnotherCall(call: Call, piece: CallPiece): boolean {
  if (piece.name === "") return false;
  const isNewId = piece.id !== "" && call.wireId !== "" && piece.id !== call.wireId;
  return isNewId || (piece.arguments !== "" && isComplete(call));
}

/**
 * For servers without an index: the call with that id, or the last call, unless a name starts a new
 * one.
 */
function continued(calls: readonly Call[], piece: CallPiece): Call | undefined {
  const call = piece.id === "" ? calls.at(-1) : calls.findLast((one) => one.wireId === piece.id);
  if (!call || piece.name === "") return call;
  if (piece.id === "") return undefined;
  // the same id twice: a repeated name, or a second call
  return isComplete(call) ? undefined : call;
}

function isComplete(call: Call): boolean {
  // a cheap test, so that the parse below is rare
  if (!call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  return parseJson(call.pieces.join("")) !== undefined;
}

/** Names arrive whole, repeated with every piece, or in pieces before the arguments. */
function joinName(call: Call, piece: string): string {
  if (piece === "" || piece === call.name || call.pieces.length > 0) return call.name || piece;
  return call.name + piece;
}

function argumentsEvent(call: Call, id: string | undefined): ModelEvent | null {
  if (call.name === "" || call.sent === call.pieces.length) return null;
  const text = call.pieces.slice(call.sent).join("");
  call.sent = call.pieces.length;
  return {
    type: "tool_arguments",
    index: call.index,
    name: call.name,
    ...(id !== undefined && { id }),
    text,
  };
}

/**
 * Returns a call's id if the call is the first with that id. An id may arrive after the arguments,
 * so the result is `undefined` until the ids of all earlier calls are known. Each call is visited
 * once, however many pieces it has.
 */
function firstIds(calls: readonly Call[]): (call: Call) => string | undefined {
  const first = new Map<string, Call>();
  let known = 0;
  return (call) => {
    for (let next = calls[known]; next !== undefined && next.wireId !== ""; next = calls[++known]) {
      if (!first.has(next.wireId)) first.set(next.wireId, next);
    }
    return first.get(call.wireId) === call ? call.wireId : undefined;
  };
}

function toItem({ wireId, name, pieces, extra }: Call): ReplyItem {
  const text = pieces.join("");
  const opaque = extra && { opaque: { extra_content: extra } };
  return {
    type: "tool_call",
    id: wireId,
    name,
    arguments: text.trim() === "" ? "{}" : text,
    ...opaque,
  };
}
