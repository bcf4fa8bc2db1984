import { uniqueCallIds } from "../call-ids";
import { parseJson } from "../json";
import type { ModelEvent, ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import type { CallPiece, Fields } from "./schema";

type Call = {
  /** Number of earlier calls in the reply. */
  index: number;
  /** Id that the server sent; "" if none has arrived. */
  wireId: string;
  /** "" if no part of the name has arrived. */
  name: string;
  /** Pieces of the arguments. */
  pieces: string[];
  /** Number of pieces that earlier events contain. */
  sentPieces: number;
  /** Server-specific data that must be sent back. */
  extra: Fields | null;
};

type ToolCalls = {
  /** Adds a piece. Returns its event, or `null` while the name of the call is unknown. */
  push(piece: CallPiece): ModelEvent | null;
  items(): ReplyItem[];
};

/**
 * Assembles tool calls from their pieces. A piece belongs to the call with its index. If a server
 * sends no index, or the same index for all calls, ids and names separate the calls. The resulting
 * ids are unique and differ from `takenIds`. `grow` receives the number of characters that are
 * stored.
 */
export function createToolCalls(
  takenIds: ReadonlySet<string>,
  grow: (chars: number) => void,
): ToolCalls {
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();
  const shownId = firstIds(calls);

  const beginCall = (piece: CallPiece): Call => {
    grow(CALL_CHARS + piece.id.length);
    const call: Call = {
      index: calls.length,
      wireId: piece.id,
      name: "",
      pieces: [],
      sentPieces: 0,
      extra: null,
    };
    calls.push(call);
    if (piece.index !== null) byIndex.set(piece.index, call);
    return call;
  };
  const findCall = (piece: CallPiece): Call | undefined => {
    if (piece.index === null) return callWithoutIndex(calls, piece);
    const call = byIndex.get(piece.index);
    return call && isAnotherCall(call, piece) ? undefined : call;
  };

  return {
    push(piece) {
      const call = findCall(piece) ?? beginCall(piece);
      const storedChars = call.wireId.length + call.name.length;
      call.wireId ||= piece.id;
      call.name = joinName(call, piece.name);
      grow(call.wireId.length + call.name.length - storedChars + piece.arguments.length);
      if (piece.arguments !== "") call.pieces.push(piece.arguments);
      if (piece.extra) grow(JSON.stringify(piece.extra).length);
      call.extra = piece.extra ?? call.extra;
      return argumentsEvent(call, shownId(call));
    },
    items: () => uniqueCallIds(calls.map(toItem), takenIds),
  };
}

/**
 * Whether a piece starts another call with the same index, for servers that use one index for all
 * calls. It does if it has a name and either a new id, or arguments although the arguments of the
 * call are complete.
 */
function isAnotherCall(call: Call, piece: CallPiece): boolean {
  if (piece.name === "") return false;
  const isNewId = piece.id !== "" && call.wireId !== "" && piece.id !== call.wireId;
  return isNewId || (piece.arguments !== "" && isComplete(call));
}

/**
 * The call to which a piece without an index belongs: the call with the id of the piece, or the
 * last call if the piece has no id. `undefined` if the piece starts a new call.
 */
function callWithoutIndex(calls: readonly Call[], piece: CallPiece): Call | undefined {
  const call =
    piece.id === "" ? calls.at(-1) : calls.findLast((other) => other.wireId === piece.id);
  if (!call || piece.name === "") return call;
  if (piece.id === "") return undefined;
  // name and id are known: the name is repeated, or a second call has the same id
  return isComplete(call) ? undefined : call;
}

function isComplete(call: Call): boolean {
  // a cheap test, so that the parse below is rare
  if (!call.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  return parseJson(call.pieces.join("")) !== undefined;
}

/**
 * The name of a call after another piece. Names arrive complete, repeated with every piece, or in
 * pieces before the arguments.
 */
function joinName(call: Call, piece: string): string {
  if (piece === "" || piece === call.name || call.pieces.length > 0) return call.name || piece;
  return call.name + piece;
}

function argumentsEvent(call: Call, id: string | undefined): ModelEvent | null {
  if (call.name === "" || call.sentPieces === call.pieces.length) return null;
  const text = call.pieces.slice(call.sentPieces).join("");
  call.sentPieces = call.pieces.length;
  return {
    type: "tool_arguments",
    index: call.index,
    name: call.name,
    ...(id !== undefined && { id }),
    text,
  };
}

/**
 * Makes a function that returns the id of a call if no earlier call has the same id. An id may
 * arrive after the arguments. So the result is `undefined` until the ids of all earlier calls are
 * known. Each call is visited only once, for any number of pieces.
 */
function firstIds(calls: readonly Call[]): (call: Call) => string | undefined {
  const firstWithId = new Map<string, Call>();
  let visited = 0;
  return (call) => {
    for (
      let next = calls[visited];
      next !== undefined && next.wireId !== "";
      next = calls[++visited]
    ) {
      if (!firstWithId.has(next.wireId)) firstWithId.set(next.wireId, next);
    }
    return firstWithId.get(call.wireId) === call ? call.wireId : undefined;
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
