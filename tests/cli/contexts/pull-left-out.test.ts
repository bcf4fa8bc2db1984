import { describe, expect, it } from "vitest";
import { hashOf } from "../../../cli/contexts/scan";
import { SESSION } from "../../protocol/builders";
import { runAt } from "../commands/terminal";
import { Service } from "../service";
import { versionOf, withTurn, withVersions } from "./offered";
import { OF_TURN, PullFolder } from "./pull-folder";
import { turnChangeBlobPath } from "../../../src/protocol/paths";

const folder = new PullFolder();

describe("a file that a team added to a context", () => {
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
    "is left out with a notice if it is $file ($why)$id",
    async ({ file, why, left }) => {
      await folder.fill(IGNORED);
      const ran = await folder.pull(
        withTurn({}, { [file]: "theirs", "a.txt": "a" }),
        ...OF_TURN,
        "--apply",
      );
      expect([ran.code, ran.stdout]).toEqual([0, "write\ta.txt\n"]);
      expect(ran.said).toEqual([
        `left out, ${why}: ${left}`,
        "To take such files, add --include <pattern>.",
        `site, turn 1 of ${SESSION}: 1 written, 0 deleted, 0 conflicts.`,
      ]);
      expect(await folder.files()).toEqual({ ".gitignore": IGNORED[".gitignore"], "a.txt": "a" });
    },
  );

  it.each(rows)("is written if --include names $file$id", async ({ file }) => {
    await folder.fill(IGNORED);
    const ran = await folder.pull(
      withTurn({}, { [file]: "theirs" }),
      ...OF_TURN,
      "--apply",
      "--include",
      file,
    );
    expect([ran.stdout, await folder.files()]).toEqual([
      `write\t${file}\n`,
      { ".gitignore": IGNORED[".gitignore"], [file]: "theirs" },
    ]);
  });

  it.each(rows)(
    "is not in a patch if it is $file, and its contents are not fetched$id",
    async ({ file, left }) => {
      await folder.fill(IGNORED);
      const ran = await folder.pull(
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

  it("is left out of a folder that --include names if it may hold secrets or sets the source of packages", async () => {
    await folder.fill({ ".gitignore": "generated/\n" });
    const turn = withTurn(
      {},
      { "generated/.env": "KEY=2", "generated/.npmrc": "registry=http://x", "generated/a.ts": "a" },
    );
    const ran = await folder.pull(turn, ...OF_TURN, "--apply", "--include", "generated");
    expect([ran.code, ran.stdout]).toEqual([0, "write\tgenerated/a.ts\n"]);
    expect(ran.said.slice(0, 3)).toEqual([
      "left out, may hold secrets: generated/.env",
      "left out, says where packages come from: generated/.npmrc",
      "To take such files, add --include <pattern>.",
    ]);
  });

  it("does not change an existing file of that name, whether the team changed or deleted it", async () => {
    await folder.fill({ ".env": "KEY=1", ".npmrc": "save-exact=true" });
    const turn = withTurn(
      { ".env": "KEY=1", ".npmrc": "save-exact=true" },
      { ".env": null, ".npmrc": "registry=http://x" },
    );
    const ran = await folder.pull(turn, ...OF_TURN, "--apply");
    expect([ran.code, ran.stdout]).toEqual([0, ""]);
    expect(await folder.files()).toEqual({ ".env": "KEY=1", ".npmrc": "save-exact=true" });
  });

  it.each([".env.example", "src/environment.ts", "npmrc", "package.json", "id_rsa.pub"])(
    "is written as %s",
    async (file) => {
      const ran = await folder.pull(withTurn({}, { [file]: "theirs" }), ...OF_TURN, "--apply");
      expect([await folder.files(), ran.said.length]).toEqual([{ [file]: "theirs" }, 1]);
    },
  );
});

describe("a file that was left out of a version", () => {
  const FIRST = { "a.txt": "a", ".env": "KEY=1" };
  const SECOND = { "a.txt": "b", ".env": "KEY=1" };

  it("can be pulled later, and the other files still match the version", async () => {
    await using service = await Service.start({ events: [], answers: withVersions(FIRST) });
    const run = (...args: string[]) =>
      runAt({ cwd: folder.at }, "pull", "--server", service.url, ...args);
    await run("--name", "site", "--apply");
    expect(await folder.files()).toEqual({ "a.txt": "a" });

    Object.assign(service.options.answers ?? {}, withVersions(FIRST, SECOND));
    const second = await run("--apply");
    expect([second.code, second.stdout, await folder.files()]).toEqual([
      0,
      "write\ta.txt\n",
      { "a.txt": "b" },
    ]);
    expect(second.screen).toContain("left out, may hold secrets: .env");

    expect((await run("--apply", "--include", ".env")).stdout).toBe("write\t.env\n");
    expect(await folder.files()).toEqual({ "a.txt": "b", ".env": "KEY=1" });
    const last = await run();
    expect([last.stdout, last.screen]).toEqual(["", `site ${versionOf(1)}: nothing to do.\n`]);
  });
});
