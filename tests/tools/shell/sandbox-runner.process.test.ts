import { readdir } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommandTool, type SandboxClient, sandboxRunner } from "../../../src/tools/shell";
import { agentFiles, readAsText, runTool, type World } from "../files/agent-tree";
import { type LocalSandbox, localSandbox } from "./local-sandbox";

/** These tests run real shells on real files, see `LocalSandbox`. */
const BINARY = new Uint8Array([0, 255, 254, 10, 13, 39, 92]);
const WORLD: World = {
  workspace: {
    "a.txt": "one\n",
    "it's $HOME.txt": "odd\n",
    "bin/b.bin": BINARY,
    "gone.txt": "x\n",
  },
  peers: { agent2: { "p.txt": "peer\n" } },
  contexts: { site: { "index.html": "<p>\n" }, book: { "ch1.md": "# One\n" } },
  writable: ["book"],
};

let sandbox: LocalSandbox;
beforeEach(async () => {
  sandbox = await localSandbox();
});
afterEach(() => sandbox.remove());

const toolFor = (usedSandbox: LocalSandbox, limits = { files: 100, fileBytes: 1_000 }) =>
  runCommandTool(sandboxRunner(usedSandbox, { root: usedSandbox.root, limits }), {
    mostSeconds: 10,
    defaultSeconds: 10,
    outputBytes: 1_000,
  });

describe("earlier turns in a sandbox", () => {
  const turns = {
    turn_1: { "": Object.fromEntries([..."abcdefgh"].map((name) => [name, "x\n"])) },
  };

  it("are not copied, and do not count into the limit of files", async () => {
    const files = await agentFiles({ workspace: { "a.txt": "one\n" }, turns });
    const tool = toolFor(sandbox, { files: 2, fileBytes: 1_000 });
    const { outcome, text } = await runTool(tool, { command: "ls .. && cat a.txt" }, files);
    expect([outcome, text]).toEqual(["ok", "attempts\ncontexts\npeers\ntmp\nworkspace\none"]);
    expect(files.accessed.filter(({ path }) => path.startsWith("/turns"))).toEqual([]);
  });

  it("cannot be the directory of a command, and the refusal names the tool that copies", async () => {
    const files = await agentFiles({ turns });
    const args = { command: "ls", directory: "/turns/turn_1" };
    expect(await runTool(toolFor(sandbox), args, files)).toMatchObject({
      outcome: "error",
      text: expect.stringMatching(/a container, which has no \/turns.* with copy_file/),
    });
  });
});

describe("a sandbox", () => {
  it.each([
    {
      name: "starts in the workspace, with all files",
      command: 'basename "$PWD"; find . -type f | sort',
      text: "workspace\n./a.txt\n./bin/b.bin\n./gone.txt\n./it's $HOME.txt",
    },
    {
      name: "has peers' files and contexts",
      command: "cat ../peers/agent2/p.txt ../contexts/site/index.html",
      text: "peer\n<p>",
    },
    { name: "starts in the requested directory", command: "ls", directory: "bin", text: "b.bin" },
    { name: "has the machine's programs", command: "printf '\\377' | od -An -tx1", text: " ff" },
    {
      name: "treats quotes and line feeds literally",
      command: "echo \"it's\" '$x'\ncat <<'E'\n'\"`\nE",
      text: "it's $x\n'\"`",
    },
    { name: "reports the exit code", command: "exit 3", text: "[exit code 3]" },
    {
      name: "returns both outputs separately",
      command: "echo o; echo e >&2",
      text: "o\n[stderr]\ne",
    },
  ])("$name", async ({ command, directory, text }) => {
    expect(
      await runTool(toolFor(sandbox), { command, directory }, await agentFiles(WORLD)),
    ).toEqual({ outcome: "ok", text });
  });

  it("stores changed, new and deleted files, byte for byte", async () => {
    const files = await agentFiles(WORLD);
    await files.read("gone.txt");
    const command =
      "echo two >> a.txt; cp bin/b.bin copy; mkdir -p d/e; echo x > 'd/e/x y'; chmod +x a.txt; rm gone.txt; echo 2 > ../contexts/book/ch2.md";
    expect(await runTool(toolFor(sandbox), { command }, files)).toEqual({
      outcome: "ok",
      text: "[no output]",
    });
    expect(await readAsText(files, "a.txt")).toBe("one\ntwo\n");
    expect(files.stat("a.txt").executable).toBe(true);
    expect(Buffer.compare(await files.read("copy"), BINARY)).toBe(0);
    expect(await readAsText(files, "d/e/x y")).toBe("x\n");
    expect(await readAsText(files, "/contexts/book/ch2.md")).toBe("2\n");
    expect(files.exists("gone.txt")).toBe(false);
    expect([...files.staged().workspace.keys()].sort()).toEqual([
      "a.txt",
      "copy",
      "d/e/x y",
      "gone.txt",
    ]);
  });

  it.each([
    {
      name: "a read-only file",
      command: "echo x > ../peers/agent2/p.txt; echo y > ../contexts/site/new",
      expectedTexts: ["another's snapshot", "for reading only"],
    },
    {
      name: "a file above the limit",
      command: "head -c 2000 /dev/zero > large",
      expectedTexts: ["/workspace/large is larger than 1000 bytes and was not kept"],
    },
    {
      name: "names that disks do not support",
      command: "echo x > 'a:b'",
      expectedTexts: ["contains a colon"],
    },
    {
      name: "links",
      command: "ln -s a.txt link",
      expectedTexts: ["/workspace/link is no plain file and was not kept"],
    },
  ])("does not store $name, and the result says so", async ({ command, expectedTexts }) => {
    const files = await agentFiles(WORLD);
    const { text } = await runTool(toolFor(sandbox), { command }, files);
    for (const expectedText of expectedTexts) expect(text).toContain(expectedText);
    expect(files.staged()).toMatchObject({ workspace: new Map(), contexts: new Map() });
  });

  it("restores the files that an earlier command has changed, and copies only differences", async () => {
    const tool = toolFor(sandbox);
    await runTool(
      tool,
      { command: "echo x > ../peers/agent2/p.txt; echo y > left; chmod +x a.txt" },
      await agentFiles(WORLD),
    );
    sandbox.written.length = 0;
    const { text } = await runTool(
      tool,
      { command: "cat ../peers/agent2/p.txt; ls; test -x a.txt" },
      await agentFiles(WORLD),
    );
    expect(text).toBe("peer\na.txt\nbin\ngone.txt\nit's $HOME.txt\n[exit code 1]");
    expect(sandbox.written.filter((path) => !path.startsWith("/tmp/"))).toEqual([
      "/peers/agent2/p.txt",
    ]);
  });

  it.each(["while true; do :; done", "sleep 1000", "trap '' TERM; while true; do :; done"])(
    "stops %s",
    async (command) => {
      const { outcome, text } = await runTool(
        toolFor(sandbox),
        { command, timeout_seconds: 1 },
        await agentFiles({}),
      );
      expect(text).toContain("[The command was stopped: it took longer than 1 s.");
      expect(outcome).toBe("error");
    },
  );

  it.each([
    {
      name: "at the time limit of the command `timeout`",
      command: "timeout 0.1 sleep 5",
      code: 124,
    },
    {
      name: "because a program was killed",
      command: "sh -c 'kill -9 $$'",
      code: 137,
    },
    { name: "with the exit code of a timeout", command: "exit 124", code: 124 },
    { name: "because it killed all processes", command: "kill -9 0", code: 137 },
    {
      name: "with a message about a time limit",
      command: "echo 'timeout: sending signal TERM' >&2; exit 124",
      code: 124,
    },
  ])("stores the changes of a command that ended $name", async ({ command, code }) => {
    const files = await agentFiles({});
    const { outcome, text } = await runTool(
      toolFor(sandbox),
      { command: `echo x > f; ${command}` },
      files,
    );
    expect({ outcome, text }).toEqual({
      outcome: "ok",
      text: expect.stringMatching(new RegExp(`\\[exit code ${code}\\]$`)),
    });
    expect(await readAsText(files, "f")).toBe("x\n");
  });

  it("stores no change of a command that is stopped, and returns its output so far", async () => {
    const files = await agentFiles({});
    const command = "echo x > f; echo out; echo err >&2; sleep 1000";
    const { outcome, text } = await runTool(
      toolFor(sandbox),
      { command, timeout_seconds: 1 },
      files,
    );
    expect(outcome).toBe("error");
    expect(text).toMatch(/^out\n\[stderr\]\nerr\n\[The command was stopped: [^\n]+$/);
  });

  it("runs the commands of an agent one after the other, each with its own files", async () => {
    const tool = toolFor(sandbox);
    const [first, second] = [
      await agentFiles({ workspace: { a: "1\n" } }),
      await agentFiles({ workspace: { b: "2\n" } }),
    ];
    const results = await Promise.all([
      runTool(tool, { command: "sleep 0.2; ls" }, first),
      runTool(tool, { command: "ls" }, second),
    ]);
    expect(results.map(({ text }) => text)).toEqual(["a", "b"]);
  });

  it("allows a command to delete copied files, because they count as read", async () => {
    const files = await agentFiles(WORLD);
    await runTool(toolFor(sandbox), { command: "rm gone.txt" }, files);
    expect([...files.staged().workspace]).toEqual([["gone.txt", null]]);
    expect(files.accessed).toContainEqual({
      operation: "read",
      path: "/workspace/gone.txt",
      refused: null,
    });
  });

  it("refuses an agent with more files than the limit", async () => {
    const { outcome, text } = await runTool(
      toolFor(sandbox, { files: 2, fileBytes: 10 }),
      { command: "ls" },
      await agentFiles(WORLD),
    );
    expect({ outcome, text }).toMatchObject({
      outcome: "error",
      text: "There are more than 2 files: too many to run commands on.",
    });
  });

  it("that does not respond is an error for the model", async () => {
    const brokenSandbox = {
      ...sandbox,
      exec: () => Promise.reject(new Error("Network connection lost.")),
    };
    const tool = runCommandTool(sandboxRunner(brokenSandbox, { root: sandbox.root }));
    expect(await runTool(tool, { command: "ls" }, await agentFiles(WORLD))).toMatchObject({
      outcome: "error",
      text: "The container did not do its part (Network connection lost.). Nothing was kept; try again.",
    });
  });

  it("that does not respond may have had other effects if it has a network", async () => {
    const brokenSandbox = {
      ...sandbox,
      exec: () => Promise.reject(new Error("Network connection lost.")),
    };
    const tool = runCommandTool(
      sandboxRunner(brokenSandbox, { root: sandbox.root, actsOutside: true }),
    );
    const { text } = await runTool(tool, { command: "ls" }, await agentFiles(WORLD));
    expect(text).toContain("what the command did elsewhere, nobody knows");
    expect(text).not.toContain("Nothing was kept; try again");
  });

  it("loses its processes and files when it is destroyed, and the next command gets a new sandbox", async () => {
    const runner = sandboxRunner(sandbox, { root: sandbox.root });
    const tool = runCommandTool(runner, {
      mostSeconds: 30,
      defaultSeconds: 30,
      outputBytes: 1_000,
    });
    const running = runTool(tool, { command: "echo x > here; sleep 25" }, await agentFiles({}));
    await vi.waitFor(
      async () => expect(await readdir(`${sandbox.root}/workspace`)).toEqual(["here"]),
      5_000,
    );
    await sandbox.destroy();
    expect((await running).outcome).toBe("error");
    expect(runner.underWay()).toBeNull();
    expect(await runTool(tool, { command: "ls" }, await agentFiles({}))).toEqual({
      outcome: "ok",
      text: "[no output]",
    });
    expect(sandbox.started).toBe(2);
  });

  it("gets no further request after an abort of the call", async () => {
    const controller = new AbortController();
    const abortingSandbox: SandboxClient = {
      ...sandbox,
      writeFile(...args) {
        controller.abort(new Error("cancelled"));
        return sandbox.writeFile(...args);
      },
    };
    const runner = sandboxRunner(abortingSandbox, { root: sandbox.root });
    const request = {
      command: "ls",
      directory: "/workspace",
      timeoutMs: 10_000,
      signal: controller.signal,
    };
    await expect(runner.run({ ...request, files: await agentFiles(WORLD) })).rejects.toThrow(
      "cancelled",
    );
    await runner.underWay();
    expect(sandbox.written).toHaveLength(1);
    expect(runner.underWay()).toBeNull();
  });

  it("is no longer awaited after an abort of the call", async () => {
    const controller = new AbortController();
    const runner = sandboxRunner(sandbox, { root: sandbox.root });
    const request = {
      command: "sleep 60",
      directory: "/workspace",
      timeoutMs: 120_000,
      signal: controller.signal,
    };
    const running = runner.run({ ...request, files: await agentFiles({}) });
    setTimeout(() => controller.abort(new Error("cancelled")), 100);
    const startedAt = performance.now();
    await expect(running).rejects.toThrow("cancelled");
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});
