import { cp, rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { Story } from "./story";

/** Pulls that end before they note what they wrote. */

/** Pulls a turn, and is killed before the note is written. All files are written. */
async function killedPull(story: Story, folder: string, turn: number): Promise<void> {
  const [notes, kept] = [story.place(folder, ".massgen-edge"), story.place("kept")];
  story.service.beforeContents(() => cp(notes, kept, { recursive: true, force: true }));
  await story.pullTurn(folder, turn);
  story.service.beforeContents(null);
  await rm(notes, { recursive: true });
  await cp(kept, notes, { recursive: true });
}

/** Pulls a turn, whose download fails after `count` files. */
async function failedPull(story: Story, folder: string, turn: number, count: number) {
  let left = count;
  story.service.beforeContents(async () => {
    left -= 1;
    if (left < 0) throw new Error("the connection broke");
  });
  const failed = await story.pullTurn(folder, turn);
  story.service.beforeContents(null);
  expect(failed).toMatchObject({ isRefused: true });
}

async function withTurn(): Promise<Story> {
  const story = await Story.begin();
  await story.edit("a", { f: "1", g: "1", own: "1" });
  await story.push("a");
  await story.ask(0, { f: "2", g: "2" });
  return story;
}

it("a pull that was killed before its note is complete for the next pull", async () => {
  await using story = await withTurn();
  await killedPull(story, "a", 1);
  await story.ask(1, { f: "3" });
  expect(await story.pullTurn("a", 2)).toMatchObject({ isRefused: false });
  expect(await story.files("a")).toEqual({ f: "3", g: "2", own: "1" });
});

it("a pull that was killed before its note is complete for the next push", async () => {
  await using story = await withTurn();
  await killedPull(story, "a", 1);
  await story.edit("a", { own: "2" });
  await story.push("a");
  await story.ask(1, { f: "3" });
  await story.edit("a", { own: "3" });
  await story.push("a");
  expect(await story.asked(2)).toEqual({ f: "3", g: "2", own: "3" });
});

it("a first pull of a turn that was killed is complete, too", async () => {
  await using story = await withTurn();
  await killedPull(story, "b", 1);
  await story.edit("b", { more: "1" });
  expect((await story.push("b")).text).toContain("is pushed");
  expect(await story.asked(1)).toEqual({ f: "2", g: "2", own: "1", more: "1" });
});

it("a pull whose download failed half-way is completed by a pull of a later turn", async () => {
  await using story = await withTurn();
  await failedPull(story, "a", 1, 1);
  expect(await story.files("a")).toEqual({ f: "2", g: "1", own: "1" });
  await story.ask(1, { f: "3" });
  await story.pullTurn("a", 2);
  expect(await story.files("a")).toEqual({ f: "3", g: "2", own: "1" });
});

it("two pulls that failed half-way are completed by the third", async () => {
  await using story = await withTurn();
  await failedPull(story, "a", 1, 1);
  await story.ask(1, { f: "3", g: "3" });
  await failedPull(story, "a", 2, 0);
  await story.pullTurn("a", 2);
  expect(await story.files("a")).toEqual({ f: "3", g: "3", own: "1" });
});

it("a push after a pull that failed half-way is refused and names the pull", async () => {
  await using story = await withTurn();
  await failedPull(story, "a", 1, 1);
  const refused = await story.push("a");
  expect(refused).toMatchObject({ isRefused: true });
  const words = `pull ${story.place("a")} --name site --session ${story.session} --turn 1 --apply`;
  expect(refused.text).toContain(words);
  await story.pullTurn("a", 1);
  expect((await story.push("a")).text).toContain("is pushed");
});

it("a file that the user edits after a failed pull stays the user's", async () => {
  await using story = await withTurn();
  await failedPull(story, "a", 1, 1);
  await story.edit("a", { g: "user" });
  await story.ask(1, { f: "3" });
  const pulled = await story.pullTurn("a", 2, "--skip-conflicts");
  expect(pulled.text).toContain("conflict\tg");
  expect(await story.files("a")).toEqual({ f: "3", g: "user", own: "1" });
});
