import { describe, expect, it } from "vitest";
import { checkTeam } from "../../src/config/parse-team";
import { FULL_CONTEXT } from "./teams";

/**
 * Configs of people who know neither YAML nor this service well, and the errors: place, problem,
 * remedy.
 */
const ONE = "agent: {id: a, backend: {type: claude}}";
const backend = (line: string) => `agent:\n  id: a\n  backend:\n    type: claude\n    ${line}\n`;
const agent = (line: string) => `agent:\n  id: a\n  ${line}\n  backend: {type: claude}\n`;
const orchestrator = (line: string) => `${ONE}\norchestrator:\n  ${line}\n`;
const top = (line: string) => `${ONE}\n${line}\n`;
const messagesOf = (source: unknown) => {
  const { errors, refusals } = checkTeam(source, FULL_CONTEXT);
  return [...errors, ...refusals].map(
    ({ line, column, code, detail }) => `${line}:${column} ${code}: ${detail}`,
  );
};
/** Requires exactly one problem with this place and code; its message contains the remedy. */
function expectOne(source: unknown, problem: string, remedy: string): void {
  const [message = "", ...others] = messagesOf(source);
  expect(others).toEqual([]);
  expect(message.startsWith(`${problem}: `), message).toBe(true);
  expect(message).toContain(remedy);
}

describe("text that is not YAML, or not supported YAML, has an error for", () => {
  it.each([
    ["a tab", "agents:\n\t- id: a\n", "2:1 syntax", "use spaces"],
    [
      "a key twice",
      backend("type: openai"),
      "5:5 syntax",
      "`type` is repeated in the same mapping: keep one of the two",
    ],
    [
      "a long key twice",
      `${"k".repeat(500)}: 1\n${"k".repeat(500)}: 2`,
      "2:1 syntax",
      `\`${"k".repeat(60)}…\` is repeated`,
    ],
    ["two documents", `${ONE}\n---\n${ONE}`, "2:1 syntax", "put each into its own file"],
    [
      "a tag for bytes",
      backend("model: !!binary aGk="),
      "5:12 syntax",
      "`!!binary` is a YAML tag, and configs do not support tags: write the value without it",
    ],
    [
      "a tag of their own",
      backend("model: !secret x"),
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
    ["a value that begins with @", agent("system_message: @a"), "3:19 syntax", "must be in quotes"],
    ["a value that begins with %", agent("system_message: %a"), "3:19 syntax", "must be in quotes"],
    [
      "a colon inside a text",
      agent("system_message: You are: a helper"),
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
      "keys that do not begin in one column",
      "agent:\n    id: a\n  backend: {type: claude}\n",
      "3:1 syntax",
      "must begin in the same column",
    ],
    ["quotes that stay open", 'agent:\n  id: "a\n', "3:1 syntax", 'no closing "'],
    ["a backslash in quotes", agent('system_message: "C:\\d"'), "3:22 syntax", "use single quotes"],
    [
      "an alias of nothing",
      "agent: *x",
      "1:8 syntax",
      "No anchor `&x` is defined before the alias `*x`",
    ],
    [
      "a merge of mappings",
      "agents:\n  - &a {id: a, backend: {type: claude}}\n  - {<<: *a, id: b}",
      "3:6 syntax",
      "as in `backend: *name`",
    ],
    [
      "a file in UTF-16",
      [...ONE].map((letter) => `${letter}\0`).join(""),
      "1:2 syntax",
      "U+0000 is not allowed in a config. If the file is UTF-16, save it as UTF-8",
    ],
    ["a name in braces", backend("model: {X}y"), "5:15 syntax", "must be in quotes"],
    ["a bracket that stays open", "agents: [", "1:10 syntax", "end with a ]"],
    [
      "an invisible character",
      agent("system_message: a\u0007b"),
      "3:20 syntax",
      "U+0007 is not allowed in a config: remove it",
    ],
    [
      "half a character",
      agent("system_message: a\ud800b"),
      "3:20 syntax",
      "U+D800 is not allowed in a config: remove it",
    ],
    [
      "half a character, escaped",
      agent('system_message: "a\\ud800b"'),
      "3:19 syntax",
      "write both halves, or the character itself",
    ],
  ])("%s", (_, source, problem, remedy) => expectOne(source, problem, remedy));

  it("spaces of a web page, which YAML treats as letters", () => {
    const message =
      "2:1 unknown_key: There is a non-breaking space before `id`: replace it with a plain space.";
    expect(messagesOf("agent:\n\u00a0\u00a0id: a")).toContain(message);
  });

  it("a fence of Markdown, at both its lines", () => {
    const message = "syntax: This is a Markdown fence, not YAML: remove the line.";
    expect(messagesOf(`\`\`\`yaml\n${ONE}\n\`\`\``)).toEqual([`1:1 ${message}`, `3:1 ${message}`]);
  });

  it("at most one problem in a line", () => {
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
      orchestrator("fairness_enabled: yes"),
      "3:21 wrong_type",
      "must be true or false; in YAML, `yes` is text",
    ],
    [
      "Off for false",
      backend("enable_web_search: Off"),
      "5:24 wrong_type",
      "must be true or false; in YAML, `Off` is text",
    ],
    [
      "no for a feature that is not supported",
      backend("enable_mcp_command_line: no"),
      "5:30 wrong_type",
      "must be true or false; in YAML, `no` is text",
    ],
    [
      "off for another",
      orchestrator("coordination: {use_skills: off}"),
      "3:30 wrong_type",
      "must be true or false; in YAML, `off` is text",
    ],
    [
      "true in quotes",
      orchestrator('fairness_enabled: "true"'),
      "3:21 wrong_type",
      "`true` is text: remove the quotes",
    ],
    [
      "a number in quotes",
      orchestrator('max_new_answers_per_agent: "3"'),
      "3:30 wrong_type",
      "`3` is text: remove the quotes",
    ],
    [
      "a number with an underscore",
      orchestrator("max_new_answers_per_agent: 1_0"),
      "3:30 wrong_type",
      "a whole number from 1 to 1000; in YAML, `1_0` is text",
    ],
    [
      "minutes and seconds",
      top("timeout_settings: {orchestrator_timeout_seconds: 30:00}"),
      "2:50 wrong_type",
      "a whole number from 1 to 86400; in YAML, `30:00` is text",
    ],
    [
      "a number for a text",
      agent("system_message: 42"),
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
      "a switch for an id",
      "agent: {id: true, backend: {type: claude}}",
      "1:13 wrong_type",
      "true is a boolean: put it in quotes",
    ],
    ["a number for a key", top("7: x"), "2:1 wrong_type", "A key must be text; 7 is not"],
    [
      "a mapping for a key",
      top("? {a: b}\n: c"),
      "1:1 wrong_type",
      "A key must be text; a list or a mapping is not",
    ],
  ])("%s", (_, source, problem, remedy) => expectOne(source, problem, remedy));

  it("a key that is a long list, without repeating it", () => {
    expect(messagesOf(top(`? [${"x, ".repeat(20_000)}]\n: c`)).join().length).toBeLessThan(100);
  });
});

describe("a key at the wrong place has an error with its correct place for", () => {
  it.each([
    [
      "a model beside the backend",
      agent("model: claude-opus-4-1"),
      "3:3 unknown_key",
      "move it into an agent's `backend`",
    ],
    [
      "a parameter beside the backend",
      agent("temperature: 1"),
      "3:3 unknown_key",
      "move it into an agent's `backend`",
    ],
    [
      "a message inside the backend",
      backend("system_message: x"),
      "5:5 unknown_key",
      "move it into an entry of `agents`",
    ],
    [
      "a rule at the top",
      top("max_new_answers_per_agent: 3"),
      "2:1 unknown_key",
      "move it into `orchestrator`",
    ],
    [
      "a rule one level too deep",
      orchestrator("coordination: {max_new_answers_per_agent: 1}"),
      "3:18 unknown_key",
      "move it into `orchestrator`",
    ],
    [
      "a rule one level too high",
      orchestrator("max_orchestration_restarts: 1"),
      "3:3 unknown_key",
      "move it into `orchestrator.coordination`",
    ],
    [
      "a time limit at the top",
      top("orchestrator_timeout_seconds: 9"),
      "2:1 unknown_key",
      "move it into `timeout_settings`",
    ],
    [
      "an unsupported setting at the top",
      top("use_skills: true"),
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
      top('"a\\nb": 1'),
      "2:1 unknown_key",
      "Unknown key `a b`. Known keys: agent, agents, orchestrator, timeout_settings, ui.",
    ],
  ])("%s", (_, source, problem, remedy) => expectOne(source, problem, remedy));
});

describe("inside a refused setting, an unknown key is reported too:", () => {
  it.each([
    [
      "a tool",
      backend("custom_tools: [{nme: [x], path: y, function: z}]"),
      "5:21 unknown_key",
      "Unknown key `nme`. Did you mean `name`?",
    ],
    [
      "a file",
      backend("upload_files: [{image_pth: x}]"),
      "5:21 unknown_key",
      "Unknown key `image_pth`. Did you mean `image_path`?",
    ],
  ])("%s", (_, source, problem, remedy) =>
    expect(messagesOf(source)).toContain(`${problem}: ${remedy}`),
  );

  it.each([
    [
      "all keys of a tool",
      backend(
        "custom_tools: [{name: a, function: b, category: c, path: d, description: e, preset_args: f, default_params: g}]",
      ),
    ],
    [
      "all kinds of files",
      backend("upload_files: [{image_path: a}, {audio_path: b}, {video_path: c}, {file_path: d}]"),
    ],
  ])("%s are known", (_, source) => expect(checkTeam(source, FULL_CONTEXT).errors).toEqual([]));
});

describe("an unusual but valid config has", () => {
  it.each([
    ["a byte order mark", `\ufeff${ONE}`],
    ["line ends of Windows", agent("system_message: x").replaceAll("\n", "\r\n")],
    ["tabs between key and value", "agent:\n  id:\ta\n  backend: {type:\tclaude}"],
    ["the mark of a document before it", `---\n${ONE}`],
    ["its version of YAML before it", `%YAML 1.2\n---\n${ONE}`],
    ["True as Python writes it", orchestrator("fairness_enabled: True")],
    ["a date for an id", "agent: {id: 2026-01-01, backend: {type: claude}}"],
    ["`no` where text belongs", agent("system_message: no")],
    ["JSON with a comma too many", '{"agent": {"id": "a", "backend": {"type": "claude"}},}'],
    ["a tag for text", backend("model: !!str claude-opus-4-1")],
    [
      "one anchor's name for two things",
      "agents: [&a {id: a, backend: {type: claude}}, &a {id: b, backend: {type: claude}}]",
    ],
    [
      "a non-breaking space in a text",
      "agent:\n  id: a\n  system_message: |\n    \u00a0- x\n  backend: {type: claude}",
    ],
    ["emoji", agent("system_message: 🦊 says 你好")],
  ])("%s", (_, source) =>
    expect(checkTeam(source, FULL_CONTEXT)).toMatchObject({ runnable: true, warnings: [] }),
  );
});
