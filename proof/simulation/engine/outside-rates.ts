import type { OutsideCheck } from "./outside";
import { SESSION } from "./engine-situation";

const MINUTE_MS = 60_000;

/**
 * A call to a limited backend is sent only if its tenant's gate admitted it and the admission was
 * not returned. Admissions per minute stay within the limit. Calls to other backends never wait.
 */
export const respectsRates: OutsideCheck = ({ setup, platform, log }) =>
  setup.team.agents.flatMap(({ id, backend: { rates } }, agent) => {
    const waits = log.filter((event) => event.type === "call.waiting" && event.agent === id);
    if (!rates)
      return waits.length === 0 ? [] : [`a call of ${id} waited, but its backend has no limits`];
    const sent = platform.providers.reached.filter(
      (one) => one.agent === agent && one.kind === "reply",
    );
    const times = sent
      .flatMap(({ call }) => platform.gate.admitted.get(`${SESSION}_${call}`) ?? [])
      .toSorted((a, b) => a - b);
    const most = rates.requestsPerMinute ?? Number.POSITIVE_INFINITY;
    const crowded = times.filter(
      (at, nth) => (times[nth + most] ?? Number.POSITIVE_INFINITY) - at < MINUTE_MS,
    );
    return [
      ...sent
        .filter(
          ({ call, sentAt }) =>
            !(
              (platform.gate.admitted.get(`${SESSION}_${call}`) ?? Number.POSITIVE_INFINITY) <=
              sentAt
            ),
        )
        .map(({ call }) => `${call} was sent before its gate admitted it`),
      ...(crowded.length === 0 ? [] : [`${id} made more than ${most} calls in a minute`]),
    ];
  });
