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

type PatternLists = { allowed?: string[]; blocked?: string[] };
const WORLD: World = {
  workspace: { "a.txt": "one\n", "gone.txt": "x\n", "src/b.ts": "" },
  peers: {},
  contexts: {},
};
const filterOf = ({ allowed = [], blocked = [] }: PatternLists) =>
  new CommandFilter({ allowed, blocked });

/**
 * Runs a command in the service's own shell. An agent may delete only files that it has read, so
 * the files are read first.
 */
async function runInShell(lists: PatternLists | null, command: string) {
  const files = await agentFiles(WORLD);
  for (const name of ["a.txt", "gone.txt"]) await files.read(name);
  const tool = runCommandTool(justBashRunner(Date.now, { filter: lists && filterOf(lists) }));
  return { ...(await runTool(tool, { command }, files)), files };
}

/** Whether the filter would send the command to a container. */
async function isSentToContainer(lists: PatternLists, command: string): Promise<boolean> {
  let sent = false;
  const run = async () => {
    sent = true;
    return { stdout: "", stderr: "", exitCode: 0, stopped: null };
  };
  const runner = filtered({ description: "", run }, filterOf(lists));
  await runTool(runCommandTool(runner), { command }, await agentFiles(WORLD));
  return sent;
}

describe("the blocked command rm is refused (command_line_blocked_commands)", () => {
  it.each(EVASIONS)("if it is run $name", async ({ command }) => {
    const { files } = await runInShell({ blocked: ["rm"] }, command);
    expect(files.exists("gone.txt")).toBe(true);
    expect(await isSentToContainer({ blocked: ["rm"] }, command)).toBe(false);
  });
});

it("without the filter, most of these commands remove the file in the service's own shell", async () => {
  const removed = await Promise.all(
    EVASIONS.map(
      async ({ command }) => !(await runInShell(null, command)).files.exists("gone.txt"),
    ),
  );
  expect(removed.filter(Boolean).length).toBeGreaterThan(70);
});

describe("the command rm is refused if it is not allowed (command_line_allowed_commands)", () => {
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
  it.each(EVASIONS)("if it is run $name", async ({ command }) => {
    const { files } = await runInShell({ allowed: ALLOWED }, command);
    expect(files.exists("gone.txt")).toBe(true);
    expect(await isSentToContainer({ allowed: ALLOWED }, command)).toBe(false);
  });
});

describe("if the patterns allow a command, it runs in the shell and in a container", () => {
  it.each<{ name: string; command: string; lists: PatternLists; text?: string }>([
    {
      name: "a command that is not blocked",
      command: "cat a.txt",
      lists: { blocked: ["rm", "sudo"] },
      text: "one",
    },
    {
      name: "a blocked name as an argument",
      command: "echo rm a.txt",
      lists: { blocked: ["rm"] },
      text: "rm a.txt",
    },
    {
      name: "a blocked name in a comment",
      command: "echo a # rm gone.txt",
      lists: { blocked: ["rm"] },
      text: "a",
    },
    {
      name: "arguments that are known only at run time",
      command: 'for f in *.txt; do wc -l "$f"; done',
      lists: { blocked: ["rm -rf", "sudo "] },
    },
    {
      name: "a search with find",
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
      name: "a shell with a known command text",
      command: "bash -c 'cat a.txt'",
      lists: { allowed: ["bash -c", "cat"] },
      text: "one",
    },
    {
      name: "a variable as an argument",
      command: "echo $HOME",
      lists: { blocked: ["rm|mv|sudo"] },
      text: "/workspace",
    },
    {
      name: "arguments that are set with set",
      command: "set -e; set -- a.txt; cat $1",
      lists: { blocked: ["rm"] },
      text: "one",
    },
    {
      name: "the command [",
      command: "[ -f a.txt ] && cat a.txt",
      lists: { blocked: ["rm"] },
      text: "one",
    },
    {
      name: "spaces in a file glob with quotes",
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
      name: "a printed word that is also the name of a variable",
      command: "printf 'PATH %s' a",
      lists: { blocked: ["rm"] },
      text: "PATH a",
    },
    {
      name: "a command that a blocked pattern does not name",
      command: "cat *.txt",
      lists: { blocked: ["^(?:rm|mv) .*"] },
      text: "one\nx",
    },
  ])("$name", async ({ command, lists, text }) => {
    const result = await runInShell(lists, command);
    expect(result.outcome).toBe("ok");
    if (text !== undefined) expect(result.text).toBe(text);
    expect(await isSentToContainer(lists, command)).toBe(true);
  });

  it("and other commands are refused with the reason and the pattern", async () => {
    const { outcome, text } = await runInShell({ blocked: ["rm .*"] }, "ls && rm gone.txt");
    expect({ outcome, text }).toEqual({
      outcome: "error",
      text: expect.stringContaining("`rm gone.txt` matches the blocked pattern `rm .*`"),
    });
    expect((await runInShell({ allowed: ["ls"] }, "ls; cat a.txt")).text).toContain(
      "`cat a.txt` matches none of the allowed patterns: `ls`",
    );
    expect((await runInShell({ allowed: ["ls"] }, "ls $(")).text).toContain("cannot be parsed");
  });

  it.each([
    {
      name: "a file glob, whose words are unknown, for an allowed pattern that ends with $",
      lists: { allowed: ["cat a.txt$"] },
      command: "cat a.txt*",
    },
    {
      name: "a file glob for an allowed pattern that excludes characters",
      lists: { allowed: ["cat [^/]*$"] },
      command: "cat *",
    },
    {
      name: "a variable whose value a blocked pattern may match",
      lists: { blocked: ["git push.*--force"] },
      command: "git push $x",
    },
    {
      name: "more words than an allowed pattern that ends with $",
      lists: { allowed: ["ls$"] },
      command: "ls -la",
    },
  ])("other commands are not sent to a container: $name", async ({ lists, command }) =>
    expect(await isSentToContainer(lists, command)).toBe(false),
  );

  it("the service's own shell checks such a command when it runs, because then all its words are known", async () => {
    const { text, files } = await runInShell(
      { blocked: ["rm .*gone"] },
      "for f in a.txt gone.txt; do rm $f; done",
    );
    expect(text).toContain("matches the blocked pattern `rm .*gone`");
    expect([files.exists("a.txt"), files.exists("gone.txt")]).toEqual([false, true]);
  });

  it("and the description for the model contains the patterns", () => {
    const { description } = justBashRunner(Date.now, {
      filter: filterOf({ allowed: ["ls", "cat"], blocked: ["cat /etc"] }),
    });
    expect(description).toContain("`ls`, `cat`");
    expect(description).toContain("`cat /etc`");
  });
});

describe("command patterns", () => {
  it.each([
    {
      name: "a pattern that is not valid",
      patterns: ["ls", "("],
      index: 1,
      problem: "is no pattern of RE2 that can be used",
    },
    { name: "look-around", patterns: ["(?!rm)"], index: 0, problem: "is no pattern of RE2" },
    { name: "an empty pattern", patterns: [" "], index: 0, problem: "is empty" },
    {
      name: "a pattern that is too long",
      patterns: ["a".repeat(301)],
      index: 0,
      problem: "is longer than",
    },
    {
      name: "a list of patterns whose compiled programs are too large",
      patterns: ["(a{1,30}){1,30}", "(a{1,30}){1,30}", "(a{1,30}){1,30}"],
      index: 2,
      problem: "too large",
    },
    {
      name: "too many patterns",
      patterns: Array.from({ length: 51 }, () => "a"),
      index: 50,
      problem: "comes after the 50",
    },
  ])("are refused: $name", ({ patterns, index, problem }) =>
    expect(patternProblem(patterns)).toEqual({ index, problem: expect.stringContaining(problem) }),
  );

  it("have RE2 syntax", () =>
    expect(patternProblem(["(?i)git (status|diff)\\b", "ls.*"])).toBeNull());

  it("limit the cost of a check: a command that is too long for these patterns does not run", async () => {
    const blocked = Array.from({ length: 40 }, (_, index) => `[a-z ]*(?:ab?c? ?){1,9}x${index}`);
    expect(patternProblem(blocked)).toBeNull();
    const startedAt = performance.now();
    const { text } = await runInShell({ blocked }, `echo ${"abc ".repeat(16_000)}`);
    expect(text).toContain("pattern_too_costly");
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});
