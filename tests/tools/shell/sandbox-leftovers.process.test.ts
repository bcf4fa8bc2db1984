import { mkdir, readdir, readlink, symlink } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runCommandTool, sandboxRunner } from "../../../src/tools/shell";
import type { StagedFiles } from "../../../src/workspace/staged-files";
import { agentFiles, readAsText, runTool, type World } from "../files/agent-tree";
import { type LocalSandbox, localSandbox } from "./local-sandbox";

/**
 * Files and processes that a command leaves in its container, and how the next command handles
 * them.
 */
let sandbox: LocalSandbox;
beforeEach(async () => {
  sandbox = await localSandbox();
});
afterEach(() => sandbox.remove());

const LIMITS = { mostSeconds: 10, defaultSeconds: 10, outputBytes: 1_000 };
const run = (files: StagedFiles, command: string, timeout_seconds = 10) =>
  runTool(
    runCommandTool(sandboxRunner(sandbox, { root: sandbox.root }), LIMITS),
    { command, timeout_seconds },
    files,
  );

describe("a leftover of an earlier command in the container", () => {
  it.each([
    {
      leftover: "a link to a path outside of the workspace",
      command: "ln -s ../outside out",
      nextFiles: { out: "mine\n" },
    },
    {
      leftover: "a link to another file",
      command: "ln -s a.txt out",
      nextFiles: { "a.txt": "one\n", out: "mine\n" },
    },
    {
      leftover: "a link without a target",
      command: "ln -s nowhere out",
      nextFiles: { out: "mine\n" },
    },
    { leftover: "a pipe", command: "mkfifo out", nextFiles: { out: "mine\n" } },
    { leftover: "a folder", command: "mkdir out", nextFiles: { out: "mine\n" } },
    {
      leftover: "a folder with a file",
      command: "mkdir -p out/deep; echo x > out/deep/x",
      nextFiles: { out: "mine\n" },
    },
    {
      leftover: "a folder with a link",
      command: "mkdir out; ln -s /tmp out/in",
      nextFiles: { out: "mine\n" },
    },
    { leftover: "a file", command: "echo x > out", nextFiles: { "out/a": "mine\n" } },
    {
      leftover: "a link to a folder",
      command: "ln -s ../outside out",
      nextFiles: { "out/a": "mine\n" },
    },
    {
      leftover: "a hard link to a file",
      command: "ln a.txt out",
      nextFiles: { "a.txt": "one\n", out: "mine\n" },
    },
    { leftover: "no workspace", command: "cd ..; rm -rf workspace", nextFiles: { out: "mine\n" } },
    {
      leftover: "a link in place of the workspace",
      command: "cd ..; rm -rf workspace; ln -s outside workspace",
      nextFiles: { out: "mine\n" },
    },
    {
      leftover: "a file in place of the workspace",
      command: "cd ..; rm -rf workspace; echo x > workspace",
      nextFiles: { out: "mine\n" },
    },
    {
      leftover: "folders in place of the runner's own files",
      command: "mkdir -p ../tmp/.agent-names ../tmp/.agent-command",
      nextFiles: { out: "mine\n" },
    },
  ])("does not affect later commands: $leftover", async ({ command, nextFiles }) => {
    const outside = `${sandbox.root}/outside`;
    await mkdir(outside, { recursive: true });
    await run(await agentFiles({ workspace: { "a.txt": "one\n" } }), command);
    const files = await agentFiles({ workspace: nextFiles });
    expect(await run(files, "find . -type f | sort | xargs cat")).toEqual({
      outcome: "ok",
      text: Object.values(nextFiles).join("").trimEnd(),
    });
    expect(files.staged()).toMatchObject({ workspace: new Map(), directories: [] });
    expect(await readdir(outside)).toEqual([]);
  });

  it("that is a hard link does not change with the other file", async () => {
    const first = await agentFiles({ workspace: { "a.txt": "one\n" } });
    await run(first, "ln a.txt b.txt");
    expect(await readAsText(first, "b.txt")).toBe("one\n");
    const second = await agentFiles({ workspace: { "a.txt": "two\n", "b.txt": "one\n" } });
    expect((await run(second, "cat a.txt b.txt")).text).toBe("two\none");
    expect(second.staged().workspace).toEqual(new Map());
  });

  it("that is a link to a directory is not used for writes", async () => {
    await run(await agentFiles({}), "true");
    await mkdir(`${sandbox.root}/outside`);
    await symlink(`${sandbox.root}/outside`, `${sandbox.root}/workspace/dir`);
    await run(await agentFiles({ workspace: { "dir/a.txt": "mine\n" } }), "true");
    expect(await readdir(`${sandbox.root}/outside`)).toEqual([]);
  });
});

/** The files as the next call in the same round gets them. */
async function nextCall(world: World, files: StagedFiles): Promise<StagedFiles> {
  const { workspace, directories } = files.staged();
  const texts = await Promise.all(
    [...workspace].flatMap(([path, entry]) =>
      entry ? [readAsText(files, path).then((text) => [path, text] as const)] : [],
    ),
  );
  const unchanged = Object.entries(world.workspace ?? {}).filter(([path]) => !workspace.has(path));
  return agentFiles({
    ...world,
    workspace: Object.fromEntries([...unchanged, ...texts]),
    directories,
  });
}

describe("folders", () => {
  it("that are empty exist at the next command, until they are removed", async () => {
    const first = await agentFiles({});
    await run(first, "mkdir -p out/deep");
    expect(first.staged().directories).toEqual(["/workspace/out", "/workspace/out/deep"]);
    await sandbox.destroy();
    const second = await nextCall({}, first);
    expect((await run(second, "cd out && rmdir deep && echo x > log; ls")).text).toBe("log");
    expect([...second.staged().workspace.keys()]).toEqual(["out/log"]);
    expect(second.staged().directories).toEqual([]);
  });

  it("still exist when their last file is deleted", async () => {
    const files = await agentFiles({ workspace: { "d/x": "x" } });
    await run(files, "rm d/x");
    expect(files.staged()).toMatchObject({
      workspace: new Map([["d/x", null]]),
      directories: ["/workspace/d"],
    });
  });

  it("that replace files, and files that replace folders, are stored", async () => {
    const files = await agentFiles({ workspace: { "build/x": "x", "build/y/z": "z", plain: "p" } });
    const { text } = await run(
      files,
      "rm -r build plain; echo file > build; mkdir plain; echo in > plain/a",
    );
    expect([text, await readAsText(files, "build"), await readAsText(files, "plain/a")]).toEqual([
      "[no output]",
      "file\n",
      "in\n",
    ]);
    expect(files.exists("build/x")).toBe(false);
  });

  it("cannot be created in read-only directories, and the result says so", async () => {
    const files = await agentFiles({
      peers: { agent2: { "p.txt": "peer\n" } },
      contexts: { site: { a: "a" } },
    });
    const { text } = await run(files, "mkdir ../peers/agent2/d ../contexts/site/d ../peers/agent9");
    expect(text).toContain("another's snapshot");
    expect(files.staged().directories).toEqual([]);
  });
});

describe("the result says that it does not store", () => {
  it.each([
    {
      name: "a link",
      command: "ln -s a.txt link",
      expectedText: "/workspace/link is no plain file and was not kept.",
    },
    {
      name: "a pipe",
      command: "mkfifo pipe",
      expectedText: "/workspace/pipe is no plain file and was not kept.",
    },
    {
      name: "a file that became a link",
      command: "mv a.txt b.txt; ln -s b.txt a.txt",
      expectedText: "/workspace/a.txt is no plain file",
    },
  ])("$name", async ({ command, expectedText }) => {
    expect(
      (await run(await agentFiles({ workspace: { "a.txt": "one\n" } }), command)).text,
    ).toContain(expectedText);
  });
});

describe("a process of a command", () => {
  it.each([
    { name: "in the background", start: "sleep 300 &" },
    { name: "that is disowned", start: "nohup sleep 300 > /dev/null 2>&1 & disown" },
    { name: "in its own session", start: "setsid -f sleep 300" },
    { name: "without its environment", start: "env -i sleep 300 &" },
    {
      name: "that starts other processes",
      start: "(while true; do sleep 0.05; echo x > late; done) &",
    },
    { name: "that ignores signals", start: "(trap '' TERM HUP; sleep 300) &" },
    {
      name: "of a command that timed out",
      start: "setsid -f sleep 300; sleep 300",
      seconds: 1,
    },
  ])("ends with its command if it is a process $name", async ({ start, seconds = 10 }) => {
    const startedAt = performance.now();
    const { text } = await run(await agentFiles({}), `${start}\n`, seconds);
    expect(text).toMatch(seconds === 1 ? /took longer than 1 s/ : /^\[no output\]$/);
    // All these processes take minutes, so the runner has not waited for them.
    expect(performance.now() - startedAt).toBeLessThan(60_000);
    expect(await processesAt(`${sandbox.root}/workspace`)).toEqual([]);
  });

  it("is ended, but not a process of another sandbox", async () => {
    const other = await localSandbox();
    const sleeping = other.exec(`mkdir -p workspace && cd workspace && exec sleep 300`);
    try {
      await expect.poll(() => processesAt(`${other.root}/workspace`)).toHaveLength(1);
      await run(await agentFiles({}), "sleep 300 &");
      expect(await processesAt(`${other.root}/workspace`)).toHaveLength(1);
    } finally {
      await other.destroy();
      await sleeping;
      await other.remove();
    }
  });

  it("in the background does not change the exit code and the outputs", async () => {
    expect(await run(await agentFiles({}), "sleep 300 & echo o; echo e >&2; exit 7")).toEqual({
      outcome: "ok",
      text: "o\n[stderr]\ne\n[exit code 7]",
    });
  });
});

/** Ids of the processes of this machine whose working directory is this folder. */
async function processesAt(folder: string): Promise<string[]> {
  const processIds = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const folders = await Promise.all(
    processIds.map((id) => readlink(`/proc/${id}/cwd`).catch(() => null)),
  );
  return processIds.filter((_, index) => folders[index] === folder);
}
