import { cp, rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { Story } from "./story";

/** Pushes of folders that have no note of the context. */

it("a project never replaces another one of the same name", async () => {
  await using story = await Story.begin();
  await story.edit("x", { "mine.txt": "1" });
  await story.push("x");
  await story.edit("y", { "unrelated.txt": "1" });
  const refused = await story.push("y");
  expect(refused).toMatchObject({ isRefused: true });
  expect(refused.text).toContain("this folder was never pushed to it or pulled from it");
  expect(refused.text).toContain(`pull ${story.place("y")} --name site --apply`);
  expect(refused.text).toContain("--force");
  expect(await story.newest()).toEqual({ "mine.txt": "1" });
});

it("a copy of the context is linked by its push, and then continues like the first folder", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1", g: "1" });
  await story.push("a");
  await story.ask(0, { f: "team" });
  await story.edit("b", { f: "1", g: "1" });
  expect((await story.push("b")).text).toContain("is unchanged");
  await story.edit("b", { g: "2" });
  await story.push("b");
  await story.pullTurn("b", 1);
  expect(await story.files("b")).toEqual({ f: "team", g: "2" });
});

it("a first push that was killed never reverts what others pushed on top of it", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1", g: "1" });
  story.service.beforePushAnswer(async () => {
    await cp(story.place("a", ".massgen-edge"), story.place("kept"), { recursive: true });
  });
  await story.push("a");
  await rm(story.place("a", ".massgen-edge"), { recursive: true });
  await cp(story.place("kept"), story.place("a", ".massgen-edge"), { recursive: true });
  await story.pull("b");
  await story.edit("b", { g: "b's work" });
  await story.push("b");
  await story.edit("a", { f: "2" });
  expect(await story.push("a")).toMatchObject({ isRefused: true });
  expect(await story.newest()).toEqual({ f: "1", g: "b's work" });
});

it("a first push that was killed is found again after the folder was edited", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1" });
  story.service.beforePushAnswer(async () => {
    await cp(story.place("a", ".massgen-edge"), story.place("kept"), { recursive: true });
  });
  await story.push("a");
  await rm(story.place("a", ".massgen-edge"), { recursive: true });
  await cp(story.place("kept"), story.place("a", ".massgen-edge"), { recursive: true });
  await story.edit("a", { f: "2" });
  expect((await story.push("a")).text).toContain("is pushed");
  expect(await story.newest()).toEqual({ f: "2" });
});

it("the refusal of a linked folder names the folder and its context", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1" });
  await story.push("a");
  await story.pull("b");
  await story.edit("b", { f: "2" });
  await story.push("b");
  await story.edit("a", { f: "3" });
  expect((await story.push("a")).text).toContain(`pull ${story.place("a")} --name site --apply`);
});
