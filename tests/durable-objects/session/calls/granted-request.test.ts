import { expect, it } from "vitest";
import {
  type UngrantedParts,
  largestRequest,
  grantedRequest,
} from "../../../../durable-objects/session/calls/granted-request";
import { inputTokenBound } from "../../../../src/agents/conversation";
import type { EventOf } from "../../../../src/protocol/events";
import { teamOf, yamlWith } from "../../../config/teams";

const [agent] = teamOf(yamlWith()).agents;
if (!agent) throw new Error("a team has agents");
const parts: UngrantedParts = {
  records: [{ kind: "start", system: "Be brief.", user: "Why?" }],
  agent,
  aliases: ["agent1", "agent2"],
  offers: ["new_answer", "vote"],
  ownTools: [{ name: "read_file", description: "Reads.", parameters: { type: "object" } }],
  mayResearch: false,
};
const started = (more: Partial<EventOf<"call.started">> = {}): EventOf<"call.started"> => ({
  type: "call.started",
  at: 1,
  turn: 1,
  attempt: 1,
  agent: agent.id,
  round: 1,
  call: "c1",
  purpose: "coordination",
  try: 1,
  provider: "p",
  model: "m",
  offers: ["new_answer", "vote"],
  forced: false,
  max_output_tokens: 700,
  reserved: { tokens: 1, cost_usd: 0 },
  ...more,
});

it("the granted request is the largest request if the rules granted all of it", () => {
  expect(grantedRequest(parts, started(), false)).toEqual(largestRequest(parts));
});

it("the granted request has only the hosted tools that were granted", () => {
  const searching = {
    ...agent,
    backend: { ...agent.backend, hostedTools: [{ name: "web_search" as const, maxUses: 5 }] },
  };
  const hosted = (hosted_tools: EventOf<"call.started">["hosted_tools"] = []) =>
    grantedRequest({ ...parts, agent: searching }, started({ hosted_tools }), false).hostedTools;
  expect(largestRequest({ ...parts, agent: searching }).hostedTools).toEqual([
    { name: "web_search", maxUses: 5 },
  ]);
  expect(hosted([{ name: "web_search", max_uses: 2 }])).toEqual([
    { name: "web_search", maxUses: 2 },
  ]);
  expect(hosted()).toEqual([]);
});

it.each([
  {
    name: "the decision tools that the log names, even if others were expected",
    granted: started({ offers: ["vote"] }),
    expected: { tools: [{ name: "read_file" }, { name: "vote" }] },
  },
  {
    name: "no functions in a research call",
    granted: started({ offers: [] }),
    expected: { tools: [] },
  },
  {
    name: "only the agent's own tools if it presents",
    granted: started({ offers: [], purpose: "presentation" }),
    expected: { tools: [{ name: "read_file" }] },
  },
  {
    name: "the setting that a tool must be used, if the log says so",
    granted: started({ forced: true }),
    expected: { toolChoice: "required" },
  },
  {
    name: "the output limit if the request is capped",
    granted: started(),
    expected: { maxOutputTokens: 700 },
  },
])("the granted request has $name", ({ granted, expected }) => {
  expect(grantedRequest(parts, granted, true)).toMatchObject(expected);
});

it("the largest request is never smaller than the granted request, also for a research call", () => {
  const searching = {
    ...agent,
    backend: { ...agent.backend, hostedTools: [{ name: "web_search" as const, maxUses: 5 }] },
  };
  const researchParts = { ...parts, agent: searching, mayResearch: true };
  const research = started({ offers: [], hosted_tools: [{ name: "web_search", max_uses: 5 }] });
  const bound = inputTokenBound(largestRequest(researchParts));
  const sent = [research, started()].map((granted) =>
    inputTokenBound(grantedRequest(researchParts, granted, false)),
  );
  expect(sent.every((tokens) => tokens <= bound)).toBe(true);
  expect(JSON.stringify(grantedRequest(researchParts, research, false).messages)).toContain(
    "First research",
  );
  expect(JSON.stringify(grantedRequest(researchParts, started(), false).messages)).not.toContain(
    "First research",
  );
});
