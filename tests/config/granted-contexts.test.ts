import { describe, expect, it } from "vitest";
import {
  grantedWorkspaces,
  type RequestGrant,
  withGrants,
} from "../../src/config/granted-contexts";
import { fileTools } from "../../src/tools/files";
import { entriesOf } from "../../src/workspace/permissions";
import { protectedPathsOf } from "../../src/workspace/protected-paths";
import { FULL_CONTEXT, teamOf } from "./teams";

/** Two agents: `a` may have its own backend settings, `b` has none. */
const team = (backend = "", orchestrator = "") =>
  teamOf(
    `agents:\n  - {id: a, backend: {type: claude${backend}}}\n  - {id: b, backend: {type: claude}}\n${orchestrator}`,
    FULL_CONTEXT,
  );
const SITE: RequestGrant = { name: "site", permission: "write" };
const names = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);
const FILE_TOOLS = names(fileTools().map(({ rule }) => rule));

const permissionsOf = (granted: ReturnType<typeof team>) =>
  granted.agents.map(({ workspace }) =>
    Object.fromEntries(
      (workspace?.contexts ?? []).map(({ name, permission }) => [name, permission]),
    ),
  );

describe("a grant of a request", () => {
  it("gives every agent the context and a workspace with file tools", () => {
    const granted = withGrants(team(), [SITE]);
    expect(permissionsOf(granted)).toEqual([{ site: "write" }, { site: "write" }]);
    expect(granted.rules.agents.map(({ workspace }) => workspace)).toEqual([true, true]);
    expect(names(granted.rules.agents[0]?.tools ?? [])).toEqual(FILE_TOOLS);
    expect(grantedWorkspaces(team(), granted).map(({ agent }) => agent)).toEqual(["a", "b"]);
  });

  it("leaves the tools of an agent that has a workspace as they are", () => {
    const plain = team(", enable_mcp_command_line: true");
    const granted = withGrants(plain, [SITE]);
    expect(granted.rules.agents[0]).toEqual(plain.rules.agents[0]);
    expect(names(granted.rules.agents[0]?.tools ?? [])).toContain("run_command");
    expect(grantedWorkspaces(plain, granted).map(({ agent }) => agent)).toEqual(["b"]);
  });

  it("replaces the permission of the config, and keeps its other contexts", () => {
    const config = "orchestrator: {context_paths: [{path: site, permission: write}, docs]}";
    const granted = withGrants(team("", config), [{ name: "site", permission: "read" }]);
    expect(permissionsOf(granted)).toEqual([
      { docs: "read", site: "read" },
      { docs: "read", site: "read" },
    ]);
  });

  it("changes nothing if there is none", () => {
    const plain = team();
    expect(withGrants(plain, [])).toBe(plain);
  });
});

describe("the protected paths of a granted context", () => {
  const OWN = ", context_paths: [{path: site, protected_paths: ['*.pem', '!sample.pem', LICENSE]}]";

  it.each([
    {
      name: "are those of the agent's own config",
      agent: 0,
      paths: ["*.pem", "!sample.pem", "LICENSE"],
    },
    {
      name: "are those of the other agents without exclusions, for an agent without its own",
      agent: 1,
      paths: ["*.pem", "LICENSE"],
    },
  ])("$name", ({ agent, paths }) => {
    expect(entriesOf(protectedPathsOf(team(OWN), agent, "site"))).toEqual(paths);
    const granted = withGrants(team(OWN), [SITE]);
    expect(entriesOf(protectedPathsOf(granted, agent, "site"))).toEqual(paths);
  });

  it("are empty if no config names the context", () => {
    expect(entriesOf(protectedPathsOf(team(), 0, "site"))).toEqual([]);
  });
});
