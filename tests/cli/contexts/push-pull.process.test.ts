import { randomBytes } from "node:crypto";
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hashOf } from "../../../cli/contexts/scan";
import { ServiceProcess } from "../../../simulated/service/service-process";
import type { ContextChanges, Context } from "../../../src/protocol/api/contexts";
import { turnChangeBlobPath, turnChangesPath } from "../../../src/protocol/paths";
import { LOCAL } from "../../e2e/support/local";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";

/** These tests run the commands with the service itself, in the real runtime. */
let service: ServiceProcess;
let folder = "";
let testNumber = 0;
let here = "";
let there = "";
let name = "";

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "push-pull-"));
  service = await ServiceProcess.prepare(LOCAL);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  testNumber += 1;
  name = `project-${testNumber}`;
  [here, there] = [path.join(folder, `${name}`), path.join(folder, `other-${testNumber}`)];
  for (const directory of [here, there]) await mkdir(directory);
});

async function fill(root: string, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [file, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), content);
  }
}
const text = (root: string, file: string) => readFile(path.join(root, file), "utf8");
const filesOf = async (root: string) =>
  (await readdir(root, { recursive: true, withFileTypes: true }))
    .filter((entry) => !entry.isDirectory())
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)))
    .filter((file) => !file.startsWith(".massgen-edge"))
    .sort();
const run = (cwd: string, ...args: string[]) => runAt({ cwd }, ...args, "--server", service.url);
const errorOf = (cwd: string, ...args: string[]) =>
  run(cwd, ...args).then(
    () => "",
    (error: unknown) => (error instanceof Error ? error.message : ""),
  );
const readContext = async (): Promise<Context> =>
  (await fetch(`${service.url}/api/contexts/${name}`)).json() as Promise<Context>;

describe("push and pull", () => {
  it("copy a folder to the service and into another folder, byte by byte", async () => {
    const bytes = randomBytes(3_000_000);
    await fill(here, {
      "bin/data": bytes,
      "src/run.sh": "#!/bin/sh\n",
      "empty.txt": "",
      ".env": "KEY=1",
      "copy/data": bytes,
    });
    await chmod(path.join(here, "src/run.sh"), 0o755);
    const pushed = await run(here, "push");
    expect(pushed.stdout).toMatch(
      new RegExp(`^${name} is pushed: version \\w{26}, 4 files, 6000010 bytes\\.\n$`),
    );
    expect(pushed.screen).toBe(
      "left out, may hold secrets: .env\nTo send such files, add --include <pattern>.\n",
    );
    expect((await readContext()).tree.map((file) => file.path)).toEqual([
      "bin/data",
      "copy/data",
      "empty.txt",
      "src/run.sh",
    ]);

    const dryRun = await run(there, "pull", "--name", name);
    expect([dryRun.code, dryRun.stdout.split("\n").length, await filesOf(there)]).toEqual([
      0,
      5,
      [],
    ]);
    expect((await run(there, "pull", "--name", name, "--apply")).code).toBe(0);
    expect(await filesOf(there)).toEqual(["bin/data", "copy/data", "empty.txt", "src/run.sh"]);
    expect((await readFile(path.join(there, "bin/data"))).equals(bytes)).toBe(true);
    expect((await stat(path.join(there, "src/run.sh"))).mode & 0o100).toBe(0o100);
    expect([(await run(there, "push")).stdout, (await run(there, "pull")).screen]).toEqual([
      expect.stringContaining("is unchanged"),
      expect.stringContaining("nothing to do"),
    ]);
  });

  it("send and fetch only changed files, and never overwrite a file that was changed on both sides", async () => {
    await fill(here, { "a.txt": "a", "b.txt": "b", "old/c.txt": "c", "d.txt": "d" });
    await run(here, "push");
    await run(there, "pull", "--name", name, "--apply");
    await fill(there, { "a.txt": "theirs", "d.txt": "theirs too", "new.txt": "new" });
    await rm(path.join(there, "old"), { recursive: true });
    await run(there, "push");

    await fill(here, { "b.txt": "mine", "d.txt": "mine too" });
    const dryRun = await run(here, "pull");
    expect([dryRun.code, dryRun.stdout]).toEqual([
      1,
      "write\ta.txt\nconflict\td.txt\tchanged on both sides\nwrite\tnew.txt\ndelete\told/c.txt\n",
    ]);
    expect(await errorOf(here, "pull", "--apply")).toContain("Nothing was written");
    expect(await text(here, "a.txt")).toBe("a");
    expect(await errorOf(here, "push")).toContain("context_changed");

    expect((await run(here, "pull", "--apply", "--skip-conflicts")).code).toBe(1);
    expect(await filesOf(here)).toEqual(["a.txt", "b.txt", "d.txt", "new.txt"]);
    expect([
      await text(here, "a.txt"),
      await text(here, "b.txt"),
      await text(here, "d.txt"),
    ]).toEqual(["theirs", "mine", "mine too"]);
    expect((await run(here, "push", "--force")).code).toBe(0);
  });

  it("print the changes as a patch", async () => {
    await fill(here, { "a.txt": "one\n", "gone.txt": "x\n" });
    await run(here, "push");
    await fill(there, { "a.txt": "two\n", "data.bin": Uint8Array.of(0, 1, 2) });
    await run(there, "push", "--name", name, "--force");
    const { stdout, screen } = await run(here, "pull", "--patch");
    expect(stdout).toContain("--- a/a.txt\n+++ b/a.txt\n@@ -1,1 +1,1 @@\n-one\n+two\n");
    expect(stdout).toContain("deleted file mode 100644");
    expect(screen).toContain("not text: data.bin");
  });

  it("never write through a link, and replace only plain files", async () => {
    await fill(here, { "dir/a.txt": "x", "b.txt": "y" });
    await run(here, "push");
    const outside = path.join(folder, `outside-${testNumber}`);
    await mkdir(outside);
    await symlink(outside, path.join(there, "dir"));
    await symlink(path.join(outside, "b.txt"), path.join(there, "b.txt"));
    expect((await run(there, "pull", "--name", name)).stdout).toBe(
      "conflict\tb.txt\tis a link here\nconflict\tdir/a.txt\tdir is a link here\n",
    );
    await run(there, "pull", "--name", name, "--apply", "--skip-conflicts");
    expect(await readdir(outside)).toEqual([]);
  });

  it("copy the maximum number of files, with long paths", async () => {
    const deep = `${"d".repeat(110)}/${"e".repeat(110)}`;
    await mkdir(path.join(here, deep), { recursive: true });
    const names = Array.from(
      { length: 10_000 },
      (_, index) => `${deep}/${String(index).padStart(8, "f")}`,
    );
    for (const file of names) await writeFile(path.join(here, file), "");
    expect((await run(here, "push")).stdout).toContain(`${name} is pushed: version `);
    expect((await readContext()).tree.length).toBe(10_000);
  });

  it("list the files to send, without sending anything", async () => {
    await fill(here, { "a.txt": "x", "b.pem": "secret" });
    const ran = await run(here, "push", "--dry-run");
    expect([ran.stdout, ran.screen]).toEqual([
      "a.txt\n",
      expect.stringContaining("left out, may hold secrets: b.pem"),
    ]);
    expect((await fetch(`${service.url}/api/contexts/${name}`)).status).toBe(404);
  });
});

/**
 * Starts a proxy before the service that adds the changes of a turn. `falseContents` replaces the
 * contents of each blob.
 */
async function withChanges(
  changes: ContextChanges[],
  blobs: readonly string[],
  falseContents?: string,
): Promise<Server> {
  const contents = new Map(
    blobs.map((blob) => [
      turnChangeBlobPath(SESSION, 2, hashOf(Buffer.from(blob))),
      falseContents ?? blob,
    ]),
  );
  const server = createServer(async (request, response) => {
    const url = request.url ?? "";
    if (url === turnChangesPath(SESSION, 2))
      return response.end(JSON.stringify({ object: "list", data: changes }));
    const content = contents.get(url);
    if (content !== undefined) return response.end(content);
    const answer = await fetch(new URL(url, service.url));
    response.statusCode = answer.status;
    return response.end(Buffer.from(await answer.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

describe("pull of the changes of a turn", () => {
  const change = (file: string, content: string | null) => ({
    path: file,
    hash: content === null ? null : hashOf(Buffer.from(content)),
    size: content?.length ?? 0,
  });
  const pullTurn = async (server: Server, ...args: string[]) => {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      return await runAt(
        { cwd: here },
        "pull",
        "--session",
        SESSION,
        "--turn",
        "2",
        "--server",
        url,
        ...args,
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  };

  it("compares the local files with the base version of the turn", async () => {
    await fill(here, { "a.txt": "a", "b.txt": "b", "c.txt": "c" });
    await run(here, "push");
    const { version } = await readContext();
    await fill(here, { "c.txt": "mine" });
    await run(here, "push");
    const changes = [
      change("a.txt", "better"),
      change("b.txt", null),
      change("new/d.txt", "d"),
      change("c.txt", "theirs"),
    ];
    const set = { context: name, base_version: version, changes };
    const blobs = ["better", "d", "theirs"];
    const dryRun = await pullTurn(await withChanges([set], blobs));
    expect([dryRun.code, dryRun.stdout]).toEqual([
      1,
      "write\ta.txt\ndelete\tb.txt\nwrite\tnew/d.txt\nconflict\tc.txt\tchanged on both sides\n",
    ]);
    await pullTurn(await withChanges([set], blobs), "--apply", "--skip-conflicts");
    expect(await filesOf(here)).toEqual(["a.txt", "c.txt", "new/d.txt"]);
    expect([await text(here, "a.txt"), await text(here, "c.txt")]).toEqual(["better", "mine"]);
  });

  it.each([
    { path: "../out.txt", why: "leads outside the folder" },
    { path: "/etc/out.txt", why: "leads outside the folder" },
    { path: ".git/hooks/pre-commit", why: "could run programs on this machine" },
    { path: "sub/.GIT/config", why: "could run programs on this machine" },
    { path: "C:/x", why: "names a device or a drive" },
    { path: "a\\..\\..\\x", why: "leads outside the folder" },
  ])("never writes $path, even if the service sends it", async ({ path: forbiddenPath, why }) => {
    await fill(here, { "a.txt": "a" });
    await run(here, "push");
    const set = {
      context: name,
      base_version: (await readContext()).version,
      changes: [change(forbiddenPath, "x")],
    };
    expect(
      (await pullTurn(await withChanges([set], ["x"]), "--apply", "--skip-conflicts")).stdout,
    ).toBe(`conflict\t${forbiddenPath}\t${why}\n`);
    expect(await filesOf(here)).toEqual(["a.txt"]);
  });

  it("writes no contents that do not match their hash", async () => {
    await fill(here, { "a.txt": "a" });
    await run(here, "push");
    const set = {
      context: name,
      base_version: (await readContext()).version,
      changes: [change("a.txt", "better")],
    };
    const server = await withChanges([set], ["better"], "worse!");
    await expect(pullTurn(server, "--apply")).rejects.toThrow("sent other contents than announced");
    expect(await text(here, "a.txt")).toBe("a");
  });
});
