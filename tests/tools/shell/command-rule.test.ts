import { describe, expect, it } from "vitest";
import { builtInRules } from "../../../src/config/agent-tools";
import { commandPlace, placeUnder } from "../../../src/tools/shell";
import { FULL_CONTEXT, teamOf, teamWith } from "../../config/teams";

/** What the rules take a command for, by where the deployment has it run. */
const HARMLESS = { name: "run_command", acts_outside: false, idempotent: true };
const REACHING = { name: "run_command", acts_outside: true, idempotent: false };
const WORKSPACE = { fileTools: false, shell: true, readBeforeDelete: true, contexts: [] };

describe("commands", () => {
  it.each([
    {
      name: "run in the service where no containers are bound",
      containers: false,
      network: undefined,
      place: "service",
    },
    {
      name: "run in the service whatever is said of containers that are not there",
      containers: false,
      network: "none",
      place: "service",
    },
    {
      name: "run in containers that may have a network where nothing is said",
      containers: true,
      network: undefined,
      place: "open_container",
    },
    {
      name: "run without a network where the operator says so",
      containers: true,
      network: " none ",
      place: "closed_container",
    },
    {
      name: "are trusted with nothing by any other word",
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
      name: "in the service act on files alone, and may be repeated",
    },
    {
      place: "closed_container",
      rule: HARMLESS,
      name: "in a container without a network act on files alone, and may be repeated",
    },
    {
      place: "open_container",
      rule: REACHING,
      name: "in a container with a network may have done anything",
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
      name: "under rules that reckon with a network run where there is one",
      rules: [REACHING],
      bound: "open_container",
      place: "open_container",
    },
    {
      name: "under other rules get no network, though one was bound since",
      rules: [HARMLESS],
      bound: "open_container",
      place: "service",
    },
    {
      name: "under other rules may run in a container without one",
      rules: [HARMLESS],
      bound: "closed_container",
      place: "closed_container",
    },
    {
      name: "under strict rules run in the service once containers are gone",
      rules: [REACHING],
      bound: "service",
      place: "service",
    },
  ] as const)("$name", ({ rules, bound, place }) => {
    expect(placeUnder(rules, bound)).toBe(place);
  });
});
