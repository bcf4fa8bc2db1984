import type { Chance } from "../../../simulated/chance";

/** What a provider charges for a reply: numbers of tokens, and of searches. */
export type Charge = { input: number; output: number; cached: number; searches: number };

/** A planned response: what a provider sends, when, and how the transfer fails. */
export type Plan = {
  /** Whether the provider continues to write without a reader. */
  isBackground: boolean;
  status: number;
  headers: Record<string, string>;
  /** Delay until the headers are sent. */
  afterMs: number;
  /** Delay between two frames. */
  gapMs: number;
  /** The chunks that are sent. */
  frames: Uint8Array[];
  /** Number of frames of the complete reply. */
  whole: number;
  /**
   * How the transfer ends after the last frame. `hang`: nothing more is sent. `reset`: the
   * connection is reset. `clean`: the body ends as if it were complete. `lost`: the connection is
   * lost before the headers, although the model has worked.
   */
  ending: "complete" | "hang" | "reset" | "clean" | "lost";
  /** `null` if the provider charges nothing. */
  charged: Charge | null;
};

/** Fields of a response that is sent at once. */
export const INSTANT = {
  isBackground: false,
  status: 200,
  afterMs: 40,
  gapMs: 0,
  whole: 1,
  ending: "complete",
  charged: null,
} as const;
export const EVENTS = { "content-type": "text/event-stream" };
/** Faults that end a transfer early, each with the ending of the plan. */
export const BREAKS = [
  ["silence", "hang"],
  ["cut_reset", "reset"],
  ["cut_clean", "clean"],
] as const;

export const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Cuts the frames after the share `at` of them, between two events or inside an event. */
export function cutAt(
  plan: Plan,
  { at, ending }: { at: number; ending: "hang" | "reset" | "clean" },
): Plan {
  const keep = Math.floor(at * (plan.frames.length - 1));
  const next = plan.frames[keep];
  const cutFrames = next ? [next.slice(0, Math.floor(next.length * at))] : [];
  return {
    ...plan,
    frames: [...plan.frames.slice(0, keep), ...cutFrames.filter(({ length }) => length > 0)],
    ending,
  };
}

/** Inserts a frame that is no valid event. */
export function withGarbage(plan: Plan, chance: Chance): Plan {
  const index = chance.int(0, plan.frames.length - 1);
  const garbage = chance.pick([
    "data: {not json\n\n",
    "data: \n\n",
    "data: [1,2\n\n",
    "data: null\n\n",
  ]);
  return {
    ...plan,
    whole: plan.whole + 1,
    frames: plan.frames.toSpliced(index, 0, encoder.encode(garbage)),
  };
}

/**
 * Sends the same stream in other chunks, with other line breaks or with a comment. The reply that
 * the service reads must stay the same.
 */
export function rechunked(
  frames: readonly Uint8Array[],
  chance: Chance,
): { frames: Uint8Array[]; whole: number } {
  const text = frames.map((frame) => decoder.decode(frame)).join("");
  const changedText = chance.is(0.5) ? text.replaceAll("\n", "\r\n") : `: a comment\n\n${text}`;
  const bytes = encoder.encode(changedText);
  const size = chance.pick([7, 61, bytes.length]);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.slice(at * size, (at + 1) * size),
  );
  const limited = pieces.length > 24 ? [...pieces.slice(0, 23), concat(pieces.slice(23))] : pieces;
  return { frames: limited, whole: limited.length };
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The response of a plan; `source` writes its body. */
export const responseOf = (
  { status, headers }: Plan,
  source: UnderlyingSource<Uint8Array>,
): Response => new Response(new ReadableStream<Uint8Array>(source), { status, headers });

/** The error of a body whose connection the provider reset. */
export const connectionReset = (): Error =>
  new TypeError("terminated", { cause: new Error("other side closed") });
