import { expect, it } from "vitest";
import { play } from "./engine/judge";
import { ratesKept } from "./engine/outside-rates";
import type { RunRecord } from "./engine/run-record";
import { SESSION } from "./engine/situation";

/** A run in which agents wait for limits of their backends, with one lie told of it. */
const run = await play({
  seed: 18,
  agents: 2,
  habits: ["rated", "stubborn"],
  faults: [],
  strikes: null,
});
const limits = run.drawn.team.agents.map(({ backend }) => backend.rates?.requestsPerMinute);

/** The ids of the first agent's calls, as its gate knows them, in the order in which they were sent. */
const calls = run.platform.providers.reached.flatMap(({ agent, call }) =>
  agent === 0 ? [`${SESSION}_${call}`] : [],
);

/** What is wrong when the gate let that call in then, or not at all. */
function foundWhen(call: string, at: number | null): string[] {
  const { letIn } = run.platform.gate;
  const before = letIn.get(call) ?? 0;
  if (at === null) letIn.delete(call);
  else letIn.set(call, at);
  const wrong = ratesKept(run);
  letIn.set(call, before);
  return wrong;
}

const unlimited = (): RunRecord => {
  const agents = run.drawn.team.agents.map((agent) => {
    const { rates: _, ...backend } = agent.backend;
    return { ...agent, backend };
  });
  return { ...run, drawn: { ...run.drawn, team: { ...run.drawn.team, agents } } };
};

it("nothing is wrong with a run that has to wait", () => {
  expect(run.log.filter(({ type }) => type === "call.waiting").length).toBeGreaterThan(0);
  expect(limits[0]).toBeLessThan(calls.length);
  expect(ratesKept(run)).toEqual([]);
});

it.each([
  {
    name: "was let in after it was sent",
    at: run.endedAt + 1,
    wrong: "was sent and its gate had not let it in",
  },
  { name: "was never let in", at: null, wrong: "was sent and its gate had not let it in" },
  {
    name: "was let in too soon after those before",
    at: run.startedAt,
    wrong: `made more than ${limits[0]} calls in a minute`,
  },
])("a call that $name is noticed", ({ at, wrong }) => {
  expect(foundWhen(calls[limits[0] ?? 0] ?? "", at).join()).toContain(wrong);
});

it("a wait of an agent whose backend has no limits is noticed", () => {
  expect(ratesKept(unlimited()).join()).toContain("waited, whose backend has no limits");
});
