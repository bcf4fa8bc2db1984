import { describe, expect, it } from "vitest";
import { changedNothing, says, votes, wrote } from "../builders";
import { allAnswer } from "../rule-table";
import { World } from "../world";

const two = { agents: ["a", "b"] };

/** Both vote for `a`, which starts to present. */
function presenting(world: World): void {
  allAnswer(world);
  world.does("a", votes("a"));
  world.does("b", votes("a"));
}

describe("the files of the final text", () => {
  const cut = says("The fin", { stopReason: "length" });
  const done = says("Done.");

  it.each([
    {
      name: "are its own",
      facts: wrote(2),
      move: done,
      snapshot: "agent1.final",
      files: "workspace",
    },
    {
      name: "are none if the presenter deleted all",
      facts: wrote(0),
      move: done,
      snapshot: "agent1.final",
      files: "workspace_cleared",
    },
    {
      name: "are those of the winning answer if it changed none",
      facts: changedNothing(3),
      move: done,
      snapshot: "agent1.1",
      files: "kept",
    },
    {
      name: "are its own if the winning answer replaces its text",
      facts: wrote(2),
      move: cut,
      snapshot: "agent1.final",
      files: "workspace",
    },
    {
      name: "are those of the winning answer if that replaces its text and it changed no file",
      facts: changedNothing(2),
      move: cut,
      snapshot: "agent1.1",
      files: "kept",
    },
  ])("$name (D1)", ({ facts, move, snapshot, files }) => {
    const world = new World({ ...two, every: { workspace: true } });
    world.ask();
    presenting(world);
    world.does("a", move, facts);
    expect(world.events("presentation.completed")).toMatchObject([
      { label: "agent1.final", snapshot, files },
    ]);
  });

  it.each([
    { name: "are its own", facts: wrote(2), move: done, snapshot: "agent1.final" },
    {
      name: "are the turn's initial files if it changed none",
      facts: changedNothing(2),
      move: done,
      snapshot: "base",
    },
    {
      name: "are its own so far if its text was cut (D3)",
      facts: wrote(2),
      move: cut,
      snapshot: "agent1.final",
    },
    { name: "do not exist without a workspace", workspace: false, move: done, snapshot: null },
  ])("of an agent that only presents $name (D1)", ({ workspace = true, facts, move, snapshot }) => {
    const world = new World({
      agents: ["a"],
      every: { workspace },
      rules: { skip_coordination: true },
    });
    world.ask();
    world.writing = { a: "The fin" };
    world.does("a", move, facts);
    expect(world.events("presentation.completed")).toMatchObject([{ snapshot }]);
  });
});
