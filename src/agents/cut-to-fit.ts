import { byteLength } from "../coordination";

/** Size of the notice in place of the removed text. */
const NOTICE_BYTES = 64;

/**
 * Cuts the texts to at most `most` UTF-8 bytes in total. The longest are cut in the middle, all to
 * the same length; the others stay complete. The beginning and end of a text matter most.
 */
export function cutToFit(texts: readonly string[], most: number): string[] {
  const cap = capFor(texts.map(byteLength), most);
  return texts.map((text) => (byteLength(text) <= cap ? text : cutMiddle(text, cap)));
}

/**
 * The length of the longest texts after cutting: unused shares of short texts are divided among
 * them.
 */
function capFor(sizes: readonly number[], most: number): number {
  const rising = sizes.toSorted((a, b) => a - b);
  let left = most;
  for (const [nth, size] of rising.entries()) {
    const share = left / (rising.length - nth);
    if (size > share) return Math.max(0, Math.floor(share));
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function cutMiddle(text: string, most: number): string {
  if (most < 4 * NOTICE_BYTES) return firstBytes(text, most);
  const half = Math.floor((most - NOTICE_BYTES) / 2);
  const [head, tail] = [firstBytes(text, half), lastBytes(text, half)];
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** A UTF-16 unit takes at most three bytes, so only slightly more than the result is examined. */
function firstBytes(text: string, most: number): string {
  let end = Math.min(text.length, most);
  while (end > 0 && byteLength(text.slice(0, end)) > most)
    end = Math.floor((end * most) / byteLength(text.slice(0, end)));
  return text.slice(0, end).toWellFormed();
}

function lastBytes(text: string, most: number): string {
  let length = Math.min(text.length, most);
  while (length > 0 && byteLength(text.slice(-length)) > most)
    length = Math.floor((length * most) / byteLength(text.slice(-length)));
  return length === 0 ? "" : text.slice(-length).toWellFormed();
}
