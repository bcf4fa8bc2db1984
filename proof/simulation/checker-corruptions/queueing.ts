import { all, changes, type Corruption } from "./corruptions";
import type { Row } from "./row";

/** The log in which a queued turn is refused at its start; another queued turn follows. */
const QUEUED = "queued";

const refusedWith = (code: string): Corruption => changes("turn.failed", { code });

/** Corruptions of turns that were queued. */
export const QUEUEING: readonly Row[] = [
  {
    name: "a queued request that starts a second turn",
    script: QUEUED,
    corruption: changes("turn.started", { queue_id: "queued_1" }, 3),
    invariant: "I2",
  },
  {
    name: "a turn that was not queued, and fails before its first attempt",
    script: QUEUED,
    corruption: (log) =>
      log.map((event) => {
        if (event.type !== "turn.started" || event.turn !== 2) return event;
        const { queue_id: _, ...rest } = event;
        return rest;
      }),
    invariant: "failed",
  },
  {
    name: "a queued turn that fails although its limit would pass",
    script: QUEUED,
    corruption: refusedWith("quota_exceeded"),
    invariant: "failed",
  },
  {
    name: "a queued turn that fails although only the day's budget has ended",
    script: QUEUED,
    corruption: refusedWith("spend_exceeded"),
    invariant: "failed",
  },
  {
    name: "a queued turn that fails because another turn runs",
    script: QUEUED,
    corruption: refusedWith("turn_running"),
    invariant: "failed",
  },
  {
    name: "a refused turn without a reason of its own",
    script: QUEUED,
    corruption: refusedWith("no_answer"),
    invariant: "failed",
  },
  {
    name: "a refused turn that names agents",
    script: QUEUED,
    corruption: changes("turn.failed", { agents: [{ agent: "ada", code: "x", message: "y" }] }),
    invariant: "failed",
  },
  {
    name: "a turn that runs and stores the contexts that its request named",
    script: QUEUED,
    corruption: changes("turn.started", { requested: { contexts: [] } }, 3),
    invariant: "turn-team",
  },
  {
    name: "a refused turn whose overrides fit and do not fit",
    script: QUEUED,
    corruption: changes(
      "turn.started",
      { overrides: { personas: false }, requested: { overrides: { quick: true } } },
      2,
    ),
    invariant: "turn-team",
  },
  {
    name: "a refused turn that costs something",
    script: QUEUED,
    corruption: changes("turn.failed", { cost_usd: 1, cost_usd_known: 1 }),
    invariant: "totals",
  },
];

/** Logs of queued turns that are changed, but still correct. */
export const CORRECT_QUEUES = [
  {
    name: "two queued turns with other ids",
    script: QUEUED,
    corruption: all(
      changes("turn.started", { queue_id: "queued_a" }, 2),
      changes("turn.started", { queue_id: "queued_b" }, 3),
    ),
  },
  {
    name: "a refused turn that stores the contexts that its request named",
    script: QUEUED,
    corruption: changes(
      "turn.started",
      { requested: { contexts: [{ name: "site", permission: "write" }] } },
      2,
    ),
  },
];
