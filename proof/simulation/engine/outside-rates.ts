import type { OutsideCheck } from "./outside";
import { SESSION } from "./engine-situation";

const MINUTE_MS = 60_000;

/**
 * A call to a rate-limited backend is sent only after the tenant's gate admitted it, and only while
 * it has not left the queue. Admissions per minute stay within the limit. Calls to other backends
 * never wait.
 */
export const respectsRates: OutsideCheck = ({ setup, platform, log }) =>
  setup.team.agents.flatMap(({ id, backend: { rates } }, agent) => {
    const waits = log.filter((event) => event.type === "call.waiting" && event.agent === id);
    if (!rates)
      return waits.length === 0 ? [] : [`a call of ${id} waited, but its backend has no limits`];
    const requests = platform.providers.received.filter(
      (one) => one.agent === agent && one.kind === "reply",
    );
    const admittedAt = (call: string): number =>
      platform.gate.admitted.get(`${SESSION}_${call}`) ?? Number.POSITIVE_INFINITY;
    const times = requests
      .map(({ call }) => admittedAt(call))
      .filter(Number.isFinite)
      .toSorted((a, b) => a - b);
    const most = rates.requestsPerMinute ?? Number.POSITIVE_INFINITY;
    const tooClose = times.filter(
      (at, nth) => (times[nth + most] ?? Number.POSITIVE_INFINITY) - at < MINUTE_MS,
    );
    return [
      ...requests
        .filter(({ call, sentAt }) => admittedAt(call) > sentAt)
        .map(({ call }) => `${call} was sent before its gate admitted it`),
      ...(tooClose.length === 0 ? [] : [`${id} made more than ${most} calls in a minute`]),
    ];
  });
