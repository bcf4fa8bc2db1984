import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pace } from "./reply";

/** A piece of a response. `usage`: it contains the usage. */
export type Frame = { bytes: string; tokens: number; usage: boolean };

/** What happens after the frames are written; the caller breaks the connection. */
export type Ending = "complete" | "hang" | "cut";

type Performance = {
  frames: Frame[];
  /** Arrival of the request (`now()`); the first token is due `ttftMs` later. */
  startedAt: number;
  pace: Pace | null;
  ending: Ending;
  /** For `hang` and `cut`: number of tokens before it. */
  stopAfterTokens: number;
};

/** Unix ms with a resolution below 1 ms; never decreases. */
export const now = (): number => performance.timeOrigin + performance.now();

/**
 * Writes the frames when they are due. Due times count from the request, not from the previous
 * frame, so delays do not accumulate. Returns as soon as `signal` is aborted, for example when the
 * client leaves.
 */
export async function play(
  res: ServerResponse,
  plan: Performance,
  sent: (frame: Frame) => void,
  signal: AbortSignal,
): Promise<void> {
  const frames = plan.ending === "complete" ? plan.frames : upTo(plan.frames, plan.stopAfterTokens);
  let tokens = 0;
  for (const frame of frames) {
    tokens += frame.tokens;
    await until(plan.startedAt + dueAfterMs(plan.pace, tokens), signal);
    if (signal.aborted) return;
    if (!res.write(frame.bytes)) await once(res, "drain", { signal }).catch(ignoreAbort(signal));
    sent(frame);
  }
  // a reply without frames still takes its time
  await until(plan.startedAt + dueAfterMs(plan.pace, tokens), signal);
  if (signal.aborted) return;
  if (plan.ending === "complete") res.end();
  else await flushed(res);
}

/** Flushes the response before the connection is changed. */
async function flushed(res: ServerResponse): Promise<void> {
  res.flushHeaders();
  await new Promise((written) => res.write("", written));
}

/** Zero-token frames (role, a call's name, the end) are sent with the preceding token. */
function dueAfterMs(pace: Pace | null, tokens: number): number {
  if (!pace) return 0;
  const between = pace.tokensPerSecond ? 1000 / pace.tokensPerSecond : 0;
  return pace.ttftMs + Math.max(0, tokens - 1) * between;
}

/** The frames with the first `limit` tokens; never the end of the stream. */
export function upTo(frames: Frame[], limit: number): Frame[] {
  const kept: Frame[] = [];
  let tokens = 0;
  for (const frame of frames.slice(0, frames.findLastIndex((one) => one.tokens > 0) + 1)) {
    tokens += frame.tokens;
    if (tokens > limit) break;
    kept.push(frame);
  }
  return kept;
}

async function until(due: number, signal: AbortSignal): Promise<void> {
  const wait = due - now();
  if (wait > 0) await sleep(wait, undefined, { signal }).catch(ignoreAbort(signal));
}

const ignoreAbort = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error;
};
