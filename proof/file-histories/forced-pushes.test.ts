import { expect, it } from "vitest";
import { Story } from "./story";

/** `push --force` replaces the newest version, and loses no file that the folder only excludes. */

it("a forced push keeps an excluded file in the team's state and in other folders", async () => {
  await using story = await Story.begin();
  await story.edit("a", { "a.txt": "1", "data.json": "1" });
  await story.push("a");
  await story.pull("b");
  await story.ask(0);
  await story.edit("a", { ".gitignore": "data.json\n", "a.txt": "2" });
  await story.push("a", "--force");
  const state = { ".gitignore": "data.json\n", "a.txt": "2", "data.json": "1" };
  expect(await story.asked(1)).toEqual(state);
  await story.pull("b");
  expect(await story.files("b")).toEqual(state);
});

it("a forced push keeps what the newest version already left out", async () => {
  await using story = await Story.begin();
  await story.edit("a", { "a.txt": "1", "data.json": "1" });
  await story.push("a");
  await story.ask(0);
  await story.edit("a", { ".git/info/exclude": "data.json\n", "a.txt": "2" });
  await story.push("a");
  await story.edit("b", { "b.txt": "1" });
  await story.push("b", "--force");
  expect(await story.asked(1)).toEqual({ "b.txt": "1", "data.json": "1" });
});

it("a forced push replaces what others pushed, and is based on their version afterwards", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1" });
  await story.push("a");
  await story.pull("b");
  await story.edit("b", { f: "2", g: "2" });
  await story.push("b");
  await story.edit("a", { f: "3" });
  expect(await story.push("a")).toMatchObject({ isRefused: true });
  await story.push("a", "--force");
  expect(await story.newest()).toEqual({ f: "3" });
  await story.pull("b");
  expect(await story.files("b")).toEqual({ f: "3" });
});
