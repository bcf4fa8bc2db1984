import { describe, expect, it } from "vitest";
import type { ConfigContext } from "../../src/config/context";
import { checkTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT, teamOf, warningsOf } from "./teams";

const SHELL = "enable_mcp_command_line: true";
const DOCKER = `${SHELL}, command_line_execution_mode: docker`;
const yaml = (backend: string) => `agent: {id: a, backend: {type: claude, ${backend}}}`;
const OPEN: ConfigContext = { ...FULL_CONTEXT, commands: "open_container" };
const CLOSED: ConfigContext = {
  ...FULL_CONTEXT,
  commands: "closed_container",
  containers: { memoryMb: 4096, cpus: 0.5 },
};
const needs = (backend: string, context: ConfigContext) =>
  checkTeam(yaml(backend), context).refusals.map(
    ({ need, pointer }) => `${need} ${pointer.split("/").at(-1)}`,
  );

describe("restrictions of commands (section C)", () => {
  it("are part of the agent's workspace settings", () => {
    const team = teamOf(
      yaml(
        `${SHELL}, command_line_allowed_commands: [ls, "cat .*"], command_line_blocked_commands: [rm]`,
      ),
      FULL_CONTEXT,
    );
    expect(team.agents[0]?.workspace?.commands).toEqual({
      allowed: ["ls", "cat .*"],
      blocked: ["rm"],
    });
    expect(
      teamOf(yaml(`${SHELL}, command_line_allowed_commands: []`), FULL_CONTEXT).agents[0]
        ?.workspace,
    ).not.toHaveProperty("commands");
  });

  it.each([
    {
      pattern: "'('",
      message:
        "/agent/backend/command_line_blocked_commands/1 The pattern `(` is no pattern of RE2",
    },
    { pattern: "'(?=x)'", message: "is no pattern of RE2" },
    { pattern: "''", message: "is empty" },
    {
      pattern: "3",
      message:
        "/agent/backend/command_line_blocked_commands command_line_blocked_commands must be a list of texts",
    },
  ])("are refused if they are invalid: $pattern", ({ pattern, message }) => {
    const { errors } = checkTeam(
      yaml(`${SHELL}, command_line_blocked_commands: [ls, ${pattern}]`),
      FULL_CONTEXT,
    );
    expect(errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join()).toContain(message);
  });

  it("have a warning if the agent has no shell", () => {
    expect(
      warningsOf(yaml("cwd: w, command_line_blocked_commands: [rm]"), FULL_CONTEXT).join(),
    ).toContain("has no effect without `enable_mcp_command_line`");
  });
});

describe("a shell in Docker", () => {
  it("is supported if the operator has bound containers", () => {
    expect(needs(DOCKER, OPEN)).toEqual([]);
    expect(warningsOf(yaml(DOCKER), OPEN)).toEqual([]);
    expect(needs(`${DOCKER}, command_line_docker_network_mode: bridge`, OPEN)).toEqual([]);
    const limits = "command_line_docker_memory_limit: 4g, command_line_docker_cpu_limit: 0.5";
    expect(needs(`${DOCKER}, command_line_docker_network_mode: none, ${limits}`, CLOSED)).toEqual(
      [],
    );
  });

  it.each([
    {
      setting: "command_line_docker_network_mode: none",
      context: OPEN,
      need: "container_isolation command_line_docker_network_mode",
    },
    {
      setting: "command_line_docker_network_mode: bridge",
      context: CLOSED,
      need: "container_network command_line_docker_network_mode",
    },
    {
      setting: "command_line_docker_memory_limit: 4095m",
      context: CLOSED,
      need: "container_isolation command_line_docker_memory_limit",
    },
    {
      setting: "command_line_docker_memory_limit: 64g",
      context: OPEN,
      need: "container_isolation command_line_docker_memory_limit",
    },
    {
      setting: "command_line_docker_cpu_limit: 0.25",
      context: CLOSED,
      need: "container_isolation command_line_docker_cpu_limit",
    },
    {
      setting: "command_line_docker_image: mine",
      context: CLOSED,
      need: "container_settings command_line_docker_image",
    },
    {
      setting: "command_line_docker_enable_sudo: true",
      context: OPEN,
      need: "container_settings command_line_docker_enable_sudo",
    },
    {
      setting: "command_line_srt_network: x",
      context: OPEN,
      need: "container_settings command_line_srt_network",
    },
  ])(
    "is refused if the operator's containers do not meet its requirements: $setting",
    ({ setting, context, need }) => expect(needs(`${DOCKER}, ${setting}`, context)).toEqual([need]),
  );

  it("has only one message if there are no containers (F6)", () => {
    const source = yaml(
      `${DOCKER}, command_line_docker_network_mode: none, command_line_docker_enable_sudo: true`,
    );
    expect(checkTeam(source, FULL_CONTEXT)).toMatchObject({
      errors: [],
      warnings: [],
      refusals: [{ need: "shell_docker", pointer: "/agent/backend/command_line_execution_mode" }],
    });
  });

  it("has settings that have no effect in other modes", () => {
    const source = yaml(
      `${SHELL}, command_line_docker_network_mode: none, command_line_docker_image: x`,
    );
    expect(needs(`${SHELL}, command_line_docker_image: x`, OPEN)).toEqual([]);
    expect(warningsOf(source, OPEN).map((line) => line.match(/without .*/)?.[0])).toEqual(
      Array.from({ length: 2 }, () => "without `command_line_execution_mode: docker`."),
    );
  });
});
