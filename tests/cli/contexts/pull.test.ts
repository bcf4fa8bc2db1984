import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { writeLink } from "../../../cli/contexts/directory";
import { hashOf } from "../../../cli/contexts/scan";
import { turnChangeBlobPath } from "../../../src/protocol/contexts";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { type Answers, type Files, versionOf, withTurn, withVersions } from "./offered";

let here = "";
beforeEach(async () => {
  here = await mkdtemp(path.join(tmpdir(), "pull-"));
});
afterEach(() => rm(here, { recursive: true, force: true }));

async function fill(files: Files): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(here, name)), { recursive: true });
    await writeFile(path.join(here, name), content);
  }
}

const NOTE = ".massgen-edge/context.json";

/** What lies in the folder, apart from the note of the last pull and the repository's own. */
async function filesHere(): Promise<Files> {
  const entries = await readdir(here, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(here, path.join(entry.parentPath, entry.name)));
  const own = names.filter((name) => name !== NOTE && !name.startsWith(".git/")).sort();
  return Object.fromEntries(
    await Promise.all(
      own.map(async (name) => [name, await readFile(path.join(here, name), "utf8")] as const),
    ),
  );
}

async function pull(answers: Answers, ...args: string[]) {
  await using service = await Service.start({ events: [], answers });
  const ran = await runAt({ cwd: here }, "pull", "--server", service.url, ...args);
  const asked = service.requests.map((request) => decodeURIComponent(request.path));
  return { ...ran, said: ran.screen.trimEnd().split("\n"), asked };
}
const OF_TURN = ["--session", SESSION, "--turn", "1"];

describe("what a team put into a context and nobody asked for", () => {
  const IGNORED = { ".gitignore": "dist/\n*.local\n", ".git/info/exclude": "/notes/\n" };
  const rows = [
    { file: ".env", why: "may hold secrets", left: ".env" },
    { file: ".envrc", why: "may hold secrets", left: ".envrc" },
    { file: "sub/.ENV.production", why: "may hold secrets", left: "sub/.ENV.production" },
    { file: "home/.ssh/config", why: "may hold secrets", left: "home/.ssh/" },
    { file: ".npmrc", why: "says where packages come from", left: ".npmrc" },
    ...[
      "bunfig.toml",
      ".cargo/config.toml",
      ".pnpmfile.cjs",
      "NuGet.config",
      "uv.toml",
      ".bundle/config",
    ].map((file) => ({
      file,
      why: "says where packages come from",
      left: file,
      id: " (L15)",
    })),
    { file: "web/.yarnrc.yml", why: "says where packages come from", left: "web/.yarnrc.yml" },
    { file: "node_modules/left-pad/index.js", why: "not sources", left: "node_modules/" },
    { file: "dist/deep/a.js", why: "ignored by git", left: "dist/" },
    { file: "src/a.local", why: "ignored by git", left: "src/a.local" },
    { file: "notes/today.md", why: "ignored by git", left: "notes/" },
  ].map((row) => ({ id: "", ...row }));

  it.each(rows)(
    "is not written where it would be $file ($why), and that is said$id",
    async ({ file, why, left }) => {
      await fill(IGNORED);
      const ran = await pull(
        withTurn({}, { [file]: "theirs", "a.txt": "a" }),
        ...OF_TURN,
        "--apply",
      );
      expect([ran.code, ran.stdout]).toEqual([0, "write\ta.txt\n"]);
      expect(ran.said).toEqual([
        `left out, ${why}: ${left}`,
        "--include <pattern> takes what it names all the same.",
        `site, turn 1 of ${SESSION}: 1 written, 0 deleted, 0 conflicts.`,
      ]);
      expect(await filesHere()).toEqual({ ".gitignore": IGNORED[".gitignore"], "a.txt": "a" });
    },
  );

  it.each(rows)("is written where --include names $file$id", async ({ file }) => {
    await fill(IGNORED);
    const ran = await pull(
      withTurn({}, { [file]: "theirs" }),
      ...OF_TURN,
      "--apply",
      "--include",
      file,
    );
    expect([ran.stdout, await filesHere()]).toEqual([
      `write\t${file}\n`,
      { ".gitignore": IGNORED[".gitignore"], [file]: "theirs" },
    ]);
  });

  it("is named where a patch holds control characters, and goes to a file as it is (M9)", async () => {
    const patch = await pull(
      withTurn({}, { "a.txt": "hidden\u001b[2K\n", "b.txt": "plain\r\n" }),
      ...OF_TURN,
      "--patch",
    );
    expect(patch.stdout).toContain("hidden\u001b[2K");
    expect(patch.screen).toMatch(/these hold control characters or direction marks: a\.txt\n/);
  });

  it("is written out in a patch on a terminal, where it would act (M9)", async () => {
    await using service = await Service.start({
      events: [],
      answers: withTurn({}, { "a.txt": "hidden\u001b[2K\u202e\n" }),
    });
    const ran = await runAt(
      { cwd: here, keys: [] },
      "pull",
      "--server",
      service.url,
      ...OF_TURN,
      "--patch",
    );
    expect(ran.stdout).toContain(String.raw`+hidden\x1b[2K\u202e`);
    expect(ran.stdout).not.toContain("\u001b");
  });

  it.each(rows)(
    "is in no patch where it would be $file, and its contents are not fetched$id",
    async ({ file, left }) => {
      await fill(IGNORED);
      const ran = await pull(
        withTurn({}, { [file]: "theirs", "a.txt": "a\n" }),
        ...OF_TURN,
        "--patch",
      );
      expect(ran.code).toBe(0);
      expect(ran.stdout.match(/^diff --git .*/gm)).toEqual(["diff --git a/a.txt b/a.txt"]);
      expect(ran.said[0]).toContain(`: ${left}`);
      expect(ran.asked).not.toContain(
        turnChangeBlobPath(SESSION, 1, hashOf(Buffer.from("theirs"))),
      );
    },
  );

  it("is not written for a folder that --include names, where it may hold secrets or says where packages come from", async () => {
    await fill({ ".gitignore": "generated/\n" });
    const turn = withTurn(
      {},
      { "generated/.env": "KEY=2", "generated/.npmrc": "registry=http://x", "generated/a.ts": "a" },
    );
    const ran = await pull(turn, ...OF_TURN, "--apply", "--include", "generated");
    expect([ran.code, ran.stdout]).toEqual([0, "write\tgenerated/a.ts\n"]);
    expect(ran.said.slice(0, 3)).toEqual([
      "left out, may hold secrets: generated/.env",
      "left out, says where packages come from: generated/.npmrc",
      "--include <pattern> takes what it names all the same.",
    ]);
  });

  it("leaves your own file of that name as it is, whether the team changed or deleted it", async () => {
    await fill({ ".env": "KEY=1", ".npmrc": "save-exact=true" });
    const turn = withTurn(
      { ".env": "KEY=1", ".npmrc": "save-exact=true" },
      { ".env": null, ".npmrc": "registry=http://x" },
    );
    const ran = await pull(turn, ...OF_TURN, "--apply");
    expect([ran.code, ran.stdout]).toEqual([0, ""]);
    expect(await filesHere()).toEqual({ ".env": "KEY=1", ".npmrc": "save-exact=true" });
  });

  it.each([".env.example", "src/environment.ts", "npmrc", "package.json", "id_rsa.pub"])(
    "is written as %s",
    async (file) => {
      const ran = await pull(withTurn({}, { [file]: "theirs" }), ...OF_TURN, "--apply");
      expect([await filesHere(), ran.said.length]).toEqual([{ [file]: "theirs" }, 1]);
    },
  );
});

describe("a file that programs read or run unasked (L15)", () => {
  const WARNING = "warning: programs read or run these unasked, look at them first: ";
  const RUN = [
    ".claude/settings.json",
    "sub/.claude/settings.local.json",
    ".mcp.json",
    ".cursor/mcp.json",
    ".vscode/tasks.json",
    ".vscode/settings.json",
    ".vscode/launch.json",
    ".husky/pre-commit",
    ".husky/_/husky.sh",
    ".githooks/pre-push",
    ".github/hooks/a",
    ".devcontainer/devcontainer.json",
    ".devcontainer/post.sh",
    ".gitmodules",
    ".github/workflows/ci.yml",
    "lib/sitecustomize.py",
    "mise.toml",
    ".Husky/PRE-COMMIT",
  ];

  it.each(RUN)("is named in one line before %s is written", async (file) => {
    const ran = await pull(withTurn({}, { [file]: "theirs", "a.txt": "a" }), ...OF_TURN, "--apply");
    expect(ran.said).toEqual([
      `${WARNING}${file}`,
      `site, turn 1 of ${SESSION}: 2 written, 0 deleted, 0 conflicts.`,
    ]);
    expect(await filesHere()).toEqual({ "a.txt": "a", [file]: "theirs" });
  });

  it("is named together with what --include brings, by the first twenty names, without --apply too", async () => {
    const hooks = Array.from(
      { length: 21 },
      (_, index) => `.husky/${String(index).padStart(2, "0")}`,
    );
    const files = Object.fromEntries(hooks.map((name) => [name, "x"]));
    const turn = withTurn({}, { ".pnpmfile.cjs": "x", ...files });
    const ran = await pull(turn, ...OF_TURN, "--include", ".pnpmfile.cjs");
    const warnings = ran.said.filter((line) => line.startsWith("warning"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/, and 2 more$/);
    const alone = await pull(
      withTurn({}, { ".pnpmfile.cjs": "x" }),
      ...OF_TURN,
      "--apply",
      "--include",
      ".pnpmfile.cjs",
    );
    expect(alone.said[0]).toBe(`${WARNING}.pnpmfile.cjs`);
  });

  it("is not named where it is deleted, left out, or in conflict, which writes nothing", async () => {
    await fill({ ".gitmodules": "a", ".mcp.json": "mine" });
    const gone = await pull(
      withTurn({ ".gitmodules": "a" }, { ".gitmodules": null }),
      ...OF_TURN,
      "--apply",
    );
    const left = await pull(withTurn({}, { ".pnpmfile.cjs": "x" }), ...OF_TURN, "--apply");
    const clash = withTurn({ ".mcp.json": "old" }, { ".mcp.json": "theirs" });
    const kept = await pull(clash, ...OF_TURN, "--apply", "--skip-conflicts");
    for (const { screen } of [gone, left, kept]) expect(screen).not.toContain("warning");
  });

  it.each([
    "package.json",
    "src/settings.json",
    "docs/hooks/a.md",
    ".github/CODEOWNERS",
    "tasks.json",
    "husky/a",
  ])("is not %s", async (file) => {
    const ran = await pull(withTurn({}, { [file]: "theirs" }), ...OF_TURN, "--apply");
    expect(ran.screen).not.toContain("warning");
  });
});

describe("what was left out of a version", () => {
  const FIRST = { "a.txt": "a", ".env": "KEY=1" };
  const SECOND = { "a.txt": "b", ".env": "KEY=1" };

  it("can be had later, and keeps nothing else from being the same as the version", async () => {
    await using service = await Service.start({ events: [], answers: withVersions(FIRST) });
    const run = (...args: string[]) =>
      runAt({ cwd: here }, "pull", "--server", service.url, ...args);
    await run("--name", "site", "--apply");
    expect(await filesHere()).toEqual({ "a.txt": "a" });

    Object.assign(service.options.answers ?? {}, withVersions(FIRST, SECOND));
    const second = await run("--apply");
    expect([second.code, second.stdout, await filesHere()]).toEqual([
      0,
      "write\ta.txt\n",
      { "a.txt": "b" },
    ]);
    expect(second.screen).toContain("left out, may hold secrets: .env");

    expect((await run("--apply", "--include", ".env")).stdout).toBe("write\t.env\n");
    expect(await filesHere()).toEqual({ "a.txt": "b", ".env": "KEY=1" });
    const last = await run();
    expect([last.stdout, last.screen]).toEqual(["", `site ${versionOf(1)}: nothing to do.\n`]);
  });
});

describe("who may do what with a file", () => {
  it.each(["600", "755", "700"])(
    "stays as it is here when its contents are written: mode %s",
    async (mode) => {
      await fill({ "run.sh": "a" });
      await chmod(path.join(here, "run.sh"), Number.parseInt(mode, 8));
      const ran = await pull(withTurn({ "run.sh": "a" }, { "run.sh": "b" }), ...OF_TURN, "--apply");
      expect([ran.code, ran.stdout, await filesHere()]).toEqual([
        0,
        "write\trun.sh\n",
        { "run.sh": "b" },
      ]);
      expect((await stat(path.join(here, "run.sh"))).mode.toString(8)).toBe(`100${mode}`);
    },
  );
});

describe("a file whose name changed in case alone, on a disk that takes both names for one file", () => {
  /** Two names of one file, as such a disk has them. */
  async function fillBoth(text: string): Promise<void> {
    await fill({ "Readme.md": text });
    await link(path.join(here, "Readme.md"), path.join(here, "README.md"));
  }
  const RENAMED = "rename\tREADME.md\twas Readme.md\n";
  const rows = [
    {
      name: "is renamed",
      theirs: { "README.md": "a", "Readme.md": null },
      does: RENAMED,
      sum: "0 written, 1 renamed",
      then: "a",
    },
    {
      name: "is renamed and written",
      theirs: { "README.md": "b", "Readme.md": null },
      does: `${RENAMED}write\tREADME.md\n`,
      sum: "1 written, 1 renamed",
      then: "b",
    },
  ];
  it.each(rows)("$name, and not deleted", async ({ theirs, does, sum, then }) => {
    await fillBoth("a");
    const ran = await pull(withTurn({ "Readme.md": "a" }, theirs), ...OF_TURN, "--apply");
    expect([ran.code, ran.stdout, await filesHere()]).toEqual([0, does, { "README.md": then }]);
    expect(ran.screen).toContain(`${sum}, 0 deleted, 0 conflicts.`);
  });

  it("is renamed by a newer version too", async () => {
    await fillBoth("a");
    await using service = await Service.start({
      events: [],
      answers: withVersions({ "Readme.md": "a" }, { "README.md": "a" }),
    });
    await writeLink(here, { server: service.url, name: "site", version: versionOf(0) });
    const ran = await runAt({ cwd: here }, "pull", "--server", service.url);
    expect([ran.code, ran.stdout, ran.screen]).toEqual([
      0,
      RENAMED,
      `site ${versionOf(1)}: 0 to write, 1 to rename, 0 to delete, 0 conflicts. --apply does that.\n`,
    ]);
  });

  it("stays where only one of both names was deleted", async () => {
    await fillBoth("a");
    const turn = withTurn({ "README.md": "a", "Readme.md": "a" }, { "Readme.md": null });
    const ran = await pull(turn, ...OF_TURN, "--apply");
    expect([ran.code, ran.stdout]).toEqual([0, ""]);
    expect(await filesHere()).toEqual({ "README.md": "a", "Readme.md": "a" });
  });
});

describe("a path that may not be written here", () => {
  it.each([
    { file: "a\u200bb.txt", why: "is a name that other systems do not take" }, // (L16)
    { file: "../out.txt", why: "leads elsewhere" },
    { file: ".git/hooks/pre-commit", why: "could run programs here" },
    { file: "sub/.GIT/config", why: "could run programs here" },
    { file: ".massgen-edge/context.json", why: "could run programs here" },
    { file: "aux.js", why: "means a device or a drive" },
    { file: ".env. ", why: "is a name that other systems do not take" },
    { file: ".envrc::$DATA", why: "is a name that other systems do not take" },
    { file: ".g\u200cit/config", why: "is a name that other systems do not take" },
  ])("is in no patch and in no folder, whatever is included: $file $why", async ({ file, why }) => {
    const shown = file
      .trim()
      .replace(/[\u200b\u200c]/, (mark) => `\\u{${mark.charCodeAt(0).toString(16)}}`);
    const turn = withTurn({}, { [file]: "theirs", "a.txt": "a\n" });
    const patch = await pull(turn, ...OF_TURN, "--patch", "--include", "*");
    expect([patch.code, patch.stdout.match(/^diff --git .*/gm)]).toEqual([
      1,
      ["diff --git a/a.txt b/a.txt"],
    ]);
    expect(patch.screen).toContain(`not in the patch, since it may not be written here: ${shown}`);
    const applied = await pull(turn, ...OF_TURN, "--apply", "--skip-conflicts", "--include", "*");
    expect([applied.code, applied.stdout.split("\n")[0]]).toEqual([
      1,
      `conflict\t${shown}\t${why}`,
    ]);
    expect(await filesHere()).toEqual({ "a.txt": "a\n" });
  });
});
