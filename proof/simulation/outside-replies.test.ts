import { beforeAll, describe, expect, it } from "vitest";
import type { NumberedEvent } from "../../checker";
import { breaches, OUTSIDE } from "./engine/invariants";
import { play } from "./engine/judge";
import type { RunRecord } from "./engine/run-record";
import type { EngineSituation } from "./engine/engine-situation";

const SITUATION: EngineSituation = {
  seed: 5,
  agents: 2,
  habits: ["tools"],
  faults: [],
  strikes: null,
};

/** The differences between decisions in the log and the replies that the providers sent. */
const differencesIn = (run: RunRecord): string[] =>
  OUTSIDE.flatMap(([id, check]) => (id === "said" ? check(run) : []));

describe("the check of decisions against the providers' replies", () => {
  let run: RunRecord;
  beforeAll(async () => {
    run = await play(SITUATION);
  });

  const withChangedLog = (change: (event: NumberedEvent) => NumberedEvent): RunRecord => ({
    ...run,
    log: run.log.map(change),
  });
  const otherLabel = (label: string): string =>
    label.startsWith("agent1") ? "agent2.1" : "agent1.1";

  it.each([
    { name: "accepts a correct run", corruption: () => run, wrong: [] },
    {
      name: "notices answers without their last character",
      corruption: () =>
        withChangedLog((event) =>
          event.type === "answer.submitted"
            ? { ...event, content: event.content.slice(0, -1) }
            : event,
        ),
      wrong: ["answer.submitted"],
    },
    {
      name: "notices votes for another answer",
      corruption: () =>
        withChangedLog((event) =>
          event.type === "vote.cast" ? { ...event, label: otherLabel(event.label) } : event,
        ),
      wrong: ["vote.cast"],
    },
    {
      name: "notices votes with another reason",
      corruption: () =>
        withChangedLog((event) =>
          event.type === "vote.cast" ? { ...event, reason: "It is long." } : event,
        ),
      wrong: ["vote.cast"],
    },
    {
      name: "notices all decisions and tools if the log has no replies",
      corruption: () => ({ ...run, log: run.log.filter(({ type }) => type !== "call.completed") }),
      wrong: ["answer.submitted", "presentation.completed", "tool.started", "vote.cast"],
    },
  ])("$name", ({ corruption, wrong }) => {
    const types = new Set(differencesIn(corruption()).map((sentence) => sentence.split(" ")[0]));
    expect([...types].toSorted()).toEqual(wrong);
  });

  it.each(["length", "content_filter"] as const)(
    "notices all decisions and tools if providers ended their replies with %s",
    (finish) => {
      const { received } = run.platform.providers;
      for (const reply of received) reply.finish = finish;
      const types = new Set(differencesIn(run).map((sentence) => sentence.split(" ")[0]));
      for (const reply of received) reply.finish = "stop";
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
      met.add(`${finish}: ${kind}${isValidJson(call.arguments) ? "" : " that is incomplete"}`);
    }
    for (const event of run.log)
      if (event.type === "call.completed") met.add(`stop reason ${event.stop_reason}`);
  }
  const ends = [
    "length: a decision",
    "length: a decision that is incomplete",
    "length: a tool",
    "length: a tool that is incomplete",
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

function isValidJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
