import { describe, expect, it } from "vitest";
import type { WorkspaceFacts } from "../../../src/coordination";
import { anAnswer, answers, changedNothing, tool, uses, wrote } from "../builders";
import { table } from "../rule-table";
import { World } from "../world";

describe("snapshots", () => {
  const leftOut = { count: 2, paths: ["a.txt", "b.txt"] };
  /** Both agents have an answer; `facts` is the workspace of `a` at its answer. */
  const bothAnswered = (facts: WorkspaceFacts) => ({
    world: { agents: ["a", "b"], every: { workspace: true } },
    given: (world: World) => {
      world.does("a", answers("A"), facts);
      world.does("b", answers("B"), wrote(1));
    },
  });
  table([
    {
      name: "an answer has a snapshot of its agent's files, which has the label of the answer",
      world: { every: { workspace: true } },
      when: (world) => world.does("a", answers("A"), wrote(3)),
      then: ["call.completed a", "answer.submitted a agent1.1 with agent1.1"],
    },
    {
      name: "an answer of an agent without a workspace has no snapshot",
      when: (world) => world.does("a", answers("A")),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "E15 a workspace that the round did not change never replaces the snapshot of an earlier answer, whatever its size (D1)",
      ...bothAnswered(wrote(3)),
      when: (world) => world.does("a", answers("A2"), changedNothing(7)),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.1",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "E15 an unchanged workspace keeps the turn's initial files if the answer is the author's first (D1)",
      world: { every: { workspace: true } },
      when: (world) => world.does("a", answers("A"), changedNothing(7)),
      then: ["call.completed a", "answer.submitted a agent1.1 with base"],
    },
    {
      name: "E15 an unchanged workspace also keeps the turn's initial files in a second answer (D1)",
      ...bothAnswered(changedNothing()),
      when: (world) => world.does("a", answers("A2"), changedNothing()),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with base",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "a workspace that the round emptied has an empty snapshot, and the event says so (D1)",
      ...bothAnswered(wrote(3)),
      when: (world) => world.does("a", answers("A2"), wrote(0)),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.2 cleared",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "an answer names the files of the previous answer that are missing in it (D1)",
      ...bothAnswered(wrote(3)),
      when: (world) => world.does("a", answers("A2"), wrote(1, { leftOut })),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.2 without a.txt b.txt",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "an answer includes the files of a tool in the same reply (D1)",
      world: { every: { workspace: true, tools: [tool("files")] } },
      given: (world) => world.does("a", uses(["files"], [anAnswer("A")]), changedNothing()),
      when: (world) => {
        world.startsTool("a");
        world.files = wrote(2);
        return world.tool("a");
      },
      then: ["tool.completed a files ok", "answer.submitted a agent1.1 with agent1.1"],
    },
    {
      name: "a partial text that becomes an answer has a snapshot too",
      world: { every: { workspace: true }, rules: { initial_round_timeout_ms: 5_000 } },
      given: (world) => {
        world.does("b", answers("B"), wrote(1));
        world.does("c", answers("C"));
        world.writing = { a: "so far" };
      },
      when: (world) => world.wait(10_000).filter(({ type }) => type === "answer.submitted"),
      then: ["answer.submitted a agent1.1 partial with agent1.1"],
    },
    {
      name: "E15 a partial text with an unchanged workspace keeps the turn's initial files (D1)",
      world: { every: { workspace: true }, rules: { initial_round_timeout_ms: 5_000 } },
      given: (world) => {
        world.does("b", answers("B"), wrote(1));
        world.does("c", answers("C"));
        world.writing = { a: "so far" };
        world.files = changedNothing(4);
      },
      when: (world) => world.wait(10_000).filter(({ type }) => type === "answer.submitted"),
      then: ["answer.submitted a agent1.1 partial with base"],
    },
  ]);

  it("a first answer without changed files has the number of kept files, which may be 0 (D1)", () => {
    for (const kept of [0, 3]) {
      const world = new World({ every: { workspace: true } });
      world.ask();
      world.does("a", answers("A"), changedNothing(kept, { kept }));
      expect(world.events("answer.submitted")).toMatchObject([
        { snapshot: "base", files: "kept", kept_files: kept },
      ]);
    }
  });
});
