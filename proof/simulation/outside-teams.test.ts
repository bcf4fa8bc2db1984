import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import type { EngineSituation } from "./engine/engine-situation";
import { breaches } from "./engine/invariants";
import { play } from "./engine/judge";
import { teamsOfTurns } from "./engine/outside-teams";
import type { RunRecord } from "./engine/run-record";
import { TREE_TURNS } from "./engine/tree-user";

const situationOf = (seed: number): EngineSituation => ({
  ...{ seed, agents: 3, habits: ["teams", "branches"], faults: [], strikes: null },
});

/** Whether the session has all that the check compares. */
function isRich({ teams, log }: RunRecord): boolean {
  const turns = [...(teams?.expected.values() ?? [])];
  const isInherited = log.some(
    (event) =>
      event.type === "turn.started" &&
      event.rules !== undefined &&
      teams?.expected.get(event.parent_turn ?? 0)?.isOther === true,
  );
  const isPartial = turns.some(({ numbers }) => numbers.size === 2);
  return isInherited && isPartial && turns.some(({ isOther }) => !isOther);
}

async function richRun(): Promise<RunRecord> {
  for (let seed = 1; seed <= 40; seed += 1) {
    const run = await play(situationOf(seed));
    if (isRich(run)) return run;
  }
  throw new Error("no session has all that the check compares");
}

describe("the check of the teams of turns", () => {
  let run: RunRecord;
  beforeAll(async () => {
    run = await richRun();
  }, 60_000);

  it("accepts a correct run", () => {
    expect(breaches(run)).toEqual([]);
    expect(run.teams?.expected.size).toBe(TREE_TURNS);
  });

  const withLog = (change: (event: NumberedEvent) => NumberedEvent): RunRecord => ({
    ...run,
    log: run.log.map(change),
  });

  it.each([
    {
      name: "a turn with an agent that takes no part",
      corrupt: () =>
        withLog((event) =>
          event.type === "turn.started"
            ? { ...event, aliases: { ...event.aliases, stranger: "agent9" } }
            : event,
        ),
      found: "stranger",
    },
    {
      name: "a turn without one of its agents",
      corrupt: () =>
        withLog((event) => (event.type === "turn.started" ? { ...event, aliases: {} } : event)),
      found: "has the agents",
    },
    {
      name: "a label with another number",
      corrupt: () =>
        withLog((event) =>
          event.type === "answer.submitted"
            ? { ...event, label: event.label.replace(/\d+/, "9") }
            : event,
        ),
      found: "whose number is",
    },
    {
      name: "more answers than the turn allows",
      corrupt: () => ({
        ...run,
        log: run.log.flatMap((event): NumberedEvent[] =>
          event.type === "answer.submitted" ? Array.from({ length: 9 }, () => event) : [event],
        ),
      }),
      found: "answers",
    },
    {
      name: "a request to an agent that takes no part",
      corrupt: () => {
        const [turn] =
          [...(run.teams?.expected ?? [])].find(([, { numbers }]) => numbers.size < 3) ?? [];
        const { received } = run.platform.providers;
        const stray = received.map((request, agent) => ({
          ...request,
          agent: agent % 3,
          call: `call_${turn}_1_1_1_1_1`,
        }));
        const providers = Object.assign(Object.create(run.platform.providers), { received: stray });
        return { ...run, platform: Object.assign(Object.create(run.platform), { providers }) };
      },
      found: "takes no part in turn",
    },
    {
      name: "another team in the tree of the API",
      corrupt: () => {
        const { tree } = run;
        if (!tree?.shown) throw new Error("the run has no tree");
        const turns = tree.shown.turns.map((turn) => ({ ...turn, team: [] }));
        const shown = { ...tree.shown, turns };
        return { ...run, tree: Object.assign(Object.create(tree), { shown }) };
      },
      found: "the API shows",
    },
  ])("finds $name", ({ corrupt, found }) => {
    expect(teamsOfTurns(corrupt()).join("\n")).toContain(found);
  });
});
