import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { problemsOf } from "./correct-run";
import type { EngineSituation } from "./engine/engine-situation";
import { FAULTS } from "./engine/faults";
import { breaches } from "./engine/invariants";
import { play } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";

const situationOf = (seed: number): EngineSituation => ({
  ...{ seed, agents: 2, habits: ["queue", "unwatched"], faults: [], strikes: null },
});

const queued = ({ log }: RunRecord) =>
  log.filter((event) => event.type === "turn.started" && event.queue_id !== undefined);

/** Whether the session has all that the checks compare. */
const isRich = (run: RunRecord): boolean =>
  queued(run).length >= 3 &&
  run.log.some((event) => event.type === "turn.failed" && event.code === "context_missing") &&
  run.log.some((event) => event.type === "turn.cancelled");

describe("the check of a queue", () => {
  let run: RunRecord;
  beforeAll(async () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      run = await play(situationOf(seed));
      if (isRich(run)) return;
    }
    throw new Error("no session has all that the check compares");
  }, 60_000);

  it("accepts a correct run with refused, cancelled and queued turns", () => {
    expect(breaches(run)).toEqual([]);
  });

  const withLog = (change: (event: NumberedEvent) => NumberedEvent[]): RunRecord => ({
    ...run,
    log: run.log.flatMap(change),
  });

  it("notices a confirmed request that never ran", () => {
    const [first] = queued(run);
    const corrupt = withLog((event) => (event === first ? [] : [event]));
    expect(problemsOf("queue", corrupt).join("\n")).toMatch(/queued_\w+ never ran/);
  });

  it("passes on what the model of the queue has noticed while the session ran", () => {
    const model = { problems: ["early"], lost: () => [] };
    const queue = Object.assign(Object.create(run.queue ?? {}), { model });
    expect(problemsOf("queue", { ...run, queue })).toEqual(["early"]);
  });
});

it.each([1, 2, 3, 4, 5, 6])(
  "keeps every promise of a queue with all faults, also in crashes (seed %d)",
  async (seed) => {
    expect(breaches(await play({ ...situationOf(seed), faults: FAULTS }))).toEqual([]);
  },
);
