import { expect, it } from "vitest";
import { play } from "./engine/judge";
import { respectsRates } from "./engine/outside-rates";
import type { RunRecord } from "./engine/run-record";
import { SESSION } from "./engine/engine-situation";

/** A run in which agents wait because of the rate limits of their backends. */
const run = await play({
  seed: 18,
  agents: 2,
  habits: ["rated", "stubborn"],
  faults: [],
  strikes: null,
});
const limits = run.setup.team.agents.map(({ backend }) => backend.rates?.requestsPerMinute);

/** The ids under which the gate knows the first agent's calls, in the order of their requests. */
const calls = run.platform.providers.received.flatMap(({ agent, call }) =>
  agent === 0 ? [`${SESSION}_${call}`] : [],
);

/** The violations if the gate had admitted the call at this time; `null` means never. */
function violationsIfAdmitted(call: string, at: number | null): string[] {
  const { admitted } = run.platform.gate;
  const originalTime = admitted.get(call) ?? 0;
  if (at === null) admitted.delete(call);
  else admitted.set(call, at);
  const violations = respectsRates(run);
  admitted.set(call, originalTime);
  return violations;
}

const runWithoutLimits = (): RunRecord => {
  const agents = run.setup.team.agents.map((agent) => {
    const { rates: _, ...backend } = agent.backend;
    return { ...agent, backend };
  });
  return { ...run, setup: { ...run.setup, team: { ...run.setup.team, agents } } };
};

it("a run with waiting calls has no violation", () => {
  expect(run.log.filter(({ type }) => type === "call.waiting").length).toBeGreaterThan(0);
  expect(limits[0]).toBeLessThan(calls.length);
  expect(respectsRates(run)).toEqual([]);
});

it.each([
  {
    name: "was admitted after it was sent",
    at: run.endedAt + 1,
    wrong: "was sent before its gate admitted it",
  },
  { name: "was never admitted", at: null, wrong: "was sent before its gate admitted it" },
  {
    name: "was admitted too soon after earlier calls",
    at: run.startedAt,
    wrong: `made more than ${limits[0]} calls in a minute`,
  },
])("a call that $name is a violation", ({ at, wrong }) => {
  expect(violationsIfAdmitted(calls[limits[0] ?? 0] ?? "", at).join()).toContain(wrong);
});

it("a waiting call of an agent whose backend has no limits is a violation", () => {
  expect(respectsRates(runWithoutLimits()).join()).toContain(
    "waited, but its backend has no limits",
  );
});
