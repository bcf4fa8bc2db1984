import { isJsonObject } from "../json";
import type { ReplyItem } from "../provider";
import { CALL_CHARS } from "../reply-size";
import { type Fields, fieldsOf, listOf, textOf } from "./schema";

/**
 * Reasoning as a router hands it on from the maker of a model, with signatures and what is encrypted. It goes back as it came:
 * makers refuse the results of calls whose signatures are gone.
 */

type ReasoningDetails = { push(delta: Fields): void; all(): readonly Fields[] };

/** Puts the details of a streamed reply together. `grow` is told how much is kept. */
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

/** The details that a reply came with. */
export const returnedDetails = (items: readonly ReplyItem[]): readonly unknown[] =>
  items.flatMap((item) =>
    item.type === "reasoning" ? listOf(fieldsOf(item.opaque)?.["reasoning_details"]) : [],
  );

/** Texts and summaries come in pieces, their signature with the last; what is encrypted comes whole. */
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
