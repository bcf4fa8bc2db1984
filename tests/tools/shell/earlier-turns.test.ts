import { describe, expect, it } from "vitest";
import { justBashRunner, runCommandTool } from "../../../src/tools/shell";
import { agentFiles, runTool, type World } from "../files/agent-tree";

const tool = runCommandTool(justBashRunner(Date.now));
const WORLD: World = {
  workspace: { "a.txt": "three\n" },
  contexts: { site: { "index.html": "user\n", "same.css": "s\n" } },
  turns: {
    turn_1: { "": { "a.txt": "one\n", "src/run.sh": "echo ran\n" } },
    turn_2: { "": { "a.txt": "two\n" }, site: { "index.html": "two\n", "same.css": "s\n" } },
  },
};
const shell = async (command: string, world = WORLD) => {
  const files = await agentFiles(world);
  return { ...(await runTool(tool, { command }, files)), files };
};

describe("a command reads earlier turns", () => {
  it.each([
    { name: "with cat", command: "cat /turns/turn_1/a.txt", text: "one" },
    { name: "with a pattern", command: "cat /turns/*/a.txt", text: "one\ntwo" },
    {
      name: "with grep -r, one turn after the other",
      command: "grep -rh o /turns | sort",
      text: "echo ran\none\ntwo\ntwo",
    },
    {
      name: "with diff of two turns",
      command: "diff /turns/turn_1/a.txt /turns/turn_2/a.txt",
      text: "-one\n+two",
    },
    {
      name: "in a pipe that reads several turns at once",
      command: "paste <(cat /turns/turn_1/a.txt) <(cat /turns/turn_2/a.txt) a.txt",
      text: "one\ttwo\tthree",
    },
    {
      name: "after cd, and lists them",
      command: "cd /turns/turn_2 && ls && ls .. && cat contexts/site/index.html",
      text: "a.txt\ncontexts\nturn_1\nturn_2\ntwo",
    },
    {
      name: "to see what the user changed",
      command:
        "for f in index.html same.css; do cmp -s /turns/turn_2/contexts/site/$f /contexts/site/$f || echo $f; done",
      text: "index.html",
    },
    {
      name: "and copies from them",
      command:
        "cp -r /turns/turn_1/src . && cp /turns/turn_1/a.txt b.txt && sh src/run.sh && cat b.txt",
      text: "ran\none",
    },
    {
      name: "but does not find them from the root",
      command: "ls / && find / -name a.txt",
      text: "contexts\npeers\ntmp\nworkspace\n/workspace/a.txt",
    },
  ])("$name", async ({ command, text }) => {
    const { outcome, text: output } = await shell(command);
    expect(outcome).toBe("ok");
    expect(output).toContain(text);
  });

  it.each([
    { name: "writes", command: "echo x > /turns/turn_1/a.txt" },
    { name: "appends", command: "echo x >> /turns/turn_1/a.txt" },
    { name: "deletes", command: "rm -r /turns/turn_1/src" },
    { name: "moves", command: "mv /turns/turn_1/a.txt b.txt" },
    { name: "creates directories", command: "mkdir /turns/turn_1/new" },
    { name: "changes modes", command: "chmod +x /turns/turn_1/src/run.sh" },
  ])("and never $name there: the refusal says what to do", async ({ command }) => {
    const { text, files } = await shell(command);
    expect(text).toContain("is from an earlier turn and cannot be changed. Copy it");
    expect(files.staged().workspace.size).toBe(0);
  });

  it("of which each has more files than a command may visit, without visiting them from the root", async () => {
    const manyFiles = Object.fromEntries(
      Array.from({ length: 3_000 }, (_, index) => [`f${index}`, "x"]),
    );
    const turns = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`turn_${index + 1}`, { "": manyFiles }]),
    );
    const { outcome, text } = await shell("grep -rl three / ; find / -type f | wc -l", {
      ...WORLD,
      turns,
    });
    expect([outcome, text]).toEqual(["ok", "//workspace/a.txt\n3"]);
  });

  it("and a read counts as a read of that path", async () => {
    const { files } = await shell("cat /turns/turn_1/a.txt");
    expect(files.accessed).toContainEqual({
      operation: "read",
      path: "/turns/turn_1/a.txt",
      refused: null,
    });
  });
});
