import { describe, expect, it } from "vitest";
import { builtInRules } from "../../../src/config/agent-tools";
import { commandPlace, placeUnder } from "../../../src/tools/shell";
import { FULL_CONTEXT, teamOf, teamWith } from "../../config/teams";

/** The rule for commands, by where the deployment runs them. */
const HARMLESS = { name: "run_command", acts_outside: false, idempotent: true };
const REACHING = { name: "run_command", acts_outside: true, idempotent: false };
const WORKSPACE = { fileTools: false, shell: true, readBeforeDelete: true, contexts: [] };

describe("commands", () => {
  it.each([
    {
      name: "run in the service without bound containers",
      containers: false,
      network: undefined,
      place: "service",
    },
    {
      name: "run in the service even if missing containers are declared",
      containers: false,
      network: "none",
      place: "service",
    },
    {
      name: "run in containers that may have a network without a declaration",
      containers: true,
      network: undefined,
      place: "open_container",
    },
    {
      name: "run without a network if the operator declares that",
      containers: true,
      network: " none ",
      place: "closed_container",
    },
    {
      name: "get no trust by another value",
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
      rule: HARMLESS,
      name: "in the service affect files only, and may be repeated",
    },
    {
      place: "closed_container",
      rule: HARMLESS,
      name: "in a container without a network affect files only, and may be repeated",
    },
    {
      place: "open_container",
      rule: REACHING,
      name: "in a container with a network may have any effect",
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
      name: "under rules that expect a network run in a container with one",
      rules: [REACHING],
      bound: "open_container",
      place: "open_container",
    },
    {
      name: "under other rules get no network, even if one was bound since",
      rules: [HARMLESS],
      bound: "open_container",
      place: "service",
    },
    {
      name: "under other rules may run in a container without a network",
      rules: [HARMLESS],
      bound: "closed_container",
      place: "closed_container",
    },
    {
      name: "under strict rules run in the service once containers are removed",
      rules: [REACHING],
      bound: "service",
      place: "service",
    },
  ] as const)("$name", ({ rules, bound, place }) => {
    expect(placeUnder(rules, bound)).toBe(place);
  });
});
