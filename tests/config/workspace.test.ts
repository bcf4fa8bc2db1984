import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { protectionOf } from "../../src/workspace/permissions";
import { FULL_CONTEXT, NONE_SERVED, teamOf, warningsOf } from "./teams";

type Lines = { a?: string; b?: string; orchestrator?: string };
const yaml = ({ a = "", b = "", orchestrator = "" }: Lines) =>
  `agents:\n  - {id: a, backend: {type: claude${a && `, ${a}`}}}\n  - {id: b, backend: {type: claude${b && `, ${b}`}}}\norchestrator: {${orchestrator}}`;
const workspacesOf = (lines: Lines) =>
  teamOf(yaml(lines), FULL_CONTEXT).agents.map(({ workspace }) => workspace ?? null);
const problems = (lines: Lines, context = FULL_CONTEXT) => {
  const { errors, refusals } = checkTeam(yaml(lines), context);
  return [...errors, ...refusals].map(
    ({ need, code, pointer, detail }) => `${need ?? code} ${pointer}: ${detail}`,
  );
};

const FILES = { fileTools: true, shell: false, readBeforeDelete: true, contexts: [] };

describe("an agent has a workspace", () => {
  it.each<{ name: string; lines: Lines; hasWorkspace: [boolean, boolean] }>([
    { name: "if it has cwd", lines: { a: "cwd: workspace1" }, hasWorkspace: [true, false] },
    {
      name: "if it has a shell",
      lines: { b: "enable_mcp_command_line: true" },
      hasWorkspace: [false, true],
    },
    {
      name: "if it has its own contexts",
      lines: { a: "context_paths: [site]" },
      hasWorkspace: [true, false],
    },
    {
      name: "if the team requests workspaces and no agent does",
      lines: { orchestrator: "snapshot_storage: s" },
      hasWorkspace: [true, true],
    },
    {
      name: "if the team has contexts",
      lines: { orchestrator: "context_paths: [{path: site}]" },
      hasWorkspace: [true, true],
    },
    {
      name: "but not if only the team and another agent request one",
      lines: {
        a: "cwd: w",
        orchestrator:
          "snapshot_storage: s, agent_temporary_workspace: t, context_paths: [{path: site}]",
      },
      hasWorkspace: [true, false],
    },
    {
      name: "but not by default",
      lines: { a: "cwd:", orchestrator: "snapshot_storage: ''" },
      hasWorkspace: [false, false],
    },
  ])("$name", ({ lines, hasWorkspace }) => {
    const { rules } = teamOf(yaml(lines), FULL_CONTEXT);
    expect(rules.agents.map(({ workspace }) => workspace)).toEqual(hasWorkspace);
    expect(workspacesOf(lines).map((workspace) => workspace !== null)).toEqual(hasWorkspace);
  });

  it.each<{ name: string; a: string; workspace: object }>([
    { name: "with file tools and no shell", a: "cwd: w", workspace: FILES },
    {
      name: "with a shell and the tools",
      a: "enable_mcp_command_line: true",
      workspace: { ...FILES, shell: true },
    },
    {
      name: "with only the shell",
      a: "enable_mcp_command_line: true, exclude_file_operation_mcps: true",
      workspace: { ...FILES, shell: true, fileTools: false },
    },
    {
      name: "in which it may delete files that it has not read",
      a: "cwd: w, enforce_read_before_delete: false",
      workspace: { ...FILES, readBeforeDelete: false },
    },
  ])("$name", ({ a, workspace }) => expect(workspacesOf({ a })[0]).toEqual(workspace));

  it("with the team's contexts, its own settings for the same name, and the team's protected paths", () => {
    const lines = {
      a: "context_paths: [{path: docs, permission: write}]",
      orchestrator:
        "context_paths: [site, {path: docs, protected_paths: [LICENSE, 'private/', '*.pem']}]",
    };
    expect(workspacesOf(lines)[0]?.contexts).toEqual([
      { name: "site", permission: "read", protectedPaths: [] },
      {
        name: "docs",
        permission: "write",
        protectedPaths: [],
        teamProtectedPaths: ["LICENSE", "private/", "*.pem"],
      },
    ]);
    expect(workspacesOf({ orchestrator: lines.orchestrator })[1]?.contexts).toEqual([
      { name: "site", permission: "read", protectedPaths: [] },
      { name: "docs", permission: "read", protectedPaths: ["LICENSE", "private/", "*.pem"] },
    ]);
  });

  const manyPaths = (prefix: string) =>
    Array.from({ length: 150 }, (_, index) => `${prefix}${index}.txt`);
  it.each<{
    name: string;
    own: string[];
    team: string[];
    protectedPaths: string[];
    others: string[];
  }>([
    {
      name: "although its own list has an exclusion",
      own: ["!keep.pem"],
      team: ["*.pem"],
      protectedPaths: ["keep.pem", "a.pem"],
      others: ["a"],
    },
    {
      name: "besides its own protected paths",
      own: ["*.key", "!a.key"],
      team: ["*.pem"],
      protectedPaths: ["b.key", "a.pem"],
      others: ["a.key"],
    },
    {
      name: "without an error if both lists together exceed the limit",
      ...{
        own: manyPaths("own"),
        team: manyPaths("team"),
        protectedPaths: ["own149.txt", "team149.txt"],
        others: ["free.txt"],
      },
    },
  ])("has the protected paths of its team, $name", ({ own, team, protectedPaths, others }) => {
    const site = (paths: string[]) =>
      `context_paths: [{path: site, permission: write, protected_paths: ${JSON.stringify(paths)}}]`;
    const [grant] =
      workspacesOf({ a: site(own), orchestrator: site(team) })[0]?.contexts ??
      expect.fail("no workspace");
    const isProtected = protectionOf(grant ?? expect.fail("no context"));
    expect(protectedPaths.filter((path) => !isProtected(path))).toEqual([]);
    expect(others.filter(isProtected)).toEqual([]);
  });
});

describe("a warning or error reports", () => {
  it("once for each setting that its path is ignored", () => {
    const warnings = warningsOf(yaml({ a: "cwd: w", orchestrator: "snapshot_storage: s" }));
    expect(warnings).toEqual([
      expect.stringMatching(/^no_effect \/agents\/0\/backend\/cwd: `cwd` only enables workspaces/),
      expect.stringMatching(/^no_effect \/orchestrator\/snapshot_storage: /),
    ]);
  });

  it("once for all agents with the same setting that its path is ignored", () => {
    expect(warningsOf(yaml({ a: "cwd: w", b: "cwd: v" }))).toEqual([
      expect.stringMatching(/^no_effect \/agents\/0\/backend\/cwd: `cwd` only enables workspaces/),
    ]);
  });

  it("settings for a workspace that an agent does not have", () => {
    expect(warningsOf(yaml({ b: "enforce_read_before_delete: true" }))).toEqual([
      expect.stringContaining(
        "/agents/1/backend/enforce_read_before_delete: `enforce_read_before_delete` is ignored",
      ),
    ]);
  });

  it.each<{ name: string; lines: Lines; message: string }>([
    {
      name: "that a local path must be uploaded first",
      lines: { orchestrator: "context_paths: [{path: src/app, permission: write}]" },
      message:
        "host_context_path /orchestrator/context_paths: This team needs files from your machine (`src/app`): the service cannot read paths of your machine, and no upload has this name. Upload them first. Run `massgen-edge push src/app --name app` (then write `app` in the config).",
    },
    {
      name: "a command in which paths are quoted",
      lines: { orchestrator: `context_paths: ["-x", "it's $(reboot)"]` },
      message:
        "Run `massgen-edge push ./-x --name x` (then write `x` in the config), `massgen-edge push 'it'\\''s $(reboot)' --name it-s-reboot` (then",
    },
    {
      name: "the command for each local path, also for a path of Windows",
      lines: { orchestrator: "context_paths: ['C:\\My Files\\Web', '~', docs]" },
      message:
        "Run `massgen-edge push 'C:\\My Files\\Web' --name web` (then write `web` in the config), `massgen-edge push ~ --name project` (then write `project` in the config).",
    },
    {
      name: "a context without a name",
      lines: { a: "context_paths: [{permission: read}]" },
      message: "path is missing",
    },
    {
      name: "an unknown permission",
      lines: { a: "context_paths: [{path: s, permission: admin}]" },
      message: "read, write",
    },
    {
      name: "a context that is listed twice",
      lines: { a: "context_paths: [s, s]" },
      message: "`s` is listed twice",
    },
    {
      name: "a protected path that leads outside",
      lines: { a: "context_paths: [{path: s, protected_paths: [../x]}]" },
      message:
        "/agents/0/backend/context_paths/0/protected_paths/0: A protected path is a path inside the context",
    },
    ...["'~/x'", "'C:\\x'", "'*/*/*/*/*.pem'", "' '", "'a\\..\\b'", '"a\\nb"'].map((entry) => ({
      name: `an invalid protected path ${entry}`,
      lines: { a: `context_paths: [{path: s, protected_paths: [${entry}]}]` },
      message: "is not valid: it ",
    })),
    {
      name: "that an agent needs file tools or a shell",
      lines: { a: "cwd: w, exclude_file_operation_mcps: true" },
      message: "also write `enable_mcp_command_line: true`",
    },
    {
      name: "that there is no Docker, but a built-in shell",
      lines: { a: "enable_mcp_command_line: true, command_line_execution_mode: docker" },
      message: "Write `command_line_execution_mode: local` for the built-in shell",
    },
  ])("$name", ({ lines, message }) => expect(problems(lines).join("\n")).toContain(message));

  it("a name without an upload, if the uploads' names are known", () => {
    const context = { ...FULL_CONTEXT, contexts: new Set(["site"]) };
    expect(problems({ a: "context_paths: [site]" }, context)).toEqual([]);
    expect(problems({ a: "context_paths: [sites]" }, context)).toEqual([
      expect.stringMatching(/\(`sites`\).* Run `massgen-edge push --name sites`\.$/),
    ]);
  });

  it("each feature that sessions do not support", () => {
    const lines = {
      a: "cwd: w, enable_mcp_command_line: true, context_paths: [site], custom_tools: [current_time]",
    };
    const needs = problems(lines, { ...FULL_CONTEXT, served: NONE_SERVED }).map(
      (line) => line.split(" ")[0],
    );
    expect(needs.toSorted()).toEqual(["host_context_path", "http_tools", "shell", "workspace"]);
  });
});
