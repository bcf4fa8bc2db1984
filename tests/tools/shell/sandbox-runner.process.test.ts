import { readdir } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommandTool, type SandboxClient, sandboxRunner } from "../../../src/tools/shell";
import { agentFiles, readAsText, runTool, type World } from "../files/agent-tree";
import { type LocalSandbox, localSandbox } from "./local-sandbox";

/**
 * The runner against real shells and files. It only uses what the published sandbox interface
 * promises.
 */
const BIN = new Uint8Array([0, 255, 254, 10, 13, 39, 92]);
const WORLD: World = {
  workspace: { "a.txt": "one\n", "it's $HOME.txt": "odd\n", "bin/b.bin": BIN, "gone.txt": "x\n" },
  peers: { agent2: { "p.txt": "peer\n" } },
  contexts: { site: { "index.html": "<p>\n" }, book: { "ch1.md": "# One\n" } },
  writable: ["book"],
};

let sandbox: LocalSandbox;
beforeEach(async () => {
  sandbox = await localSandbox();
});
afterEach(() => sandbox.remove());

const toolOver = (own: LocalSandbox, limits = { files: 100, fileBytes: 1_000 }) =>
  runCommandTool(sandboxRunner(own, { root: own.root, limits }), {
    mostSeconds: 10,
    defaultSeconds: 10,
    outputBytes: 1_000,
  });

describe("a sandbox as command runner", () => {
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
    { name: "keeps both outputs separate", command: "echo o; echo e >&2", text: "o\n[stderr]\ne" },
  ])("$name", async ({ command, directory, text }) => {
    expect(
      await runTool(toolOver(sandbox), { command, directory }, await agentFiles(WORLD)),
    ).toEqual({ outcome: "ok", text });
  });

  it("stores changed, new and deleted files, byte for byte", async () => {
    const files = await agentFiles(WORLD);
    await files.read("gone.txt");
    const command =
      "echo two >> a.txt; cp bin/b.bin copy; mkdir -p d/e; echo x > 'd/e/x y'; chmod +x a.txt; rm gone.txt; echo 2 > ../contexts/book/ch2.md";
    expect(await runTool(toolOver(sandbox), { command }, files)).toEqual({
      outcome: "ok",
      text: "[no output]",
    });
    expect(await readAsText(files, "a.txt")).toBe("one\ntwo\n");
    expect(files.stat("a.txt").executable).toBe(true);
    expect(Buffer.compare(await files.read("copy"), BIN)).toBe(0);
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
      says: ["another's snapshot", "for reading only"],
    },
    {
      name: "a file above the limit",
      command: "head -c 2000 /dev/zero > large",
      says: ["/workspace/large is larger than 1000 bytes and was not kept"],
    },
    {
      name: "names that disks do not support",
      command: "echo x > 'a:b'",
      says: ["contains a colon"],
    },
    {
      name: "links",
      command: "ln -s a.txt link",
      says: ["/workspace/link is no plain file and was not kept"],
    },
  ])("does not store $name, and says so", async ({ command, says }) => {
    const files = await agentFiles(WORLD);
    const { text } = await runTool(toolOver(sandbox), { command }, files);
    for (const part of says) expect(text).toContain(part);
    expect(files.staged()).toMatchObject({ workspace: new Map(), contexts: new Map() });
  });

  it("reverts an earlier command's leftovers, and transfers only differences", async () => {
    const tool = toolOver(sandbox);
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
        toolOver(sandbox),
        { command, timeout_seconds: 1 },
        await agentFiles({}),
      );
      expect(text).toContain("[The command was stopped: it took longer than 1 s.");
      expect(outcome).toBe("error");
    },
  );

  it.each([
    { name: "by its own time limit", command: "timeout 0.1 sleep 5", code: 124 },
    {
      name: "by a program that was killed for its memory",
      command: "sh -c 'kill -9 $$'",
      code: 137,
    },
    { name: "with the exit code of a timeout", command: "exit 124", code: 124 },
    { name: "by killing all processes", command: "kill -9 0", code: 137 },
    {
      name: "with its own message about a time limit",
      command: "echo 'timeout: sending signal TERM' >&2; exit 124",
      code: 124,
    },
  ])("keeps the changes of a command that ended $name", async ({ command, code }) => {
    const files = await agentFiles({});
    const { outcome, text } = await runTool(
      toolOver(sandbox),
      { command: `echo x > f; ${command}` },
      files,
    );
    expect({ outcome, text }).toEqual({
      outcome: "ok",
      text: expect.stringMatching(new RegExp(`\\[exit code ${code}\\]$`)),
    });
    expect(await readAsText(files, "f")).toBe("x\n");
  });

  it("keeps no change of a command that was stopped, and shows only its output until then", async () => {
    const files = await agentFiles({});
    const command = "echo x > f; echo out; echo err >&2; sleep 1000";
    const { outcome, text } = await runTool(
      toolOver(sandbox),
      { command, timeout_seconds: 1 },
      files,
    );
    expect(outcome).toBe("error");
    expect(text).toMatch(/^out\n\[stderr\]\nerr\n\[The command was stopped: [^\n]+$/);
  });

  it("runs the commands of one agent one after another, each over its own files", async () => {
    const tool = toolOver(sandbox);
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

  it("allows a command to delete transferred files, which counts as read", async () => {
    const files = await agentFiles(WORLD);
    await runTool(toolOver(sandbox), { command: "rm gone.txt" }, files);
    expect([...files.staged().workspace]).toEqual([["gone.txt", null]]);
    expect(files.accessed).toContainEqual({
      operation: "read",
      path: "/workspace/gone.txt",
      refused: null,
    });
  });

  it("refuses more files than its limit", async () => {
    const { outcome, text } = await runTool(
      toolOver(sandbox, { files: 2, fileBytes: 10 }),
      { command: "ls" },
      await agentFiles(WORLD),
    );
    expect({ outcome, text }).toMatchObject({
      outcome: "error",
      text: "There are more than 2 files: too many to run commands on.",
    });
  });

  it("that does not respond is reported to the model, and ends nothing else", async () => {
    const broken = {
      ...sandbox,
      exec: () => Promise.reject(new Error("Network connection lost.")),
    };
    const tool = runCommandTool(sandboxRunner(broken, { root: sandbox.root }));
    expect(await runTool(tool, { command: "ls" }, await agentFiles(WORLD))).toMatchObject({
      outcome: "error",
      text: "The container did not do its part (Network connection lost.). Nothing was kept; try again.",
    });
  });

  it("that does not respond may have had any effect if it has a network", async () => {
    const broken = {
      ...sandbox,
      exec: () => Promise.reject(new Error("Network connection lost.")),
    };
    const tool = runCommandTool(sandboxRunner(broken, { root: sandbox.root, actsOutside: true }));
    const { text } = await runTool(tool, { command: "ls" }, await agentFiles(WORLD));
    expect(text).toContain("what the command did elsewhere, nobody knows");
    expect(text).not.toContain("Nothing was kept; try again");
  });

  it("loses its processes and files when it is destroyed; the next command has a new one", async () => {
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

  it("gets no further request once its call is aborted", async () => {
    const stop = new AbortController();
    const aborting: SandboxClient = {
      ...sandbox,
      writeFile(...args) {
        stop.abort(new Error("cancelled"));
        return sandbox.writeFile(...args);
      },
    };
    const runner = sandboxRunner(aborting, { root: sandbox.root });
    const request = {
      command: "ls",
      directory: "/workspace",
      timeoutMs: 10_000,
      signal: stop.signal,
    };
    await expect(runner.run({ ...request, files: await agentFiles(WORLD) })).rejects.toThrow(
      "cancelled",
    );
    await runner.underWay();
    expect(sandbox.written).toHaveLength(1);
    expect(runner.underWay()).toBeNull();
  });

  it("is not awaited once the turn is cancelled", async () => {
    const stop = new AbortController();
    const runner = sandboxRunner(sandbox, { root: sandbox.root });
    const request = {
      command: "sleep 60",
      directory: "/workspace",
      timeoutMs: 120_000,
      signal: stop.signal,
    };
    const running = runner.run({ ...request, files: await agentFiles({}) });
    setTimeout(() => stop.abort(new Error("cancelled")), 100);
    const startedAt = performance.now();
    await expect(running).rejects.toThrow("cancelled");
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });
});
