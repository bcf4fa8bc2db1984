import { chmod, link, stat } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { writeNote } from "../../../cli/contexts/note";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { versionOf, withTurn, withVersions } from "./offered";
import { OF_TURN, PullFolder } from "./pull-folder";

const folder = new PullFolder();

describe("control characters in a patch", () => {
  it("are written to a pipe unchanged, and a warning names the file that contains them (M9)", async () => {
    const patch = await folder.pull(
      withTurn({}, { "a.txt": "hidden\u001b[2K\n", "b.txt": "plain\r\n" }),
      ...OF_TURN,
      "--patch",
    );
    expect(patch.stdout).toContain("hidden\u001b[2K");
    expect(patch.screen).toMatch(
      /these files contain control characters or direction marks: a\.txt\n/,
    );
  });

  it("are written out on a terminal, because the terminal would execute them (M9)", async () => {
    await using service = await Service.start({
      events: [],
      answers: withTurn({}, { "a.txt": "hidden\u001b[2K\u202e\n" }),
    });
    const result = await runAt(
      { cwd: folder.root, keys: [] },
      "pull",
      "--server",
      service.url,
      ...OF_TURN,
      "--patch",
    );
    expect(result.stdout).toContain(String.raw`+hidden\x1b[2K\u202e`);
    expect(result.stdout).not.toContain("\u001b");
  });
});

describe("a file that programs read or run automatically (L15)", () => {
  const WARNING = "warning: programs read or run these files automatically; check them first: ";
  const AUTOMATIC_FILES = [
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

  it.each(AUTOMATIC_FILES)("is named in a warning before it is written: %s", async (file) => {
    const result = await folder.pull(
      withTurn({}, { [file]: "theirs", "a.txt": "a" }),
      ...OF_TURN,
      "--apply",
    );
    expect(result.screenLines).toEqual([
      `${WARNING}${file}`,
      `site, turn 1 of ${SESSION}: 2 written, 0 deleted, 0 conflicts.`,
    ]);
    expect(await folder.files()).toEqual({ "a.txt": "a", [file]: "theirs" });
  });

  it("is named together with files of --include, with at most twenty names, also without --apply", async () => {
    const hooks = Array.from(
      { length: 21 },
      (_, index) => `.husky/${String(index).padStart(2, "0")}`,
    );
    const files = Object.fromEntries(hooks.map((name) => [name, "x"]));
    const turn = withTurn({}, { ".pnpmfile.cjs": "x", ...files });
    const result = await folder.pull(turn, ...OF_TURN, "--include", ".pnpmfile.cjs");
    const warnings = result.screenLines.filter((line) => line.startsWith("warning"));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/, and 2 more$/);
    const alone = await folder.pull(
      withTurn({}, { ".pnpmfile.cjs": "x" }),
      ...OF_TURN,
      "--apply",
      "--include",
      ".pnpmfile.cjs",
    );
    expect(alone.screenLines[0]).toBe(`${WARNING}.pnpmfile.cjs`);
  });

  it("is not named if it is deleted, excluded or in conflict, because then it is not written", async () => {
    await folder.fill({ ".gitmodules": "a", ".mcp.json": "mine" });
    const deleted = await folder.pull(
      withTurn({ ".gitmodules": "a" }, { ".gitmodules": null }),
      ...OF_TURN,
      "--apply",
    );
    const excluded = await folder.pull(
      withTurn({}, { ".pnpmfile.cjs": "x" }),
      ...OF_TURN,
      "--apply",
    );
    const conflicting = withTurn({ ".mcp.json": "old" }, { ".mcp.json": "theirs" });
    const skipped = await folder.pull(conflicting, ...OF_TURN, "--apply", "--skip-conflicts");
    for (const { screen } of [deleted, excluded, skipped]) expect(screen).not.toContain("warning");
  });

  it.each([
    "package.json",
    "src/settings.json",
    "docs/hooks/a.md",
    ".github/CODEOWNERS",
    "tasks.json",
    "husky/a",
  ])("is no other file, such as %s", async (file) => {
    const result = await folder.pull(withTurn({}, { [file]: "theirs" }), ...OF_TURN, "--apply");
    expect(result.screen).not.toContain("warning");
  });
});

describe("the permissions of a local file", () => {
  it.each(["600", "755", "700"])(
    "do not change when its contents are written: mode %s",
    async (mode) => {
      await folder.fill({ "run.sh": "a" });
      await chmod(path.join(folder.root, "run.sh"), Number.parseInt(mode, 8));
      const result = await folder.pull(
        withTurn({ "run.sh": "a" }, { "run.sh": "b" }),
        ...OF_TURN,
        "--apply",
      );
      expect([result.code, result.stdout, await folder.files()]).toEqual([
        0,
        "write\trun.sh\n",
        { "run.sh": "b" },
      ]);
      expect((await stat(path.join(folder.root, "run.sh"))).mode.toString(8)).toBe(`100${mode}`);
    },
  );
});

describe("a file whose name changed only in case, on a disk that ignores case", () => {
  /** Creates two names of one file, like on such a disk. */
  async function fillBoth(text: string): Promise<void> {
    await folder.fill({ "Readme.md": text });
    await link(path.join(folder.root, "Readme.md"), path.join(folder.root, "README.md"));
  }
  const RENAME_STEP = "rename\tREADME.md\twas Readme.md\n";
  const rows = [
    {
      name: "is renamed",
      theirs: { "README.md": "a", "Readme.md": null },
      steps: RENAME_STEP,
      summary: "0 written, 1 renamed",
      content: "a",
    },
    {
      name: "is renamed and written",
      theirs: { "README.md": "b", "Readme.md": null },
      steps: `${RENAME_STEP}write\tREADME.md\n`,
      summary: "1 written, 1 renamed",
      content: "b",
    },
  ];
  it.each(rows)("$name, and not deleted", async ({ theirs, steps, summary, content }) => {
    await fillBoth("a");
    const result = await folder.pull(withTurn({ "Readme.md": "a" }, theirs), ...OF_TURN, "--apply");
    expect([result.code, result.stdout, await folder.files()]).toEqual([
      0,
      steps,
      { "README.md": content },
    ]);
    expect(result.screen).toContain(`${summary}, 0 deleted, 0 conflicts.`);
  });

  it("is also renamed by a newer version", async () => {
    await fillBoth("a");
    await using service = await Service.start({
      events: [],
      answers: withVersions({ "Readme.md": "a" }, { "README.md": "a" }),
    });
    await writeNote(folder.root, { server: service.url, name: "site", version: versionOf(0) });
    const result = await runAt({ cwd: folder.root }, "pull", "--server", service.url);
    expect([result.code, result.stdout, result.screen]).toEqual([
      0,
      RENAME_STEP,
      `site ${versionOf(1)}: 0 to write, 1 to rename, 0 to delete, 0 conflicts. --apply does this.\n`,
    ]);
  });

  it("is not deleted if only one of its two names was deleted", async () => {
    await fillBoth("a");
    const turn = withTurn({ "README.md": "a", "Readme.md": "a" }, { "Readme.md": null });
    const result = await folder.pull(turn, ...OF_TURN, "--apply");
    expect([result.code, result.stdout]).toEqual([0, ""]);
    expect(await folder.files()).toEqual({ "README.md": "a", "Readme.md": "a" });
  });
});

describe("a path that must not be written here", () => {
  it.each([
    { file: "a\u200bb.txt", why: "is an invalid name on other systems" }, // (L16)
    { file: "../out.txt", why: "leads outside the folder" },
    { file: ".git/hooks/pre-commit", why: "could run programs on this machine" },
    { file: "sub/.GIT/config", why: "could run programs on this machine" },
    { file: ".massgen-edge/context.json", why: "could run programs on this machine" },
    { file: "aux.js", why: "names a device or a drive" },
    { file: ".env. ", why: "is an invalid name on other systems" },
    { file: ".envrc::$DATA", why: "is an invalid name on other systems" },
    { file: ".g\u200cit/config", why: "is an invalid name on other systems" },
  ])(
    "is neither in a patch nor written, even with --include: $file $why",
    async ({ file, why }) => {
      const displayName = file
        .trim()
        .replace(/[\u200b\u200c]/, (mark) => `\\u{${mark.charCodeAt(0).toString(16)}}`);
      const turn = withTurn({}, { [file]: "theirs", "a.txt": "a\n" });
      const patch = await folder.pull(turn, ...OF_TURN, "--patch", "--include", "*");
      expect([patch.code, patch.stdout.match(/^diff --git .*/gm)]).toEqual([
        1,
        ["diff --git a/a.txt b/a.txt"],
      ]);
      expect(patch.screen).toContain(
        `not in the patch because it must not be written here: ${displayName}`,
      );
      const applied = await folder.pull(
        turn,
        ...OF_TURN,
        "--apply",
        "--skip-conflicts",
        "--include",
        "*",
      );
      expect([applied.code, applied.stdout.split("\n")[0]]).toEqual([
        1,
        `conflict\t${displayName}\t${why}`,
      ]);
      expect(await folder.files()).toEqual({ "a.txt": "a\n" });
    },
  );
});
