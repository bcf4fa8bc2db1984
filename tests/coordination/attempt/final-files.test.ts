import { describe, expect, it } from "vitest";
import { changedNothing, says, votes, wrote } from "../builders";
import { allAnswer } from "../rule-table";
import { World } from "../world";

const two = { agents: ["a", "b"] };

/** Both agents vote for `a`, so `a` starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("the files of the final text", () => {
  const cutText = says("The fin", { stopReason: "length" });
  const wholeText = says("Done.");

  it.each([
    {
      name: "are those of the presenter's workspace",
      facts: wrote(2),
      presents: wholeText,
      snapshot: "agent1.final",
      files: "workspace",
    },
    {
      name: "are none if the presenter deleted all of them",
      facts: wrote(0),
      presents: wholeText,
      snapshot: "agent1.final",
      files: "workspace_cleared",
    },
    {
      name: "are those of the winning answer if the presenter changed no file",
      facts: changedNothing(3),
      presents: wholeText,
      snapshot: "agent1.1",
      files: "kept",
    },
    {
      name: "are those of the presenter's workspace if the winning answer replaces only the text",
      facts: wrote(2),
      presents: cutText,
      snapshot: "agent1.final",
      files: "workspace",
    },
    {
      name: "are those of the winning answer if it replaces the text and the presenter changed no file",
      facts: changedNothing(2),
      presents: cutText,
      snapshot: "agent1.1",
      files: "kept",
    },
  ])("$name (D1)", ({ facts, presents, snapshot, files }) => {
    const world = new World({ ...two, every: { workspace: true } });
    world.ask();
    presenting(world);
    world.does("a", presents, facts);
    expect(world.events("presentation.completed")).toMatchObject([
      { label: "agent1.final", snapshot, files },
    ]);
  });

  it.each([
    {
      name: "are those of its workspace",
      facts: wrote(2),
      presents: wholeText,
      snapshot: "agent1.final",
    },
    {
      name: "are the turn's initial files if it changed no file",
      facts: changedNothing(2),
      presents: wholeText,
      snapshot: "base",
    },
    {
      name: "are those of its workspace if its text was cut (D3)",
      facts: wrote(2),
      presents: cutText,
      snapshot: "agent1.final",
    },
    {
      name: "do not exist without a workspace",
      workspace: false,
      presents: wholeText,
      snapshot: null,
    },
  ])(
    "of an agent that only presents $name (D1)",
    ({ workspace = true, facts, presents, snapshot }) => {
      const world = new World({
        agents: ["a"],
        every: { workspace },
        rules: { skip_coordination: true },
      });
      world.ask();
      world.writing = { a: "The fin" };
      world.does("a", presents, facts);
      expect(world.events("presentation.completed")).toMatchObject([{ snapshot }]);
    },
  );
});
