/**
 * Cuts a text into chunks of at most `size` UTF-16 code units. Never cuts inside a surrogate pair,
 * because SQLite would lose both halves.
 */
export function* chunks(text: string, size: number): Generator<string> {
  let from = 0;
  while (from < text.length) {
    let to = Math.min(text.length, from + size);
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to -= 1;
    yield text.slice(from, to);
    from = to;
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
