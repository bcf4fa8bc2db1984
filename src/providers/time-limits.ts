import { linkedAbort } from "../async/abort";
import { createMonotonicTimer, type Timers } from "../async/clock";
import { type Provider, timeoutError } from "./provider";

/** See `CALL_TIME_LIMITS` for the meaning of the limits. */
type TimeLimits = { firstByteMs: number; idleMs: number; totalMs: number };

/**
 * The same provider with limits on silence and duration. A call that exceeds a limit is aborted and
 * fails with `timeout`. The time until the first byte is measured from the call of `stream`. So
 * call `stream` only when the request may be sent. Time that the caller spends between two events
 * counts only for the total.
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
      const watch = createWatch(limits, timers, (message) => link.abort(timeoutError(message)));
      const onReceived = () => {
        watch.onBytes();
        onBytes?.();
      };
      let isComplete = false;
      try {
        for await (const event of provider.stream(request, link.signal, onReceived, from)) {
          isComplete = event.type === "stop";
          watch.pause();
          yield event;
          watch.resume();
        }
      } finally {
        watch.stop();
        link.unlink();
        if (!isComplete) link.abort(); // a caller that stops reading early also stops the request
      }
    },
  };
}

/**
 * One timer for all three limits. Received data only updates a time stamp. When the timer fires, it
 * checks whether the nearest deadline has moved. If so, it is set again for that deadline.
 */
function createWatch<Handle>(
  limits: TimeLimits,
  timers: Timers<Handle>,
  expire: (message: string) => void,
) {
  const timer = createMonotonicTimer(timers, (unobservedMs) => {
    // data arrived at an unknown time in this sleep: assume the latest possible time
    if (bytesInSleep && lastByteAt !== null) lastByteAt += unobservedMs;
    check();
  });
  let lastByteAt: number | null = null;
  let bytesInSleep = false;
  let isPaused = false;

  const nearestDeadline = (now: number) => {
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
            at: (isPaused ? now : lastByteAt) + limits.idleMs,
            message: `No data arrived for ${limits.idleMs} ms.`,
          };
    return silence.at < total.at ? silence : total;
  };
  const check = () => {
    const now = timer.now();
    const { at, message } = nearestDeadline(now);
    bytesInSleep = false;
    if (now >= at) expire(message);
    else timer.set(at);
  };
  const onBytes = () => {
    const isFirst = lastByteAt === null;
    lastByteAt = timer.now();
    bytesInSleep = true;
    // the timer is set for the first byte, but the limit on silence may end earlier
    if (isFirst) check();
  };

  check();
  return {
    onBytes,
    pause() {
      onBytes();
      isPaused = true;
    },
    resume() {
      onBytes();
      isPaused = false;
    },
    stop: () => timer.clear(),
  };
}
