import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pace } from "./reply";

/** A part of a response. `tokens`: number of output tokens in it. `usage`: it has the usage. */
export type Frame = { bytes: string; tokens: number; usage: boolean };

/**
 * What happens after the last frame. `complete`: the response ends. `hang`: nothing more is sent.
 * `cut`: the caller of `play` breaks the connection.
 */
export type Ending = "complete" | "hang" | "cut";

type ReplyPlan = {
  frames: Frame[];
  /** Arrival of the request (`now()`); the first token is due `ttftMs` later. */
  startedAt: number;
  pace: Pace | null;
  ending: Ending;
  /** For `hang` and `cut`: number of tokens that are sent before. */
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
  plan: ReplyPlan,
  onSent: (frame: Frame) => void,
  signal: AbortSignal,
): Promise<void> {
  const frames = plan.ending === "complete" ? plan.frames : upTo(plan.frames, plan.stopAfterTokens);
  let tokens = 0;
  for (const frame of frames) {
    tokens += frame.tokens;
    await sleepUntil(plan.startedAt + dueAfterMs(plan.pace, tokens), signal);
    if (signal.aborted) return;
    if (!res.write(frame.bytes)) await once(res, "drain", { signal }).catch(ignoreAbort(signal));
    onSent(frame);
  }
  // a reply without frames also ends only after `ttftMs`
  await sleepUntil(plan.startedAt + dueAfterMs(plan.pace, tokens), signal);
  if (signal.aborted) return;
  if (plan.ending === "complete") res.end();
  else await flush(res);
}

/** Sends all that was written, so that the client gets it before the connection breaks. */
async function flush(res: ServerResponse): Promise<void> {
  res.flushHeaders();
  await new Promise((written) => res.write("", written));
}

/**
 * Delay from the request to the token with this number. A frame without tokens (the role, the name
 * of a call, the end) has the number of the token before it, so both are sent together.
 */
function dueAfterMs(pace: Pace | null, tokens: number): number {
  if (!pace) return 0;
  const msPerToken = pace.tokensPerSecond ? 1000 / pace.tokensPerSecond : 0;
  return pace.ttftMs + Math.max(0, tokens - 1) * msPerToken;
}

/** The frames with the first `limit` tokens, without the frames that end the stream. */
export function upTo(frames: Frame[], limit: number): Frame[] {
  const result: Frame[] = [];
  let tokens = 0;
  const lastOutput = frames.findLastIndex((frame) => frame.tokens > 0);
  for (const frame of frames.slice(0, lastOutput + 1)) {
    tokens += frame.tokens;
    if (tokens > limit) break;
    result.push(frame);
  }
  return result;
}

async function sleepUntil(due: number, signal: AbortSignal): Promise<void> {
  const wait = due - now();
  if (wait > 0) await sleep(wait, undefined, { signal }).catch(ignoreAbort(signal));
}

const ignoreAbort = (signal: AbortSignal) => (error: unknown) => {
  if (!signal.aborted) throw error;
};
