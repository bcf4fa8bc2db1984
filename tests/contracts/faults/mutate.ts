import { Chance } from "../../../simulated/chance";

/**
 * Changes a recorded stream of events as a bad connection, proxy or provider could change it. A
 * seed determines the changes.
 */

/** The end of the connection after the last byte: normal, reset, or missing. */
export type Ending = "end" | "reset" | "silence";

export type Mutation = {
  /** The changes in order. */
  changes: Change[];
  /** Whether only the form of the stream was changed and not the contents of its events. */
  harmless: boolean;
  /** The chunks in which the stream arrives. */
  chunks: Buffer[];
  bytes: Buffer;
  ending: Ending;
};

type Source = {
  frames: readonly string[];
  /** Frames of other replies, including ends and errors. */
  foreign: readonly string[];
};

type Stream = { parts: Buffer[]; chance: Chance; foreign: readonly string[] };

const HARMFUL = {
  "bytes flipped": flipBytes,
  "cut short": cutShort,
  "an event lost": dropEvent,
  "an event twice": repeatEvent,
  "events swapped": swapEvents,
  "bytes inserted": insertBytes,
  "an event inserted": insertEvent,
} as const satisfies Record<string, (stream: Stream) => void>;

const HARMLESS = {
  "comments between": insertComments,
  "other line ends": changeLineEnds,
  "a byte order mark": prependByteOrderMark,
  "other pieces": () => undefined,
} as const satisfies Record<string, (stream: Stream) => void>;

export type Change = keyof typeof HARMFUL | keyof typeof HARMLESS;
export const CHANGES: readonly Change[] = [...keysOf(HARMFUL), ...keysOf(HARMLESS)];

/** The same seed changes the same frames in the same way. */
export function mutate({ frames, foreign }: Source, seed: number): Mutation {
  const chance = new Chance(seed);
  const stream = { parts: frames.map((frame) => Buffer.from(frame)), chance, foreign };
  const harmless = chance.is(0.2);
  const changes: Change[] = [];
  for (
    let remaining = chance.weighted({ one: 6, two: 3, three: 1 }) === "one" ? 1 : chance.int(2, 3);
    remaining > 0;
    remaining -= 1
  ) {
    const change = harmless ? chance.pick(keysOf(HARMLESS)) : chance.pick(keysOf(HARMFUL));
    if (changes.includes(change)) continue;
    changes.push(change);
    ({ ...HARMFUL, ...HARMLESS })[change](stream);
  }
  const bytes = Buffer.concat(stream.parts);
  const ending = harmless ? "end" : chance.weighted({ end: 74, reset: 22, silence: 4 });
  return { changes, harmless, chunks: splitRandomly(bytes, chance), bytes, ending };
}

function flipBytes({ parts, chance }: Stream): void {
  for (let remaining = chance.int(1, 4); remaining > 0; remaining -= 1) {
    const part = chance.pick(parts);
    if (part.length > 0) part[chance.int(0, part.length - 1)] = chance.int(0, 255);
  }
}

function cutShort({ parts, chance }: Stream): void {
  const at = chance.int(0, parts.length - 1);
  const part = parts[at] ?? Buffer.alloc(0);
  parts.splice(at, parts.length, part.subarray(0, chance.int(0, part.length)));
}

function dropEvent({ parts, chance }: Stream): void {
  parts.splice(chance.int(0, parts.length - 1), 1);
}

function repeatEvent({ parts, chance }: Stream): void {
  const at = chance.int(0, parts.length - 1);
  const copy = Buffer.from(parts[at] ?? "");
  parts.splice(chance.is(0.5) ? at : chance.int(0, parts.length), 0, copy);
}

function swapEvents({ parts, chance }: Stream): void {
  const [one, other] = [chance.int(0, parts.length - 1), chance.int(0, parts.length - 1)];
  const kept = parts[one] ?? Buffer.alloc(0);
  parts[one] = parts[other] ?? kept;
  parts[other] = kept;
}

const JUNK = [
  "\u0000",
  "\n",
  "\n\n",
  "\r",
  ": hm\n",
  "data:",
  "data: \n\n",
  "}",
  '"',
  "\\",
  "\uFEFF",
  "<html>",
  "é",
  "event: error\n",
];

function insertBytes({ parts, chance }: Stream): void {
  const at = chance.int(0, parts.length - 1);
  const part = parts[at] ?? Buffer.alloc(0);
  const offset = chance.int(0, part.length);
  const junk = chance.is(0.7)
    ? Buffer.from(chance.pick(JUNK))
    : Buffer.from(Array.from({ length: chance.int(1, 40) }, () => chance.int(0, 255)));
  parts[at] = Buffer.concat([part.subarray(0, offset), junk, part.subarray(offset)]);
}

const UNEXPECTED_DATA = [
  "{}",
  "null",
  "[]",
  "1",
  '"text"',
  "[DONE]",
  "nothing",
  '{"type":"something_new"}',
  '{"error":null}',
  '{"choices":[]}',
];

function insertEvent({ parts, chance, foreign }: Stream): void {
  const event = chance.is(0.5) ? `data: ${chance.pick(UNEXPECTED_DATA)}\n\n` : chance.pick(foreign);
  parts.splice(chance.int(0, parts.length), 0, Buffer.from(event));
}

function insertComments({ parts, chance }: Stream): void {
  for (let at = parts.length; at >= 0; at -= 1) {
    if (chance.is(0.3))
      parts.splice(at, 0, Buffer.from(chance.pick([": keep-alive\n\n", ":\n\n", "retry: 10\n\n"])));
  }
}

function changeLineEnds({ parts, chance }: Stream): void {
  const end = chance.pick(["\r\n", "\n", "\r"]);
  for (const [at, part] of parts.entries())
    parts[at] = Buffer.from(part.toString().replace(/\r\n|\n/g, end));
}

function prependByteOrderMark({ parts }: Stream): void {
  parts.unshift(Buffer.from("\uFEFF"));
}

/**
 * The bytes as one chunk, byte by byte, or divided at random offsets, even inside a character or
 * between the two bytes of a line end.
 */
function splitRandomly(bytes: Buffer, chance: Chance): Buffer[] {
  const longest = chance.is(0.01) ? 1 : chance.pick([40, 400, 1_024, bytes.length]);
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const next = at + chance.int(1, Math.max(1, longest));
    pieces.push(bytes.subarray(at, next));
    at = next;
  }
  return pieces;
}

function keysOf<K extends string>(record: Readonly<Record<K, unknown>>): K[] {
  const keys: K[] = [];
  for (const key in record) keys.push(key);
  return keys;
}
