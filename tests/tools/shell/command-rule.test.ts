import { describe, expect, it } from "vitest";
import { builtInRules } from "../../../src/config/agent-tools";
import { commandPlace, placeUnder } from "../../../src/tools/shell";
import { FULL_CONTEXT, teamOf, teamWith } from "../../config/teams";

const RULE_WITHOUT_NETWORK = { name: "run_command", acts_outside: false, idempotent: true };
const RULE_WITH_NETWORK = { name: "run_command", acts_outside: true, idempotent: false };
const WORKSPACE = { fileTools: false, shell: true, readBeforeDelete: true, contexts: [] };

describe("commands", () => {
  it.each([
    {
      name: "run in the service if no containers are bound",
      containers: false,
      network: undefined,
      place: "service",
    },
    {
      name: "run in the service if no containers are bound, even if their network is declared",
      containers: false,
      network: "none",
      place: "service",
    },
    {
      name: "run in containers that may have a network if the network is not declared",
      containers: true,
      network: undefined,
      place: "open_container",
    },
    {
      name: 'run in containers without a network if the operator declares "none"',
      containers: true,
      network: " none ",
      place: "closed_container",
    },
    {
      name: 'run in containers that may have a network if the declaration is not "none"',
      containers: true,
      network: "off",
      place: "open_container",
    },
  ] as const)("$name", ({ containers, network, place }) => {
    expect(commandPlace({ containers, network })).toBe(place);
  });

  it.each([
    {
      place: "service",
      rule: RULE_WITHOUT_NETWORK,
      name: "in the service change only files, and may be repeated",
    },
    {
      place: "closed_container",
      rule: RULE_WITHOUT_NETWORK,
      name: "in a container without a network change only files, and may be repeated",
    },
    {
      place: "open_container",
      rule: RULE_WITH_NETWORK,
      name: "in a container with a network may have any effect, and may not be repeated",
    },
  ] as const)("$name", ({ place, rule }) => {
    expect(builtInRules(WORKSPACE, { commands: place, asksServers: false })).toEqual([rule]);
    const { tools } =
      teamOf(teamWith("type: claude\ncwd: work\nenable_mcp_command_line: true"), {
        ...FULL_CONTEXT,
        commands: place,
      }).rules.agents[0] ?? {};
    expect(tools?.filter(({ name }) => name === "run_command")).toEqual([rule]);
  });

  it.each([
    {
      name: "under rules that expect a network run in a container with a network",
      rules: [RULE_WITH_NETWORK],
      boundPlace: "open_container",
      place: "open_container",
    },
    {
      name: "under other rules run in the service, even if containers with a network are bound later",
      rules: [RULE_WITHOUT_NETWORK],
      boundPlace: "open_container",
      place: "service",
    },
    {
      name: "under other rules may run in a container without a network",
      rules: [RULE_WITHOUT_NETWORK],
      boundPlace: "closed_container",
      place: "closed_container",
    },
    {
      name: "under rules that expect a network run in the service after containers are removed",
      rules: [RULE_WITH_NETWORK],
      boundPlace: "service",
      place: "service",
    },
  ] as const)("$name", ({ rules, boundPlace, place }) => {
    expect(placeUnder(rules, boundPlace)).toBe(place);
  });
});
