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
  const alarm = createAlarm(timers, (unseen) => {
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
    const now = alarm.now();
    const { at, message } = nearest(now);
    heardInSleep = false;
    if (now >= at) expire(message);
    else alarm.set(at);
  };
  const heard = () => {
    const first = lastHeardAt === null;
    lastHeardAt = alarm.now();
    heardInSleep = true;
    if (first) check(); // the alarm was set for the first byte; silence may be due earlier
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
    stop: () => alarm.clear(),
  };
}

/**
 * An alarm with a time of its own, in ms from its making, that survives a wall clock set anew. A timer sleeps by no wall clock:
 * when it rings, exactly what it was set for has passed. The wall only tells how far it is in between, so it may neither go
 * back nor beyond the ring. `ring` is told how much of the sleep the wall did not show.
 */
function createAlarm<Handle>(timers: Timers<Handle>, ring: (unseen: number) => void) {
  let told = 0;
  let wall = timers.now();
  let ringsAt = 0;
  let timer: { handle: Handle } | null = null;

  const now = () => {
    const latest = timers.now();
    told = Math.min(ringsAt, told + Math.max(0, latest - wall));
    wall = latest;
    return told;
  };
  const rang = () => {
    const unseen = ringsAt - now();
    told = ringsAt;
    ring(unseen);
  };
  const clear = () => {
    if (timer) timers.clear(timer.handle);
    timer = null;
  };
  const set = (at: number) => {
    clear();
    ringsAt = at;
    timer = { handle: timers.set(rang, at - told) };
  };
  return { now, set, clear };
}
