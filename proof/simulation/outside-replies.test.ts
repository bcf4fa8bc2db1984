import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { breaches, OUTSIDE } from "./engine/invariants";
import { play } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";
import type { EngineSituation } from "./engine/engine-situation";

/** Compares decisions in the log with the replies that the simulated providers sent. */

const SITUATION: EngineSituation = {
  seed: 5,
  agents: 2,
  habits: ["tools"],
  faults: [],
  strikes: null,
};

const look = (run: RunRecord): string[] =>
  OUTSIDE.flatMap(([id, check]) => (id === "said" ? check(run) : []));

describe("a correct run with one corruption", () => {
  let run: RunRecord;
  beforeAll(async () => {
    run = await play(SITUATION);
  });

  const changed = (change: (event: NumberedEvent) => NumberedEvent): RunRecord => ({
    ...run,
    log: run.log.map(change),
  });
  const swapped = (label: string): string => (label.startsWith("agent1") ? "agent2.1" : "agent1.1");

  it.each([
    { name: "nothing", corruption: () => run, wrong: [] },
    {
      name: "an answer without its last character",
      corruption: () =>
        changed((event) =>
          event.type === "answer.submitted"
            ? { ...event, content: event.content.slice(0, -1) }
            : event,
        ),
      wrong: ["answer.submitted"],
    },
    {
      name: "a vote for another answer",
      corruption: () =>
        changed((event) =>
          event.type === "vote.cast" ? { ...event, label: swapped(event.label) } : event,
        ),
      wrong: ["vote.cast"],
    },
    {
      name: "a vote with another reason",
      corruption: () =>
        changed((event) =>
          event.type === "vote.cast" ? { ...event, reason: "It is long." } : event,
        ),
      wrong: ["vote.cast"],
    },
    {
      name: "no reply",
      corruption: () => ({ ...run, log: run.log.filter(({ type }) => type !== "call.completed") }),
      wrong: ["answer.submitted", "presentation.completed", "tool.started", "vote.cast"],
    },
  ])("$name: wrong $wrong", ({ corruption, wrong }) => {
    const types = new Set(look(corruption()).map((sentence) => sentence.split(" ")[0]));
    expect([...types].toSorted()).toEqual(wrong);
  });

  it.each(["length", "content_filter"] as const)(
    "replies that their providers ended with %s",
    (finish) => {
      const { reached } = run.platform.providers;
      for (const reply of reached) reply.finish = finish;
      const types = new Set(look(run).map((sentence) => sentence.split(" ")[0]));
      for (const reply of reached) reply.finish = "stop";
      expect([...types].toSorted()).toEqual([
        "answer.submitted",
        "presentation.completed",
        "tool.started",
        "vote.cast",
      ]);
    },
  );
});

it("cut and withheld replies contain complete and incomplete decisions and tool calls", async () => {
  const met = new Set<string>();
  for (let seed = 1; seed <= 12; seed += 1) {
    const run = await play({ ...SITUATION, seed, faults: ["cut_short", "content_filter"] });
    expect(breaches(run)).toEqual([]);
    for (const { finish, calls } of run.platform.providers.received) {
      const [call] = calls;
      if (!call || finish === "stop") continue;
      const kind = call.name === "new_answer" || call.name === "vote" ? "a decision" : "a tool";
      met.add(`${finish}: ${kind}${isWhole(call.arguments) ? "" : " that breaks off"}`);
    }
    for (const event of run.log)
      if (event.type === "call.completed") met.add(`stop reason ${event.stop_reason}`);
  }
  const ends = [
    "length: a decision",
    "length: a decision that breaks off",
    "length: a tool",
    "length: a tool that breaks off",
  ];
  const reasons = ["length", "content_filter", "refusal"].map((reason) => `stop reason ${reason}`);
  expect([...met]).toEqual(
    expect.arrayContaining([
      ...ends,
      "content_filter: a decision",
      "content_filter: a tool",
      ...reasons,
    ]),
  );
});

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
