import { describe, expect, it } from "vitest";
import {
  CommandFilter,
  filtered,
  justBashRunner,
  patternProblem,
  runCommandTool,
} from "../../../src/tools/shell";
import { agentFiles, runTool, type World } from "../files/agent-tree";
import { EVASIONS } from "./evasions";

type Lists = { allowed?: string[]; blocked?: string[] };
const WORLD: World = {
  workspace: { "a.txt": "one\n", "gone.txt": "x\n", "src/b.ts": "" },
  peers: {},
  contexts: {},
};
const filterOf = ({ allowed = [], blocked = [] }: Lists) => new CommandFilter({ allowed, blocked });

/** In the service's own shell, over files that were read and may be deleted. */
async function inShell(lists: Lists | null, command: string) {
  const files = await agentFiles(WORLD);
  for (const name of ["a.txt", "gone.txt"]) await files.read(name);
  const tool = runCommandTool(justBashRunner(Date.now, { filter: lists && filterOf(lists) }));
  return { ...(await runTool(tool, { command }, files)), files };
}

/** Whether the command would be sent to a container. */
async function isSent(lists: Lists, command: string): Promise<boolean> {
  let sent = false;
  const run = async () => {
    sent = true;
    return { stdout: "", stderr: "", exitCode: 0, stopped: null };
  };
  const runner = filtered({ description: "", run }, filterOf(lists));
  await runTool(runCommandTool(runner), { command }, await agentFiles(WORLD));
  return sent;
}

describe("a blocked command does not run (command_line_blocked_commands)", () => {
  it.each(EVASIONS)("$name", async ({ command }) => {
    const { files } = await inShell({ blocked: ["rm"] }, command);
    expect(files.exists("gone.txt")).toBe(true);
    expect(await isSent({ blocked: ["rm"] }, command)).toBe(false);
  });
});

it("most of these commands would remove the file in the service's own shell without the filter", async () => {
  const removed = await Promise.all(
    EVASIONS.map(async ({ command }) => !(await inShell(null, command)).files.exists("gone.txt")),
  );
  expect(removed.filter(Boolean).length).toBeGreaterThan(70);
});

describe("only allowed commands run (command_line_allowed_commands)", () => {
  const ALLOWED = [
    "cat",
    "echo",
    "ls",
    "find",
    "xargs",
    "env",
    "bash",
    "for",
    "true",
    "eval",
    "timeout",
    "f\\(\\)",
    "f",
    "x=",
  ];
  it.each(EVASIONS)("$name", async ({ command }) => {
    const { files } = await inShell({ allowed: ALLOWED }, command);
    expect(files.exists("gone.txt")).toBe(true);
    expect(await isSent({ allowed: ALLOWED }, command)).toBe(false);
  });
});

describe("unrestricted commands run, in the shell and in a container", () => {
  it.each<{ name: string; command: string; lists: Lists; text?: string }>([
    {
      name: "another command",
      command: "cat a.txt",
      lists: { blocked: ["rm", "sudo"] },
      text: "one",
    },
    {
      name: "the name as an argument",
      command: "echo rm a.txt",
      lists: { blocked: ["rm"] },
      text: "rm a.txt",
    },
    {
      name: "the name in a comment",
      command: "echo a # rm gone.txt",
      lists: { blocked: ["rm"] },
      text: "a",
    },
    {
      name: "unknown arguments",
      command: 'for f in *.txt; do wc -l "$f"; done',
      lists: { blocked: ["rm -rf", "sudo "] },
    },
    {
      name: "a search",
      command: "find . -name '*.txt' -exec cat {} +",
      lists: { blocked: ["rm"] },
      text: "one\nx",
    },
    {
      name: "an allowed command in a pipe",
      command: "cat a.txt | wc -l",
      lists: { allowed: ["cat .*", "wc"] },
      text: "1",
    },
    {
      name: "arguments that an allowed pattern permits",
      command: "cat *.txt",
      lists: { allowed: ["cat .*"] },
      text: "one\nx",
    },
    {
      name: "a shell with a known text",
      command: "bash -c 'cat a.txt'",
      lists: { allowed: ["bash -c", "cat"] },
      text: "one",
    },
    {
      name: "a list of plain names",
      command: "echo $HOME",
      lists: { blocked: ["rm|mv|sudo"] },
      text: "/workspace",
    },
    {
      name: "words for the shell's own list",
      command: "set -e; set -- a.txt; cat $1",
      lists: { blocked: ["rm"] },
      text: "one",
    },
    {
      name: "a test",
      command: "[ -f a.txt ] && cat a.txt",
      lists: { blocked: ["rm"] },
      text: "one",
    },
    {
      name: "spaces in quoted patterns",
      command: 'cat *[" t"]xt a\\.txt',
      lists: { blocked: ["rm"] },
    },
    {
      name: "a declared list",
      command: "declare -a x=(a b); echo ${x[1]}",
      lists: { blocked: ["rm"] },
      text: "b",
    },
    {
      name: "an exported value",
      command: 'x=b; export A="$x"; echo $A',
      lists: { blocked: ["rm"] },
      text: "b",
    },
    {
      name: "a local value",
      command: 'f() { local a="p$1" b; b=$1; echo $a$b; }; f x',
      lists: { blocked: ["rm"] },
      text: "pxx",
    },
    {
      name: "a here-document",
      command: "cat <<'E'\nrm gone.txt\nE",
      lists: { blocked: ["rm"] },
      text: "rm gone.txt",
    },
    {
      name: "a printed word like a variable's",
      command: "printf 'PATH %s' a",
      lists: { blocked: ["rm"] },
      text: "PATH a",
    },
    {
      name: "a choice of names",
      command: "cat *.txt",
      lists: { blocked: ["^(?:rm|mv) .*"] },
      text: "one\nx",
    },
  ])("$name", async ({ command, lists, text }) => {
    const result = await inShell(lists, command);
    expect(result.outcome).toBe("ok");
    if (text !== undefined) expect(result.text).toBe(text);
    expect(await isSent(lists, command)).toBe(true);
  });

  it("names the reason of a refusal and the pattern", async () => {
    const { outcome, text } = await inShell({ blocked: ["rm .*"] }, "ls && rm gone.txt");
    expect({ outcome, text }).toEqual({
      outcome: "error",
      text: expect.stringContaining("`rm gone.txt` matches the blocked pattern `rm .*`"),
    });
    expect((await inShell({ allowed: ["ls"] }, "ls; cat a.txt")).text).toContain(
      "`cat a.txt` matches none of the allowed patterns: `ls`",
    );
    expect((await inShell({ allowed: ["ls"] }, "ls $(")).text).toContain("cannot be parsed");
  });

  it.each([
    {
      name: "the end of a pattern after unknown words",
      lists: { allowed: ["cat a.txt$"] },
      command: "cat a.txt*",
    },
    {
      name: "a pattern about unknown words",
      lists: { allowed: ["cat [^/]*$"] },
      command: "cat *",
    },
    {
      name: "words that a blocked pattern may match",
      lists: { blocked: ["git push.*--force"] },
      command: "git push $x",
    },
    { name: "words after a pattern's end", lists: { allowed: ["ls$"] }, command: "ls -la" },
  ])("refuses to send to a container: $name", async ({ lists, command }) =>
    expect(await isSent(lists, command)).toBe(false),
  );

  it("checks the words when they are known, in the service's own shell", async () => {
    const { text, files } = await inShell(
      { blocked: ["rm .*gone"] },
      "for f in a.txt gone.txt; do rm $f; done",
    );
    expect(text).toContain("matches the blocked pattern `rm .*gone`");
    expect([files.exists("a.txt"), files.exists("gone.txt")]).toEqual([false, true]);
  });

  it("describes the restrictions to the model", () => {
    const { description } = justBashRunner(Date.now, {
      filter: filterOf({ allowed: ["ls", "cat"], blocked: ["cat /etc"] }),
    });
    expect(description).toContain("`ls`, `cat`");
    expect(description).toContain("`cat /etc`");
  });
});

describe("patterns", () => {
  it.each([
    {
      name: "no pattern",
      patterns: ["ls", "("],
      index: 1,
      problem: "is no pattern of RE2 that can be used",
    },
    { name: "look-around", patterns: ["(?!rm)"], index: 0, problem: "is no pattern of RE2" },
    { name: "empty", patterns: [" "], index: 0, problem: "is empty" },
    { name: "too long", patterns: ["a".repeat(301)], index: 0, problem: "is longer than" },
    {
      name: "too large",
      patterns: ["(a{1,30}){1,30}", "(a{1,30}){1,30}", "(a{1,30}){1,30}"],
      index: 2,
      problem: "too large",
    },
    {
      name: "too many",
      patterns: Array.from({ length: 51 }, () => "a"),
      index: 50,
      problem: "comes after the 50",
    },
  ])("are refused: $name", ({ patterns, index, problem }) =>
    expect(patternProblem(patterns)).toEqual({ index, problem: expect.stringContaining(problem) }),
  );

  it("have RE2 syntax", () =>
    expect(patternProblem(["(?i)git (status|diff)\\b", "ls.*"])).toBeNull());

  it("have a bounded cost: a text that is too long to check does not run", async () => {
    const blocked = Array.from({ length: 40 }, (_, nth) => `[a-z ]*(?:ab?c? ?){1,9}x${nth}`);
    expect(patternProblem(blocked)).toBeNull();
    const began = performance.now();
    const { text } = await inShell({ blocked }, `echo ${"abc ".repeat(16_000)}`);
    expect(text).toContain("pattern_too_costly");
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});
