import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WireEvent } from "../../../src/protocol/events";
import { worksOnFiles } from "../../../simulated/providers/coding";
import { paced } from "../../../simulated/providers/scripts";
import { runningService } from "../../e2e/support/running-service";
import { Watcher } from "../../e2e/support/watcher";
import { runAt } from "../commands/terminal";

/**
 * A folder is pushed, a team works on it, the service is killed during the presentation, and the
 * result is pulled.
 */

const run = promisify(execFile);
const PACE = { ttftMs: 150, tokensPerSecond: 400 };
const MODELS = {
  editor: paced(
    PACE,
    worksOnFiles({
      first: [
        [
          "run_command",
          {
            command:
              "cat /contexts/site/a.txt && cp -r /contexts/site/src . && echo early > /contexts/site/a.txt",
          },
        ],
      ],
      answer: "The start page wants three changes.",
      last: [
        [
          "run_command",
          {
            command:
              "cd /contexts/site && echo better > a.txt && mkdir -p docs && echo new > docs/new.md",
          },
        ],
        [
          "edit_file",
          { path: "/contexts/site/src/run.sh", old_string: "echo 1", new_string: "echo 2" },
        ],
        ["write_file", { path: "/contexts/site/LICENSE", content: "mine" }],
        [
          "run_command",
          { command: "cd /contexts/site && cat old.txt && rm old.txt && echo theirs > both.txt" },
        ],
      ],
      final: { text: "Three changes are made. ".repeat(20) },
    }),
  ),
};
const FILES = {
  "a.txt": "one\ntwo\n",
  "src/run.sh": "#!/bin/sh\necho 1\n",
  "old.txt": "old\n",
  "both.txt": "both\n",
  LICENSE: "ours\n",
  "untouched.txt": "same\n",
};

const stack = runningService(MODELS);
let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "given-"));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const cli = (cwd: string, ...args: string[]) =>
  runAt({ cwd }, ...args, "--server", stack.service.url);
const text = (root: string, file: string) => readFile(path.join(root, file), "utf8");
const fileExists = (root: string, file: string) =>
  stat(path.join(root, file)).then(
    () => true,
    () => false,
  );

async function folderOf(name: string): Promise<string> {
  const root = path.join(folder, name);
  for (const [file, content] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content, { mode: file.endsWith(".sh") ? 0o755 : 0o644 });
  }
  return root;
}

const TEAM = {
  config: {
    orchestrator: {
      context_paths: [{ path: "site", permission: "write", protected_paths: ["LICENSE"] }],
    },
  },
  backend: { enable_mcp_command_line: true },
};
const ask = () =>
  stack.client.start({
    baseUrl: stack.providers.baseUrl,
    agents: ["one", "two"].map((id) => ({ id, model: "editor" })),
    question: "Make the start page better.",
    ...TEAM,
  });

it("a run without a pushed folder is refused before it costs anything, and the message names the next command", async () => {
  await expect(ask()).rejects.toThrow("Run `massgen-edge push --name site`.");
});

/**
 * Follows the session until the presenter writes, kills the service, and follows the turn to its
 * end.
 */
async function killWhilePresenting(id: string): Promise<void> {
  const watcher = new Watcher(`${stack.service.url}/api/sessions/${id}/turns/1/events`);
  const hasWritten = () =>
    watcher.frames.some((frame) => frame.includes('"path":"/contexts/site/docs/new.md"'));
  await expect.poll(hasWritten, { timeout: 60_000, interval: 10 }).toBe(true);
  await stack.service.kill();
  await sleep(200);
  await stack.service.start();
  await stack.client.status(id);
  await watcher.ended;
}

/** Checks that the kill interrupted a call, and that forbidden writes of the team were refused. */
function checkLog(events: readonly WireEvent[]): void {
  expect(
    events.some(
      (event) =>
        event.type === "tool.interrupted" ||
        (event.type === "call.failed" && event.class === "interrupted"),
    ),
  ).toBe(true);
  const accesses = events.flatMap((event) =>
    event.type === "files.accessed" ? event.accesses : [],
  );
  expect(accesses).toContainEqual({
    operation: "write",
    path: "/contexts/site/a.txt",
    refused: "read_only",
  });
  expect(accesses).toContainEqual({
    operation: "write",
    path: "/contexts/site/LICENSE",
    refused: "protected",
  });
}

/**
 * Checks a pull with a conflict: `pull` names the file that was changed on both sides, and writes
 * the other files only with --skip-conflicts.
 */
async function checkConflict(here: string, id: string): Promise<void> {
  await writeFile(path.join(here, "both.txt"), "mine\n");
  const expectedSteps =
    "write\ta.txt\nconflict\tboth.txt\tchanged on both sides\nwrite\tdocs/new.md\ndelete\told.txt\nwrite\tsrc/run.sh\n";
  const dryRun = await cli(here, "pull", "--session", id, "--dry-run");
  expect([dryRun.code, dryRun.stdout]).toEqual([1, expectedSteps]);
  expect(await text(here, "a.txt")).toBe(FILES["a.txt"]);

  await expect(cli(here, "pull", "--session", id, "--apply")).rejects.toThrow(
    "Nothing was written",
  );
  const applied = await cli(here, "pull", "--session", id, "--apply", "--skip-conflicts");
  expect(applied.code).toBe(1);
  expect([
    await text(here, "a.txt"),
    await text(here, "both.txt"),
    await text(here, "src/run.sh"),
  ]).toEqual(["better\n", "mine\n", "#!/bin/sh\necho 2\n"]);
  expect([await fileExists(here, "old.txt"), await text(here, "LICENSE")]).toEqual([
    false,
    FILES.LICENSE,
  ]);
  expect((await stat(path.join(here, "src/run.sh"))).mode & 0o100).toBe(0o100);
}

it("a run changes only files that its presenter may change, survives a kill, and is pulled as a list, a patch and files", async () => {
  const [here, there, patched] = [
    await folderOf("site"),
    await folderOf("again"),
    await folderOf("patched"),
  ];
  expect((await cli(here, "push")).stdout).toContain("site is pushed");

  const { session_id: id } = await ask();
  await killWhilePresenting(id);
  expect(await stack.client.turn(id)).toMatchObject({ status: "completed" });
  checkLog(await stack.client.events(id));
  await checkConflict(here, id);

  expect((await cli(there, "pull", "--session", id, "--apply")).code).toBe(0);
  expect([await text(there, "both.txt"), await text(there, "docs/new.md")]).toEqual([
    "theirs\n",
    "new\n",
  ]);
  expect((await cli(there, "pull", "--session", id)).screen).toContain("nothing to do");

  await writeFile(
    path.join(folder, "changes.patch"),
    (await cli(patched, "pull", "--session", id, "--patch")).stdout,
  );
  await run("git", ["apply", "--unsafe-paths", "../changes.patch"], { cwd: patched });
  for (const file of ["a.txt", "both.txt", "docs/new.md", "src/run.sh"])
    expect(await text(patched, file)).toBe(await text(there, file));
  expect(await fileExists(patched, "old.txt")).toBe(false);
});

it("pull reports a turn that changed no context", async () => {
  const quiet = await stack.client.start({
    baseUrl: stack.providers.baseUrl,
    agents: [{ id: "one", model: "editor" }],
  });
  await stack.client.ended(quiet.session_id, 20_000);
  await expect(cli(folder, "pull", "--session", quiet.session_id)).rejects.toThrow(
    "Turn 1 changed no context",
  );
});
