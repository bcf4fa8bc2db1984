import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { checkTeam } from "../../src/config/parse-team";
import {
  AGENT,
  BACKEND,
  COORDINATION,
  type Outcome,
  type KeyRow,
  MCP_SERVER,
  ORCHESTRATOR,
  TIMEOUTS,
  TOP,
  UI,
} from "./massgen-keys";
import { FULL_CONTEXT, NONE_SERVED } from "./teams";

const CONTEXT = {
  ...FULL_CONTEXT,
  variables: { ...FULL_CONTEXT.variables, SGLANG_BASE_URL: "http://10.0.0.6:30000/v1" },
};
/** A context in which sessions support no optional feature. */
const WITHOUT_FEATURES = { ...CONTEXT, served: NONE_SERVED };
const MODEL = "model: m, ";

/** A minimal config with this key added. */
const CONFIGS = {
  top: ({ key, value }: KeyRow) => `agent: {id: a, backend: {type: claude}}\n${key}: ${value}`,
  agent: ({ key, value }: KeyRow) => `agent: {id: a, backend: {type: claude}, ${key}: ${value}}`,
  backend: ({ key, value, type = "openai" }: KeyRow) =>
    `agent: {id: a, backend: {type: ${type}, ${/^(model|azure_deployment|deployment_name)$/.test(key) ? "" : MODEL}${key}: ${value}}}`,
  orchestrator: ({ key, value }: KeyRow) =>
    `agent: {id: a, backend: {type: claude}}\norchestrator: {${key}: ${value}}`,
  coordination: ({ key, value }: KeyRow) =>
    `agent: {id: a, backend: {type: claude}}\norchestrator: {coordination: {${key}: ${value}}}`,
  timeout_settings: ({ key, value }: KeyRow) =>
    `agent: {id: a, backend: {type: claude}}\ntimeout_settings: {${key}: ${value}}`,
  ui: ({ key, value }: KeyRow) => `agent: {id: a, backend: {type: claude}}\nui: {${key}: ${value}}`,
};

/** The treatment of a key, according to the error or warning at its position. */
function outcomeOf(source: string, key: string): Outcome | string {
  const { errors, refusals, warnings } = checkTeam(source, CONTEXT);
  const isHere = ({ pointer }: { pointer: string }) => pointer.split("/").includes(key);
  const [error, refusal, warning] = [
    errors.find(isHere),
    refusals.find(isHere),
    warnings.find(isHere),
  ];
  if (error) return error.code === "old_keyword" ? "old" : "wrong";
  if (refusal) return refusal.need === undefined ? "a refusal without its need" : "refused";
  return warning?.code === "no_effect" ? "warned" : "obeyed";
}

describe.each([
  { section: "top" as const, rows: TOP },
  { section: "agent" as const, rows: AGENT },
  { section: "backend" as const, rows: BACKEND },
  { section: "orchestrator" as const, rows: ORCHESTRATOR },
  { section: "coordination" as const, rows: COORDINATION },
  { section: "timeout_settings" as const, rows: TIMEOUTS },
  { section: "ui" as const, rows: UI },
])("in MassGen's section $section", ({ section, rows }) => {
  it.each(rows)("$key: $value is $expected", (row) => {
    expect(outcomeOf(CONFIGS[section](row), row.key)).toBe(row.expected);
  });

  it.each(rows.filter(({ expected }) => expected === "obeyed"))(
    "$key: $value keeps a team runnable",
    (row) => {
      const { errors, refusals } = checkTeam(CONFIGS[section](row), CONTEXT);
      expect([...errors, ...refusals]).toEqual([]);
    },
  );

  it.each(rows.filter(({ value, expected }) => value === "true" && expected === "refused"))(
    "$key: false needs no unsupported feature",
    (row) => {
      const { refusals } = checkTeam(CONFIGS[section]({ ...row, value: "false" }), CONTEXT);
      expect(refusals).toEqual([]);
    },
  );
});

describe("an entry of mcp_servers", () => {
  const withServer = (entry: string) =>
    `agent: {id: a, backend: {type: claude, mcp_servers: [{${entry}}]}}`;

  it.each(MCP_SERVER)("may contain %s", (entry) => {
    expect(checkTeam(withServer(entry), CONTEXT).errors).toEqual([]);
  });

  it("must not contain a misspelled key", () => {
    expect(checkTeam(withServer("comand: npx"), CONTEXT).errors).toMatchObject([
      {
        code: "unknown_key",
        line: 1,
        column: 55,
        detail: expect.stringContaining("Did you mean `command`?"),
      },
    ]);
  });

  it.each(["auth: {type: oauth}", "transport_options: {a: 1}"])(
    "may have unlisted keys if tool servers are not supported: %s",
    (entry) => {
      const { errors, refusals } = checkTeam(
        withServer(`name: w, url: 'https://w.example.com/mcp', ${entry}`),
        WITHOUT_FEATURES,
      );
      expect([errors, refusals.map(({ need }) => need)]).toEqual([[], ["http_mcp"]]);
    },
  );

  it.each([
    { entry: "name: weather, command: npx", need: "stdio_mcp" },
    {
      entry: "name: weather, type: streamable-http, url: 'http://192.168.0.7:8000/mcp'",
      need: "localhost_mcp",
    },
    {
      entry: "name: weather, type: streamable-http, url: 'https://weather.example.com/mcp'",
      need: "http_mcp",
    },
  ])("is refused with the need $need and its name: $entry", ({ entry, need }) => {
    expect(checkTeam(withServer(entry), WITHOUT_FEATURES).refusals).toMatchObject([
      {
        need,
        detail: expect.stringContaining("(`weather`)"),
        pointer: "/agent/backend/mcp_servers",
      },
    ]);
  });

  it("may be an entry of a mapping by name, and several entries cause one refusal", () => {
    const servers = "mcp_servers: {one: {command: a}, two: {command: b}}";
    const { refusals } = checkTeam(`agent: {id: a, backend: {type: claude, ${servers}}}`, CONTEXT);
    expect(refusals.map(({ detail }) => detail)).toEqual([
      expect.stringContaining("(`one`, `two`)"),
    ]);
  });
});

describe("a refusal", () => {
  const team = (...backends: string[]) =>
    checkTeam(
      `agents:\n${backends.map((backend, nth) => `  - {id: a${nth}, backend: ${backend}}`).join("\n")}`,
      WITHOUT_FEATURES,
    ).refusals;

  it("covers all keys and agents with the same need, at the position of the first", () => {
    const refusals = team(
      "{type: claude, cwd: w1, context_paths: [{path: src}]}",
      "{type: claude, cwd: w2, enable_mcp_command_line: true, shared_tools_directory: t, enable_code_based_tools: true}",
    );
    expect(refusals.map(({ need, pointer }) => `${need} ${pointer}`)).toEqual([
      "workspace /agents/0/backend/cwd",
      "host_context_path /agents/0/backend/context_paths",
      "shell /agents/1/backend/enable_mcp_command_line",
      "tools_from_code /agents/1/backend/shared_tools_directory",
    ]);
    expect(refusals[3]?.detail).toContain("(`shared_tools_directory`, `enable_code_based_tools`)");
  });

  it("is at the first of its keys in the text, and names them in that order", () => {
    const source =
      "agents:\n  - id: a\n    backend:\n      type: claude\n      cwd: w1\norchestrator: {snapshot_storage: s, agent_temporary_workspace: t}";
    expect(checkTeam(source, WITHOUT_FEATURES).refusals).toMatchObject([
      {
        need: "workspace",
        pointer: "/agents/0/backend/cwd",
        line: 5,
        column: 7,
        detail: expect.stringContaining("(`cwd`, `snapshot_storage`, `agent_temporary_workspace`)"),
      },
    ]);
    const otherOrder =
      "orchestrator:\n  agent_temporary_workspace: t\n  snapshot_storage: s\nagent:\n  backend: {type: claude, cwd: w1}\n  id: a";
    expect(checkTeam(otherOrder, WITHOUT_FEATURES).refusals).toMatchObject([
      { pointer: "/orchestrator/agent_temporary_workspace", line: 2, column: 3 },
    ]);
    expect(checkTeam(parse(source), WITHOUT_FEATURES).refusals).toMatchObject([
      { need: "workspace", line: null },
    ]);
  });

  it("names the settings of a feature together with the key that enables it", () => {
    const source = (on: boolean) =>
      `agent: {id: a, backend: {type: claude}}\norchestrator: {coordination: {use_skills: ${on}, skills_directory: x}}`;
    expect(checkTeam(source(true), CONTEXT).refusals.map(({ need }) => need)).toEqual(["skills"]);
    expect(checkTeam(source(true), CONTEXT).refusals[0]?.detail).toContain(
      "(`use_skills`, `skills_directory`)",
    );
    expect(checkTeam(source(false), CONTEXT)).toMatchObject({
      runnable: true,
      warnings: [{ code: "no_effect" }],
    });
  });

  it("names only a few of many keys", () => {
    const servers = Array.from({ length: 20 }, (_, nth) => `s${nth}: {command: x}`).join(", ");
    expect(team(`{type: claude, mcp_servers: {${servers}}}`)[0]?.detail).toContain(
      "`s7` and 12 more",
    );
  });

  it("quotes the config in short form and on one line", () => {
    const detail =
      team(`{type: claude, mcp_servers: {"x\\ny${"z".repeat(500)}": {command: x}}}`)[0]?.detail ??
      "";
    expect(detail).toContain("`x y");
    expect(detail.length).toBeLessThan(500);
  });

  it("is separate for each missing key", () => {
    const bare = { ...CONTEXT, storedKeys: [] };
    const source =
      "agents: [{id: a, backend: {type: openai}}, {id: b, backend: {type: openai}}, {id: c, backend: {type: claude}}]";
    expect(checkTeam(source, bare).refusals.map(({ need }) => need)).toEqual([
      "OPENAI_API_KEY",
      "ANTHROPIC_API_KEY",
    ]);
  });
});

it("warnings about MassGen's terminal mention event streams and no page (A9)", () => {
  const terminal =
    "ui: {display_type: rich_terminal, logging_enabled: true}\norchestrator: {interactive_mode: true}\n";
  const { warnings } = checkTeam(
    `${terminal}agents:\n  - id: a\n    backend: {type: openai}\n`,
    FULL_CONTEXT,
  );
  const details = warnings.filter(({ code }) => code === "no_effect").map(({ detail }) => detail);
  expect(details).toHaveLength(3);
  expect(
    details.filter((detail) => /\bpage\b/.test(detail) || !detail.includes("event stream")),
  ).toEqual([]);
});
