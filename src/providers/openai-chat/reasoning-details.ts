import { isJsonObject } from "../json";
import type { ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";

/**
 * Reasoning that a router forwards from the model's maker, with signatures and encrypted parts. It
 * is sent back unchanged: makers refuse tool results if the signatures are missing.
 */

type ReasoningDetails = { push(delta: Fields): void; all(): readonly Fields[] };

/** Assembles the details of a streamed reply. `grow` receives the number of characters kept. */
export function createReasoningDetails(grow: (chars: number) => void): ReasoningDetails {
  const details: Fields[] = [];
  const take = (piece: Fields): void => {
    const last = details.at(-1);
    grow(JSON.stringify(piece).length);
    if (last && continues(last, piece)) {
      details[details.length - 1] = joined(last, piece);
    } else {
      grow(CALL_CHARS);
      details.push(piece);
    }
  };
  return {
    push(delta) {
      for (const piece of listOf(delta["reasoning_details"])) if (isJsonObject(piece)) take(piece);
    },
    all: () => details,
  };
}

/** The reasoning details of a reply, to be sent back. */
export const returnedDetails = (items: readonly ReplyItem[]): readonly unknown[] =>
  items.flatMap((item) =>
    item.type === "reasoning" ? listOf(fieldsOf(item.opaque)?.["reasoning_details"]) : [],
  );

/**
 * Texts and summaries arrive in pieces, with the signature in the last one. Encrypted data arrives
 * whole.
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

function joined(last: Fields, piece: Fields): Fields {
  const said = Object.fromEntries(Object.entries(piece).filter(([, value]) => value !== null));
  const texts = ["text", "summary"].filter((key) => key in last || key in piece);
  return {
    ...last,
    ...said,
    ...Object.fromEntries(texts.map((key) => [key, textOf(last[key]) + textOf(piece[key])])),
  };
}
