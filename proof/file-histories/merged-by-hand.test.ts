import { expect, it } from "vitest";
import { Story } from "./story";

/** A pull of a version that skips conflicts, and the way on: merge the files, then push. */

/** Two folders that changed the same file `g`; the second one has pulled without it. */
async function withConflict(): Promise<Story> {
  const story = await Story.begin();
  await story.edit("a", { f: "1", g: "1" });
  await story.push("a");
  await story.pull("b");
  await story.edit("b", { g: "mine" });
  await story.edit("a", { f: "2", g: "2" });
  await story.push("a");
  await story.pull("b", "--skip-conflicts");
  return story;
}

it("a skipped file that the user merged by hand can be pushed", async () => {
  await using story = await withConflict();
  await story.edit("b", { g: "2 and mine" });
  expect((await story.push("b")).text).toContain("is pushed");
  expect(await story.newest()).toEqual({ f: "2", g: "2 and mine" });
  expect((await story.pull("b")).text).toContain("0 written");
});

it("a skipped file that the user did not touch refuses the push, unless it is forced", async () => {
  await using story = await withConflict();
  expect(await story.push("b")).toMatchObject({
    isRefused: true,
    text: expect.stringMatching(/you have not changed them since: g\n.*--force/),
  });
  expect(await story.newest()).toEqual({ f: "2", g: "2" });
  await story.push("b", "--force");
  expect(await story.newest()).toEqual({ f: "2", g: "mine" });
});

it("a second pull that skips the file does not ask to merge it again", async () => {
  await using story = await withConflict();
  await story.edit("b", { g: "2 and mine" });
  await story.pull("b", "--skip-conflicts");
  expect((await story.push("b")).text).toContain("is pushed");
});

it("a file that the pull wrote is no conflict with the next version", async () => {
  await using story = await withConflict();
  await story.edit("a", { f: "3" });
  await story.push("a");
  expect((await story.pull("b", "--skip-conflicts")).text).not.toContain("conflict\tf");
  expect(await story.files("b")).toEqual({ f: "3", g: "mine" });
});

it("a file that the user merged by hand is no conflict of the next turn", async () => {
  await using story = await withConflict();
  await story.ask(0, { h: "team" });
  await story.edit("b", { g: "2 and mine" });
  await story.push("b");
  expect(await story.asked(1)).toEqual({ f: "2", g: "2 and mine", h: "team" });
});

it("a first pull with conflicts links the folder, and its merged files can be pushed", async () => {
  await using story = await Story.begin();
  await story.edit("a", { f: "1", g: "1" });
  await story.push("a");
  await story.edit("b", { g: "mine" });
  await story.pull("b", "--skip-conflicts");
  expect(await story.push("b")).toMatchObject({ isRefused: true });
  await story.edit("b", { g: "both" });
  await story.push("b");
  expect(await story.newest()).toEqual({ f: "1", g: "both" });
});
