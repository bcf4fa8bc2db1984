import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, runTool, type World } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
const WORLD: World = {
  workspace: { "a.txt": "mine\n", "src/main.py": "mine\n", "src/own.py": "own\n", "d/e": "e\n" },
  peers: {
    agent1: { "a.txt": "theirs\n", "src/main.py": "theirs\n", "src/lib/util.py": "util\n" },
  },
  contexts: {
    site: { "a.txt": "site\n" },
    kit: { "peers/p": "p\n" },
    book: { "ch1.md": "# One\n" },
  },
  writable: ["book"],
};
const shell = async (command: string) => {
  const files = await agentFiles(WORLD);
  return { ...(await runTool(tool, { command }, files)), files };
};

describe("a command on files", () => {
  it.each([
    { name: "copies a file over another", command: "cp d/e a.txt; cat a.txt", text: "e" },
    {
      name: "copies a peer's file over a file of the workspace",
      command: "cp /peers/agent1/a.txt .; cat a.txt",
      text: "theirs",
    },
    {
      name: "copies a file of a context over a file of the workspace",
      command: "cp /contexts/site/a.txt a.txt; cat a.txt",
      text: "site",
    },
    {
      name: "copies a file of the workspace over a file of a context",
      command: "cp d/e /contexts/book/ch1.md; cat /contexts/book/ch1.md",
      text: "e",
    },
    {
      name: "copies a scratch file over a file of the workspace, and back",
      command: "echo s > /tmp/s; cp /tmp/s a.txt; cp d/e /tmp/s; cat a.txt /tmp/s",
      text: "s\ne",
    },
    {
      name: "copies executable files to scratch and back",
      command:
        "echo 'echo ran' > r; chmod +x r; cp r /tmp/r; /tmp/r; cp /tmp/r r2; ./r2; mv /tmp/r r3; ./r3",
      text: "ran\nran\nran",
    },
    {
      name: "copies scratch files over each other",
      command: "echo s > /tmp/s; echo t > /tmp/t; cp /tmp/s /tmp/t; cat /tmp/t",
      text: "s",
    },
    {
      name: "copies all files of a peer",
      command: "cp -r /peers/agent1/. .; cat a.txt src/main.py src/own.py src/lib/util.py",
      text: "theirs\ntheirs\nown\nutil",
    },
    {
      name: "copies all files of a peer with a pattern",
      command: "cp -r /peers/agent1/* .; cat a.txt src/main.py src/own.py src/lib/util.py",
      text: "theirs\ntheirs\nown\nutil",
    },
    {
      name: "merges a peer's directory into a directory of the workspace",
      command: "cp -r /peers/agent1/src .; cat src/main.py src/own.py src/lib/util.py",
      text: "theirs\nown\nutil",
    },
    {
      name: "merges directories in scratch, and back",
      command:
        "cp -r src /tmp; cp -r /peers/agent1/src /tmp; cp -r /tmp/src .; cat src/main.py src/own.py src/lib/util.py",
      text: "theirs\nown\nutil",
    },
    { name: "moves a file over another", command: "mv d/e a.txt; cat a.txt; ls d", text: "e" },
    {
      name: "moves a scratch file over a file of the workspace",
      command: "echo s > /tmp/s; mv /tmp/s a.txt; cat a.txt; ls /tmp",
      text: "s",
    },
    {
      name: "moves a file of the workspace over a scratch file",
      command: "echo s > /tmp/s; mv d/e /tmp/s; cat /tmp/s; ls d",
      text: "e",
    },
    {
      name: "moves a directory into another",
      command: "mkdir k; mv d k/; find k -type f",
      text: "k/d/e",
    },
    {
      name: "splits its input into existing files",
      command: "for i in 1 2; do seq 4 | split -l 2 - p; done; cat paa pab",
      text: "1\n2\n3\n4",
    },
    {
      name: "splits a file into existing files",
      command: "seq 4 > s; echo old > pab; split -l 2 s p; cat paa pab",
      text: "1\n2\n3\n4",
    },
  ])("$name", async ({ command, text }) => {
    expect(await shell(command)).toMatchObject({ outcome: "ok", text });
  });

  it.each([
    { name: "a file", command: "cp a.txt a.txt" },
    { name: "a file with another path to it", command: "cp a.txt ./d/../a.txt" },
    {
      name: "a file of a context with its other path",
      command: "cp contexts/book/ch1.md /contexts/book/ch1.md",
    },
    { name: "a scratch file", command: "echo s > /tmp/s; cp /tmp/s /tmp/../tmp/s" },
    {
      name: "a file whose name has another Unicode form",
      command: "echo x > caf\u00e9; cp caf\u00e9 cafe\u0301",
    },
  ])("refuses to copy $name over itself", async ({ command }) => {
    expect((await shell(command)).text).toMatch(
      /^\[stderr\]\ncp: '[^']+' and '[^']+' are the same file\n\[exit code 1\]$/,
    );
  });

  it.each([
    {
      name: "into itself",
      command: "cp -r src src/sub",
      expectedText: "cannot copy 'src' into itself",
    },
    {
      name: "into itself with its other path",
      command: "cp -r contexts/book /contexts/book/sub",
      expectedText: "cannot copy 'contexts/book' into itself",
    },
    {
      name: "with a file that may not exist at its target",
      command: "cp -r /contexts/kit/. .",
      expectedText: "/workspace/peers leads to /peers",
    },
    { name: "over a file", command: "cp -r d a.txt", expectedText: "/workspace/a.txt is a file" },
  ])("refuses to copy a directory $name", async ({ command, expectedText }) => {
    expect((await shell(command)).text).toContain(expectedText);
  });

  it("recognizes that two paths lead to the same file", async () => {
    const { text } = await shell(
      "[ contexts/book/ch1.md -ef /contexts/book/ch1.md ] && echo same; [ a.txt -ef d/e ] || echo others",
    );
    expect(text).toBe("same\nothers");
  });
});
