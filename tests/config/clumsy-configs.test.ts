import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT } from "./teams";

/**
 * Typical mistakes in configs. Each row has the mistake, the config, the expected position with the
 * code, and a part of the message: the correction.
 */
const ONE_AGENT = "agent: {id: a, backend: {type: claude}}";
const withBackendLine = (line: string) =>
  `agent:\n  id: a\n  backend:\n    type: claude\n    ${line}\n`;
const withAgentLine = (line: string) => `agent:\n  id: a\n  ${line}\n  backend: {type: claude}\n`;
const withOrchestratorLine = (line: string) => `${ONE_AGENT}\norchestrator:\n  ${line}\n`;
const withTopLine = (line: string) => `${ONE_AGENT}\n${line}\n`;
const messagesOf = (source: unknown) => {
  const { errors, refusals } = checkTeam(source, FULL_CONTEXT);
  return [...errors, ...refusals].map(
    ({ line, column, code, detail }) => `${line}:${column} ${code}: ${detail}`,
  );
};
/** Expects exactly one problem with this position and code. Its message contains the correction. */
function expectOne(source: unknown, problem: string, correction: string): void {
  const [message = "", ...others] = messagesOf(source);
  expect(others).toEqual([]);
  expect(message.startsWith(`${problem}: `), message).toBe(true);
  expect(message).toContain(correction);
}

describe("text that is not YAML, or not supported YAML, has an error for", () => {
  it.each([
    ["a tab", "agents:\n\t- id: a\n", "2:1 syntax", "use spaces"],
    [
      "a repeated key",
      withBackendLine("type: openai"),
      "5:5 syntax",
      "`type` is repeated in the same mapping: keep one of the two",
    ],
    [
      "a long repeated key",
      `${"k".repeat(500)}: 1\n${"k".repeat(500)}: 2`,
      "2:1 syntax",
      `\`${"k".repeat(60)}…\` is repeated`,
    ],
    [
      "two documents",
      `${ONE_AGENT}\n---\n${ONE_AGENT}`,
      "2:1 syntax",
      "put each into its own file",
    ],
    [
      "a tag for bytes",
      withBackendLine("model: !!binary aGk="),
      "5:12 syntax",
      "`!!binary` is a YAML tag, and configs do not support tags: write the value without it",
    ],
    [
      "a custom tag",
      withBackendLine("model: !secret x"),
      "5:12 syntax",
      "write the value without it",
    ],
    [
      "no space after a colon",
      "agent:\n  id:a\n  backend: {type: claude}",
      "2:3 syntax",
      "Is the colon or the space missing?",
    ],
    ["no colon", "agent\n  id: a\n", "1:1 syntax", "Is the colon or the space missing?"],
    [
      "a value that begins with @",
      withAgentLine("system_message: @a"),
      "3:19 syntax",
      "must be in quotes",
    ],
    [
      "a value that begins with %",
      withAgentLine("system_message: %a"),
      "3:19 syntax",
      "must be in quotes",
    ],
    [
      "a colon inside a text",
      withAgentLine("system_message: You are: a helper"),
      "3:19 syntax",
      "in quotes. If it is a key, put it on its own line",
    ],
    [
      "a key too far to the right",
      "agent:\n  id: a\n   backend:\n    type: claude\n",
      "2:7 syntax",
      "in quotes. If it is a key, put it on its own line",
    ],
    [
      "keys that begin in different columns",
      "agent:\n    id: a\n  backend: {type: claude}\n",
      "3:1 syntax",
      "must begin in the same column",
    ],
    ["a missing closing quote", 'agent:\n  id: "a\n', "3:1 syntax", 'no closing "'],
    [
      "a backslash in double quotes",
      withAgentLine('system_message: "C:\\d"'),
      "3:22 syntax",
      "use single quotes",
    ],
    [
      "an alias without an anchor",
      "agent: *x",
      "1:8 syntax",
      "No anchor `&x` is defined before the alias `*x`",
    ],
    [
      "a merge key",
      "agents:\n  - &a {id: a, backend: {type: claude}}\n  - {<<: *a, id: b}",
      "3:6 syntax",
      "as in `backend: *name`",
    ],
    [
      "a file in UTF-16",
      [...ONE_AGENT].map((letter) => `${letter}\0`).join(""),
      "1:2 syntax",
      "U+0000 is not allowed in a config. If the file is UTF-16, save it as UTF-8",
    ],
    ["a name in braces", withBackendLine("model: {X}y"), "5:15 syntax", "must be in quotes"],
    ["a missing closing bracket", "agents: [", "1:10 syntax", "end with a ]"],
    [
      "an invisible character",
      withAgentLine("system_message: a\u0007b"),
      "3:20 syntax",
      "U+0007 is not allowed in a config: remove it",
    ],
    [
      "half a surrogate pair",
      withAgentLine("system_message: a\ud800b"),
      "3:20 syntax",
      "U+D800 is not allowed in a config: remove it",
    ],
    [
      "half a surrogate pair as an escape sequence",
      withAgentLine('system_message: "a\\ud800b"'),
      "3:19 syntax",
      "write both halves, or the character itself",
    ],
  ])("%s", (_, source, problem, correction) => expectOne(source, problem, correction));

  it("non-breaking spaces, as in text from a web page", () => {
    const message =
      "2:1 unknown_key: There is a non-breaking space before `id`: replace it with a plain space.";
    expect(messagesOf("agent:\n\u00a0\u00a0id: a")).toContain(message);
  });

  it("both lines of a Markdown fence", () => {
    const message = "syntax: This is a Markdown fence, not YAML: remove the line.";
    expect(messagesOf(`\`\`\`yaml\n${ONE_AGENT}\n\`\`\``)).toEqual([
      `1:1 ${message}`,
      `3:1 ${message}`,
    ]);
  });

  it("each broken line only once", () => {
    const bad = Array.from({ length: 5_000 }, () => "\t- x: [").join("\n");
    const { errors } = checkTeam(`agents:\n${bad}`, FULL_CONTEXT);
    expect(errors.length).toBeLessThanOrEqual(100);
    expect(new Set(errors.map(({ line }) => line)).size).toBe(errors.length);
  });
});

describe("a value of the wrong type has an error with the correct form for", () => {
  it.each([
    [
      "yes for true",
      withOrchestratorLine("fairness_enabled: yes"),
      "3:21 wrong_type",
      "must be true or false; in YAML, `yes` is text",
    ],
    [
      "Off for false",
      withBackendLine("enable_web_search: Off"),
      "5:24 wrong_type",
      "must be true or false; in YAML, `Off` is text",
    ],
    [
      "no for a feature that is not supported",
      withBackendLine("enable_mcp_command_line: no"),
      "5:30 wrong_type",
      "must be true or false; in YAML, `no` is text",
    ],
    [
      "off for another unsupported feature",
      withOrchestratorLine("coordination: {use_skills: off}"),
      "3:30 wrong_type",
      "must be true or false; in YAML, `off` is text",
    ],
    [
      "true in quotes",
      withOrchestratorLine('fairness_enabled: "true"'),
      "3:21 wrong_type",
      "`true` is text: remove the quotes",
    ],
    [
      "a number in quotes",
      withOrchestratorLine('max_new_answers_per_agent: "3"'),
      "3:30 wrong_type",
      "`3` is text: remove the quotes",
    ],
    [
      "a number with an underscore",
      withOrchestratorLine("max_new_answers_per_agent: 1_0"),
      "3:30 wrong_type",
      "a whole number from 1 to 1000; in YAML, `1_0` is text",
    ],
    [
      "minutes and seconds",
      withTopLine("timeout_settings: {orchestrator_timeout_seconds: 30:00}"),
      "2:50 wrong_type",
      "a whole number from 1 to 86400; in YAML, `30:00` is text",
    ],
    [
      "a number for a text",
      withAgentLine("system_message: 42"),
      "3:19 wrong_type",
      "42 is a number: put it in quotes",
    ],
    [
      "a number for an id",
      "agent: {id: 1, backend: {type: claude}}",
      "1:13 wrong_type",
      "1 is a number: put it in quotes",
    ],
    [
      "a boolean for an id",
      "agent: {id: true, backend: {type: claude}}",
      "1:13 wrong_type",
      "true is a boolean: put it in quotes",
    ],
    ["a number for a key", withTopLine("7: x"), "2:1 wrong_type", "A key must be text; 7 is not"],
    [
      "a mapping for a key",
      withTopLine("? {a: b}\n: c"),
      "1:1 wrong_type",
      "A key must be text; a list or a mapping is not",
    ],
  ])("%s", (_, source, problem, correction) => expectOne(source, problem, correction));

  it("a long list as a key, without quoting the list", () => {
    expect(messagesOf(withTopLine(`? [${"x, ".repeat(20_000)}]\n: c`)).join().length).toBeLessThan(
      100,
    );
  });
});

describe("a misplaced key, or a wrong name, has an error with the correction:", () => {
  it.each([
    [
      "a model beside the backend",
      withAgentLine("model: claude-opus-4-1"),
      "3:3 unknown_key",
      "move it into an agent's `backend`",
    ],
    [
      "a parameter beside the backend",
      withAgentLine("temperature: 1"),
      "3:3 unknown_key",
      "move it into an agent's `backend`",
    ],
    [
      "a system message inside the backend",
      withBackendLine("system_message: x"),
      "5:5 unknown_key",
      "move it into an entry of `agents`",
    ],
    [
      "a setting of the orchestrator at the top",
      withTopLine("max_new_answers_per_agent: 3"),
      "2:1 unknown_key",
      "move it into `orchestrator`",
    ],
    [
      "a setting of the orchestrator one level too deep",
      withOrchestratorLine("coordination: {max_new_answers_per_agent: 1}"),
      "3:18 unknown_key",
      "move it into `orchestrator`",
    ],
    [
      "a setting of the coordination one level too high",
      withOrchestratorLine("max_orchestration_restarts: 1"),
      "3:3 unknown_key",
      "move it into `orchestrator.coordination`",
    ],
    [
      "a time limit at the top",
      withTopLine("orchestrator_timeout_seconds: 9"),
      "2:1 unknown_key",
      "move it into `timeout_settings`",
    ],
    [
      "an unsupported setting at the top",
      withTopLine("use_skills: true"),
      "2:1 unknown_key",
      "move it into `orchestrator.coordination`",
    ],
    [
      "a provider's name for a type",
      "agent: {id: a, backend: {type: anthropic}}",
      "1:32 out_of_range",
      "Did you mean `claude`?",
    ],
    [
      "another provider's name",
      "agent: {id: a, backend: {type: Google}}",
      "1:32 out_of_range",
      "Did you mean `gemini`?",
    ],
    [
      "a line break in a key",
      withTopLine('"a\\nb": 1'),
      "2:1 unknown_key",
      "Unknown key `a b`. Known keys: agent, agents, orchestrator, timeout_settings, ui.",
    ],
  ])("%s", (_, source, problem, correction) => expectOne(source, problem, correction));
});

describe("an unknown key inside a refused setting is reported too, in", () => {
  it.each([
    [
      "a tool",
      withBackendLine("custom_tools: [{nme: [x], path: y, function: z}]"),
      "5:21 unknown_key",
      "Unknown key `nme`. Did you mean `name`?",
    ],
    [
      "a file",
      withBackendLine("upload_files: [{image_pth: x}]"),
      "5:21 unknown_key",
      "Unknown key `image_pth`. Did you mean `image_path`?",
    ],
  ])("%s", (_, source, problem, correction) =>
    expect(messagesOf(source)).toContain(`${problem}: ${correction}`),
  );

  it.each([
    [
      "all keys of a tool",
      withBackendLine(
        "custom_tools: [{name: a, function: b, category: c, path: d, description: e, preset_args: f, default_params: g}]",
      ),
    ],
    [
      "all kinds of files",
      withBackendLine(
        "upload_files: [{image_path: a}, {audio_path: b}, {video_path: c}, {file_path: d}]",
      ),
    ],
  ])("but %s are known", (_, source) => expect(checkTeam(source, FULL_CONTEXT).errors).toEqual([]));
});

describe("an unusual but valid config has", () => {
  it.each([
    ["a byte order mark", `\ufeff${ONE_AGENT}`],
    ["Windows line ends", withAgentLine("system_message: x").replaceAll("\n", "\r\n")],
    ["tabs between key and value", "agent:\n  id:\ta\n  backend: {type:\tclaude}"],
    ["the start mark of a document", `---\n${ONE_AGENT}`],
    ["a YAML version", `%YAML 1.2\n---\n${ONE_AGENT}`],
    ["`True` with a capital letter", withOrchestratorLine("fairness_enabled: True")],
    ["a date for an id", "agent: {id: 2026-01-01, backend: {type: claude}}"],
    ["`no` as a text", withAgentLine("system_message: no")],
    ["JSON with a trailing comma", '{"agent": {"id": "a", "backend": {"type": "claude"}},}'],
    ["a tag for text", withBackendLine("model: !!str claude-opus-4-1")],
    [
      "an anchor that is defined twice",
      "agents: [&a {id: a, backend: {type: claude}}, &a {id: b, backend: {type: claude}}]",
    ],
    [
      "a non-breaking space in a text",
      "agent:\n  id: a\n  system_message: |\n    \u00a0- x\n  backend: {type: claude}",
    ],
    ["emoji", withAgentLine("system_message: 🦊 says 你好")],
  ])("%s", (_, source) =>
    expect(checkTeam(source, FULL_CONTEXT)).toMatchObject({ runnable: true, warnings: [] }),
  );
});
