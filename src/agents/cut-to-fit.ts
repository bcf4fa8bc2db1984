import { byteLength } from "../coordination";

/** Maximum size of the notice that replaces the removed text. */
const NOTICE_BYTES = 64;

/**
 * Cuts the texts to at most `maxBytes` UTF-8 bytes in total. The longest texts are all cut to the
 * same length, and the others stay complete. A text is cut in the middle, because its beginning and
 * its end matter most.
 */
export function cutToFit(texts: readonly string[], maxBytes: number): string[] {
  const cap = capFor(texts.map(byteLength), maxBytes);
  return texts.map((text) => (byteLength(text) <= cap ? text : cutMiddle(text, cap)));
}

/**
 * The size to which longer texts are cut; infinite if all texts fit. Bytes that short texts do not
 * use are divided among the longer ones.
 */
function capFor(sizes: readonly number[], maxBytes: number): number {
  const ascending = sizes.toSorted((a, b) => a - b);
  let remainingBytes = maxBytes;
  for (const [index, size] of ascending.entries()) {
    const share = remainingBytes / (ascending.length - index);
    if (size > share) return Math.max(0, Math.floor(share));
    remainingBytes -= size;
  }
  return Number.POSITIVE_INFINITY;
}

function cutMiddle(text: string, maxBytes: number): string {
  if (maxBytes < 4 * NOTICE_BYTES) return firstBytes(text, maxBytes);
  const half = Math.floor((maxBytes - NOTICE_BYTES) / 2);
  const [head, tail] = [firstBytes(text, half), lastBytes(text, half)];
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/**
 * A beginning of the text that fits. A UTF-16 unit has at most three bytes, so the loop needs only
 * a few steps.
 */
function firstBytes(text: string, maxBytes: number): string {
  let end = Math.min(text.length, maxBytes);
  while (end > 0 && byteLength(text.slice(0, end)) > maxBytes)
    end = Math.floor((end * maxBytes) / byteLength(text.slice(0, end)));
  return text.slice(0, end).toWellFormed();
}

function lastBytes(text: string, maxBytes: number): string {
  let length = Math.min(text.length, maxBytes);
  while (length > 0 && byteLength(text.slice(-length)) > maxBytes)
    length = Math.floor((length * maxBytes) / byteLength(text.slice(-length)));
  return length === 0 ? "" : text.slice(-length).toWellFormed();
}
