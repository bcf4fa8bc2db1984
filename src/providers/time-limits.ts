import { linkedAbort } from "../async/abort";
import { createMonotonicTimer, type Timers } from "../async/clock";
import { type Provider, ProviderError } from "./provider";

type TimeLimits = { firstByteMs: number; idleMs: number; totalMs: number };

/**
 * The same provider with limits on silence and duration. A call that exceeds a limit is aborted and
 * fails with `timeout`. The time to the first byte starts when `stream` is called, so call it when
 * the request may be sent. Time that the caller spends between two events counts towards the total
 * only.
 */
export function withTimeLimits<Handle>(
  provider: Provider,
  limits: TimeLimits,
  timers: Timers<Handle>,
): Provider {
  return {
    id: provider.id,
    async *stream(request, signal, onBytes, from) {
      const link = linkedAbort(signal);
      const watch = createWatch(limits, timers, (message) =>
        link.abort(new ProviderError("transient", "timeout", message)),
      );
      const noted = () => {
        watch.onBytes();
        onBytes?.();
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
        link.abort(); // a caller that stops reading early also stops the request
      }
    },
  };
}

/**
 * One timer for all three limits. Received data only updates a time stamp. When the timer fires, it
 * checks whether the nearest deadline has moved, and sleeps again until then.
 */
function createWatch<Handle>(
  limits: TimeLimits,
  timers: Timers<Handle>,
  expire: (message: string) => void,
) {
  const timer = createMonotonicTimer(timers, (unseen) => {
    // if unsure, assume the data arrived late
    if (bytesInSleep && lastByteAt !== null) lastByteAt += unseen;
    check();
  });
  let lastByteAt: number | null = null;
  let bytesInSleep = false;
  let paused = false;

  const nearest = (now: number) => {
    const total = {
      at: limits.totalMs,
      message: `The reply took longer than ${limits.totalMs} ms in total.`,
    };
    const silence =
      lastByteAt === null
        ? {
            at: limits.firstByteMs,
            message: `The first byte took longer than ${limits.firstByteMs} ms.`,
          }
        : {
            at: (paused ? now : lastByteAt) + limits.idleMs,
            message: `No data arrived for ${limits.idleMs} ms.`,
          };
    return silence.at < total.at ? silence : total;
  };
  const check = () => {
    const now = timer.now();
    const { at, message } = nearest(now);
    bytesInSleep = false;
    if (now >= at) expire(message);
    else timer.set(at);
  };
  const onBytes = () => {
    const first = lastByteAt === null;
    lastByteAt = timer.now();
    bytesInSleep = true;
    // the timer was set for the first byte; the limit on silence may be due earlier
    if (first) check();
  };

  check();
  return {
    onBytes,
    pause() {
      onBytes();
      paused = true;
    },
    resume() {
      onBytes();
      paused = false;
    },
    stop: () => timer.clear(),
  };
}
