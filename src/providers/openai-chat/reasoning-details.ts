import { isJsonObject } from "../json";
import type { ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";

/**
 * Reasoning that a router forwards from the maker of the model, with signatures and encrypted
 * parts. It is sent back unchanged: makers refuse tool results if the signatures are missing.
 */

type ReasoningDetails = { push(delta: Fields): void; all(): readonly Fields[] };

/**
 * Assembles the reasoning details of a streamed reply. `grow` receives the number of characters
 * that are stored.
 */
export function createReasoningDetails(grow: (chars: number) => void): ReasoningDetails {
  const details: Fields[] = [];
  const addPiece = (piece: Fields): void => {
    const last = details.at(-1);
    grow(JSON.stringify(piece).length);
    if (last && continues(last, piece)) {
      details[details.length - 1] = joinPieces(last, piece);
    } else {
      grow(CALL_CHARS);
      details.push(piece);
    }
  };
  return {
    push(delta) {
      for (const piece of listOf(delta["reasoning_details"]))
        if (isJsonObject(piece)) addPiece(piece);
    },
    all: () => details,
  };
}

/** The reasoning details of earlier reply items, to be sent back. */
export const returnedDetails = (items: readonly ReplyItem[]): readonly unknown[] =>
  items.flatMap((item) =>
    item.type === "reasoning" ? listOf(fieldsOf(item.opaque)?.["reasoning_details"]) : [],
  );

/**
 * Whether a piece continues the last detail. Texts and summaries arrive in pieces, and their last
 * piece contains the signature. Encrypted data arrives complete.
 */
function continues(last: Fields, piece: Fields): boolean {
  if (
    piece["type"] !== last["type"] ||
    piece["index"] !== last["index"] ||
    piece["data"] !== undefined
  )
    return false;
  return textOf(last["signature"]) === "" || textOf(piece["text"]) === "";
}

function joinPieces(last: Fields, piece: Fields): Fields {
  const setFields = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null));
  const texts = ["text", "summary"].filter((key) => key in last || key in piece);
  return {
    ...last,
    ...setFields,
    ...Object.fromEntries(texts.map((key) => [key, textOf(last[key]) + textOf(piece[key])])),
  };
}
