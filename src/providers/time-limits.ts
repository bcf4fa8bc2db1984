import { linkedAbort } from "../async/abort";
import { createMonotonicTimer, type Timers } from "../async/clock";
import { type Provider, ProviderError } from "./provider";

type TimeLimits = { firstByteMs: number; idleMs: number; totalMs: number };

/**
 * The same provider with limits on silence and length. What is over its limit is aborted and fails as a `timeout`. Time to the
 * first byte counts from the call of `stream`, so call it when the request may leave. Time the caller takes between two events
 * counts towards the total only.
 */
export function withTimeLimits<Handle>(
  provider: Provider,
  limits: TimeLimits,
  timers: Timers<Handle>,
): Provider {
  return {
    id: provider.id,
    async *stream(request, signal, heard, from) {
      const link = linkedAbort(signal);
      const watch = createWatch(limits, timers, (message) =>
        link.abort(new ProviderError("transient", "timeout", message)),
      );
      const noted = () => {
        watch.heard();
        heard?.();
      };
      try {
        for await (const event of provider.stream(request, link.signal, noted, from)) {
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
function createWatch<Handle>(
  limits: TimeLimits,
  timers: Timers<Handle>,
  expire: (message: string) => void,
) {
  const timer = createMonotonicTimer(timers, (unseen) => {
    if (heardInSleep && lastHeardAt !== null) lastHeardAt += unseen; // in doubt, it was heard late
    check();
  });
  let lastHeardAt: number | null = null;
  let heardInSleep = false;
  let paused = false;

  const nearest = (now: number) => {
    const total = {
      at: limits.totalMs,
      message: `The reply took longer than ${limits.totalMs} ms in total.`,
    };
    const silence =
      lastHeardAt === null
        ? {
            at: limits.firstByteMs,
            message: `The first byte took longer than ${limits.firstByteMs} ms.`,
          }
        : {
            at: (paused ? now : lastHeardAt) + limits.idleMs,
            message: `Nothing was heard for ${limits.idleMs} ms.`,
          };
    return silence.at < total.at ? silence : total;
  };
  const check = () => {
    const now = timer.now();
    const { at, message } = nearest(now);
    heardInSleep = false;
    if (now >= at) expire(message);
    else timer.set(at);
  };
  const heard = () => {
    const first = lastHeardAt === null;
    lastHeardAt = timer.now();
    heardInSleep = true;
    if (first) check(); // the timer was set for the first byte; silence may be due earlier
  };

  check();
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
    stop: () => timer.clear(),
  };
}
