import { afterAll, beforeAll, expect, it } from "vitest";
import { type Kind, KINDS, kindOf, type RunServers } from "../runs/kinds";
import { startRunServers } from "../runs/run-servers";
import { parseTeam } from "../../../src/config/parse-team";
import type { TeamRules } from "../../../src/protocol/team";
import { FULL_CONTEXT } from "../../../tests/config/teams";

let servers: RunServers;
beforeAll(async () => {
  servers = await startRunServers();
});
afterAll(() => servers.close());

function rulesOf({ agents, config = {} }: Kind): TeamRules {
  const team = agents(servers).map(({ id, model, backend }) => ({
    id,
    backend: { ...backend, model, api_key: "some-key" },
  }));
  const context = { ...FULL_CONTEXT, allowedOrigins: ["http://127.0.0.1:*"] };
  const result = parseTeam(JSON.stringify({ agents: team, ...config }), context);
  if (!result.ok) throw new Error(JSON.stringify(result.errors));
  return result.team.rules;
}

const ERASED = Object.values(KINDS).filter((kind: Kind) => kind.userAction === "erase");

it("erased runs cost nothing, so that the tenant's ledger can be checked to the cent", () => {
  expect(ERASED).not.toEqual([]);
  for (const kind of ERASED) {
    const { agents } = rulesOf(kind);
    expect(agents.map(({ price, hosted_tools = [] }) => ({ price, hosted_tools }))).toEqual(
      agents.map(() => ({ price: null, hosted_tools: [] })),
    );
  }
});

it("runs of the kind story have known prices", () => {
  expect(rulesOf(kindOf("story")).agents.every(({ price }) => price !== null)).toBe(true);
});
