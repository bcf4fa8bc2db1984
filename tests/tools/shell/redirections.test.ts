import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, readAsText, runTool, type World } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
const WORLD: World = {
  workspace: { "a.txt": "one\ntwo\n", d: new Uint8Array([1]) },
  peers: { agent1: { "p.txt": "theirs\n" } },
  contexts: { site: { "a.txt": "site\n" } },
};
const shell = async (command: string) => {
  const files = await agentFiles(WORLD);
  return { ...(await runTool(tool, { command }, files)), files };
};
const REASON =
  "is another's snapshot and cannot be changed. Copy it into /workspace and change the copy.]";

describe("a redirection that is refused", () => {
  it.each([
    {
      name: "fails only its command",
      command: "echo before; echo x > /peers/agent1/new; echo after $?",
      output: "before\nafter 1",
    },
    {
      name: "fails its command if the file exists",
      command: "echo x > /peers/agent1/p.txt; echo after $?",
      output: "after 1",
    },
    {
      name: "fails its command if it appends",
      command: "echo x >> /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails its command if it redirects stderr",
      command: "ls nope 2> /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails its command if it redirects both outputs",
      command: "ls nope &> /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails its command if the target is in a variable",
      command: "for f in /peers/agent1/new out; do echo $f > $f; done; cat out",
      output: "out",
    },
    {
      name: "fails its command if the target is a relative path",
      command: "cd /peers/agent1; echo x > new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails a group of commands",
      command: "{ echo x; echo y; } > /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails a subshell",
      command: "(echo x) > /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails a loop",
      command: "while read -r l; do echo $l; done < a.txt > /peers/agent1/new; echo after $?",
      output: "after 1",
    },
    {
      name: "fails its command in a function",
      command: "f() { echo in; echo x > /peers/agent1/new; }; f; echo after $?",
      output: "in\nafter 1",
    },
    {
      name: "fails its command in a substitution",
      command: 'echo "[$(echo in; echo x > /peers/agent1/new)]"; echo after',
      output: "[in]\nafter",
    },
    {
      name: "fails its command in a pipe",
      command: "echo x > /peers/agent1/new | wc -l; echo after",
      output: "0\nafter",
    },
    {
      name: "fails its command in a script",
      command: "bash -c 'echo x > /peers/agent1/new; echo in $?'; echo after",
      output: "in 1\nafter",
    },
    {
      name: "runs the command after ||",
      command: "echo x > /peers/agent1/new || echo instead",
      output: "instead",
    },
  ])("$name", async ({ command, output }) => {
    const { outcome, text, files } = await shell(command);
    expect({ outcome, text }).toEqual({ outcome: "ok", text: expect.stringContaining(REASON) });
    expect(text.slice(0, text.indexOf("\n[stderr]\n"))).toBe(output);
    const refused = files.accessed.filter(
      ({ operation, refused }) => operation === "write" && refused !== null,
    );
    expect(refused).toEqual([
      {
        operation: "write",
        path: expect.stringMatching(/^\/peers\/agent1\//),
        refused: "read_only",
      },
    ]);
  });

  it("prevents the command after &&", async () => {
    const { text, files } = await shell(
      "cat a.txt > /dev/null; cat a.txt > /peers/agent1/new && rm a.txt",
    );
    expect(text).toContain("bash: /peers/agent1/new: cannot open redirect target");
    expect(files.exists("a.txt")).toBe(true);
  });

  it("ends a script after set -e", async () => {
    const { text, files } = await shell(
      "set -e; echo before; echo x > /etc/new; echo after > after",
    );
    expect(text).toMatch(
      /^before\n\[stderr\]\n[\s\S]+\/etc\/new cannot be written[\s\S]+\[exit code 1\]$/,
    );
    expect(files.exists("after")).toBe(false);
  });
});

describe("a redirection", () => {
  it.each([
    { name: "writes and appends", command: "echo a > f; echo b >> f; cat f", text: "a\nb" },
    { name: "replaces a file", command: "echo x > a.txt; cat a.txt", text: "x" },
    { name: "empties a file", command: ": > a.txt; > b; stat -c %s a.txt b", text: "0\n0" },
    {
      name: "writes the outputs to separate files",
      command: "{ echo o; echo e >&2; } > o 2> e; cat o; cat e",
      text: "o\ne",
    },
    {
      name: "writes both outputs to one file",
      command: "{ echo o; echo e >&2; } > f 2>&1; cat f",
      text: "o\ne",
    },
    {
      name: "writes both outputs to one file in the short form",
      command: "{ echo o; echo e >&2; } &> f; echo x &>> f; cat f",
      text: "o\ne\nx",
    },
    {
      name: "can swap the outputs",
      command: "{ echo o; echo e >&2; } 2>&1 > f | sed s/^/-/; cat f",
      text: "-e\no",
    },
    {
      name: "may be nested",
      command: "{ echo a > in; echo b; { echo c; } > in2; } > out; cat in out in2",
      text: "a\nb\nc",
    },
    { name: "may precede the command", command: "> f echo a; cat f", text: "a" },
    {
      name: "is the last one if there are several",
      command: "echo a > f > g; cat f g; wc -c < f",
      text: "a\n0",
    },
    { name: "of exec stays open", command: "exec 3>&1 > f; echo a; exec >&3; cat f", text: "a" },
    {
      name: "writes to a descriptor of the script",
      command: "exec 3> f; echo a >&3; echo b > g; exec 3>&-; cat f g",
      text: "a\nb",
    },
    {
      name: "writes to /dev/stdout and /dev/null",
      command:
        "echo a > /dev/stdout; echo b 2> /dev/null > /dev/stdout; ls nope 2> /dev/stdout; true",
      text: "a\nb\nls: nope: No such file or directory",
    },
    {
      name: "discards output",
      command: "echo a > /dev/null; ls nope 2> /dev/null; ls nope &> /dev/null; echo b",
      text: "b",
    },
    {
      name: "of a loop reads and writes",
      command: 'while read -r l; do echo "$l!"; done < a.txt > f; cat f',
      text: "one!\ntwo!",
    },
    {
      name: "does not replace a file after set -C",
      command: "set -C; echo x > a.txt 2> /dev/null; echo y >| a.txt; cat a.txt",
      text: "y",
    },
    { name: "writes to a process", command: "echo a > >(cat); echo b", text: "a\nb" },
    {
      name: "evaluates its target once",
      command: 'i=0; echo x > "f$((++i))"; echo $i; ls f*',
      text: "1\nf1",
    },
  ])("$name", async ({ command, text }) => {
    expect((await shell(command)).text.split("\n[stderr]")[0]).toBe(text);
  });

  it("does not read the file that it replaces", async () => {
    const { files } = await shell("echo x > a.txt; echo y 2> b > c");
    expect(files.accessed.filter(({ operation }) => operation === "read")).toEqual([]);
    expect(await readAsText(files, "a.txt")).toBe("x\n");
  });
});
