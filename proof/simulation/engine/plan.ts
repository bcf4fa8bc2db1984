import type { Chance } from "../../../simulated/chance";

/** A planned reply: what a provider sends, when, and how the transfer fails. */

export type Charge = { input: number; output: number; cached: number; searches: number };

export type Plan = {
  /** Whether the provider continues to write without a reader. */
  isBackground: boolean;
  status: number;
  headers: Record<string, string>;
  /** Delay until the headers are sent. */
  afterMs: number;
  gapMs: number;
  frames: Uint8Array[];
  /** Number of frames of the complete reply. */
  whole: number;
  /** `lost`: the connection breaks before headers, after the model has worked. */
  ending: "complete" | "hang" | "reset" | "clean" | "lost";
  charged: Charge | null;
};

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
export const BREAKS = [
  ["silence", "hang"],
  ["cut_reset", "reset"],
  ["cut_clean", "clean"],
] as const;

export const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Ends after a part of the bytes: between two events, or inside one. */
export function cutAt(
  plan: Plan,
  { at, ending }: { at: number; ending: "hang" | "reset" | "clean" },
): Plan {
  const keep = Math.floor(at * (plan.frames.length - 1));
  const half = plan.frames[keep];
  const torn = half ? [half.slice(0, Math.floor(half.length * at))] : [];
  return {
    ...plan,
    frames: [...plan.frames.slice(0, keep), ...torn.filter(({ length }) => length > 0)],
    ending,
  };
}

export function withGarbage(plan: Plan, chance: Chance): Plan {
  const place = chance.int(0, plan.frames.length - 1);
  const rubbish = chance.pick([
    "data: {not json\n\n",
    "data: \n\n",
    "data: [1,2\n\n",
    "data: null\n\n",
  ]);
  return {
    ...plan,
    whole: plan.whole + 1,
    frames: plan.frames.toSpliced(place, 0, encoder.encode(rubbish)),
  };
}

/** The same stream in other chunks and with other line ends. The reply must not change. */
export function rechunked(
  frames: readonly Uint8Array[],
  chance: Chance,
): { frames: Uint8Array[]; whole: number } {
  const text = frames.map((frame) => decoder.decode(frame)).join("");
  const lined = chance.is(0.5) ? text.replaceAll("\n", "\r\n") : `: a comment\n\n${text}`;
  const bytes = encoder.encode(lined);
  const size = chance.pick([7, 61, bytes.length]);
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.slice(at * size, (at + 1) * size),
  );
  const most = pieces.length > 24 ? [...pieces.slice(0, 23), joined(pieces.slice(23))] : pieces;
  return { frames: most, whole: most.length };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** The response of a plan, with a body that `source` writes. */
export const responseOf = (
  { status, headers }: Plan,
  source: UnderlyingSource<Uint8Array>,
): Response => new Response(new ReadableStream<Uint8Array>(source), { status, headers });

/** The error of a body whose connection the provider reset. */
export const connectionReset = (): Error =>
  new TypeError("terminated", { cause: new Error("other side closed") });
