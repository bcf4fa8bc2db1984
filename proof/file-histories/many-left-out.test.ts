import { cp } from "node:fs/promises";
import { expect, it } from "vitest";
import { Story } from "./story";

/** More left-out files than a record can name one by one. */

const COUNT = 5_010;
const TIMEOUT_MS = 120_000;

it(
  "files of a large folder that is ignored later stay on other disks and in the team's state",
  async () => {
    await using story = await Story.begin();
    const data = Object.fromEntries(
      Array.from({ length: COUNT }, (_, at) => [`data/${at}`, `${at}`] as const),
    );
    await story.edit("a", { f: "1", ...data });
    await story.push("a");
    // a copy, so that the pull is fast
    await cp(story.place("a"), story.place("b"), { recursive: true });
    await story.ask(0);
    await story.edit("a", { ".gitignore": "data/\n" });
    expect((await story.push("a")).text).toContain("is pushed");
    expect((await story.pull("b")).text).not.toContain("delete\t");
    expect(Object.keys(await story.files("b"))).toHaveLength(COUNT + 2);
    expect(Object.keys(await story.asked(1))).toHaveLength(COUNT + 2);
    await story.edit("b", { f: "2" });
    await story.push("b");
    expect(Object.keys(await story.asked(2))).toHaveLength(COUNT + 2);
    // the folder is not ignored any more: its files are sent again
    await story.pull("a");
    await story.edit("a", { ".gitignore": null, "data/7": "changed" });
    await story.push("a");
    await story.edit("a", { "data/8": null });
    await story.push("a");
    expect(Object.keys((await story.newest()) ?? {})).toHaveLength(COUNT);
  },
  TIMEOUT_MS,
);

it(
  "many ignored files of the team with long paths make no conflict of the user's own files",
  async () => {
    await using story = await Story.begin();
    await story.edit("a", { ".gitignore": "dist/\n", f: "1" });
    await story.push("a");
    const long = "x".repeat(240);
    const built = Object.fromEntries(
      Array.from({ length: 420 }, (_, at) => [`dist/${long}/${long}/${long}/${at}.js`, "1"]),
    );
    await story.ask(0, { ...built, f: "team" });
    await story.pullTurn("a", 1);
    await story.edit("a", { f: "team and user" });
    expect((await story.push("a")).text).not.toContain("warning");
    expect(await story.asked(1)).toEqual({ ".gitignore": "dist/\n", f: "team and user", ...built });
  },
  TIMEOUT_MS,
);

it("another folder neither deletes nor misses the files below a left-out folder", async () => {
  await using story = await Story.begin();
  await story.edit("a", { ".gitignore": "dist/\n", f: "1" });
  await story.push("a");
  await story.pull("b");
  const long = "x".repeat(240);
  const built = Object.fromEntries(
    Array.from({ length: 420 }, (_, at) => [`dist/${long}/${long}/${long}/${at}.js`, "1"]),
  );
  await story.ask(0, built);
  await story.pullTurn("a", 1);
  await story.edit("a", { f: "2" });
  await story.push("a");
  await story.edit("b", { ".git/info/exclude": "" });
  await story.pull("b");
  await story.edit("b", { ".gitignore": null });
  await story.push("b");
  expect(await story.asked(1)).toEqual({ f: "2", ...built });
});
