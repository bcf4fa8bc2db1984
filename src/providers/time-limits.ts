import { linkedAbort } from "./linked-abort";
import { type Provider, ProviderError } from "./provider";

type TimeLimits = { firstByteMs: number; idleMs: number; totalMs: number };

/** Time as the limits need it; the shells pass the real one, tests a manual one. */
export type Timers<Handle = unknown> = {
  now(): number;
  set(run: () => void, ms: number): Handle;
  clear(handle: Handle): void;
};

/** The real clock. */
export const SYSTEM_TIMERS: Timers<ReturnType<typeof setTimeout>> = {
  now: () => Date.now(),
  set: (run, ms) => setTimeout(run, ms),
  clear: (handle) => clearTimeout(handle),
};

/**
 * The same provider with limits on silence and length. What is over its limit is aborted and fails as a `timeout`. Time to the
 * first byte counts from the call of `stream`, so call it when the request may leave. Time the caller takes between two events
 * counts towards the total only.
 */
export function withTimeLimits<Handle>(provider: Provider, limits: TimeLimits, timers: Timers<Handle>): Provider {
  return {
    id: provider.id,
    async *stream(request, signal, heard) {
      const link = linkedAbort(signal);
      const watch = createWatch(limits, timers, (message) => link.abort(new ProviderError("transient", "timeout", message)));
      const noted = () => {
        watch.heard();
        heard?.();
      };
      try {
        for await (const event of provider.stream(request, link.signal, noted)) {
          watch.pause();
          yield event;
          watch.resume();
        }
      } finally {
        watch.stop();
        link.unlink();
        link.abort(); // whoever stops reading early stops the request too
      }
    },
  };
}

/**
 * One timer for all three limits: what is heard only leaves a time stamp; when the timer fires, it looks whether the nearest
 * deadline has moved and goes back to sleep until then.
 */
function createWatch<Handle>(limits: TimeLimits, timers: Timers<Handle>, expire: (message: string) => void) {
  const startedAt = timers.now();
  let lastHeardAt: number | null = null;
  let paused = false;
  let timer: Handle;

  const nearest = (now: number) => {
    const total = { at: startedAt + limits.totalMs, message: `The reply took longer than ${limits.totalMs} ms in total.` };
    const silence =
      lastHeardAt === null
        ? { at: startedAt + limits.firstByteMs, message: `The first byte took longer than ${limits.firstByteMs} ms.` }
        : { at: (paused ? now : lastHeardAt) + limits.idleMs, message: `Nothing was heard for ${limits.idleMs} ms.` };
    return silence.at < total.at ? silence : total;
  };
  const check = () => {
    const now = timers.now();
    const { at, message } = nearest(now);
    if (now >= at) expire(message);
    else timer = timers.set(check, at - now);
  };
  const heard = () => {
    const first = lastHeardAt === null;
    lastHeardAt = timers.now();
    if (!first) return;
    timers.clear(timer); // the timer was set for the first byte; silence may be due earlier
    check();
  };

  timer = timers.set(check, nearest(startedAt).at - startedAt);
  return {
    heard,
    pause() {
      heard();
      paused = true;
    },
    resume() {
      heard();
      paused = false;
    },
    stop: () => timers.clear(timer),
  };
}
