import { describe, expect, it } from "vitest";
import { owed } from "../../../src/coordination";
import type { FileAccess } from "../../../src/protocol/events";
import { aVote, anAnswer, answers, tool, uses, votes } from "../builders";
import { allAnswer, table } from "../rule-table";
import { World } from "../world";

const every = {
  tools: [
    tool("search", { idempotent: true }),
    tool("send", { acts_outside: true }),
    tool("write_file"),
  ],
};
const world = { every };
const read = (path: string): FileAccess => ({ operation: "read", path, refused: null });
const many = (count: number): string[] => Array.from({ length: count }, () => "search");

describe("an agent's own tools", () => {
  table([
    {
      name: "run concurrently, and the model is called again when all tools have results",
      world,
      given: (at) => {
        at.does("a", uses(["search", "write_file"]));
        at.tool("a");
      },
      when: (at) => at.tool("a"),
      then: ["tool.completed a write_file ok"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "are owed eight at a time",
      world,
      when: (at) => at.does("a", uses(many(10))),
      then: ["call.completed a"],
      owes: [...Array.from({ length: 8 }, () => "tool a search"), "call b", "call c"],
    },
    {
      name: "are owed eight at a time, including running ones",
      world,
      given: (at) => {
        at.does("a", uses(many(10)));
        for (let n = 0; n < 3; n += 1) at.startsTool("a");
      },
      when: (at) => at.tool("a"),
      then: ["tool.completed a search ok"],
      owes: [...Array.from({ length: 6 }, () => "tool a search"), "call b", "call c"],
    },
    {
      name: "are logged with all file accesses, including refused ones",
      world,
      given: (at) => at.does("a", uses(["write_file"])),
      when: (at) =>
        at.tool("a", "error", [
          read("/workspace/a"),
          { ...read("/peers/agent9/a"), refused: "no_such_peer" },
        ]),
      then: [
        "files.accessed a write_file read /workspace/a read /peers/agent9/a: no_such_peer",
        "tool.completed a write_file error",
      ],
    },
    {
      name: "are logged with at most six hundred accesses: refusals first, and reads by their directory",
      world,
      given: (at) => at.does("a", uses(["write_file"])),
      when: (at) =>
        at.tool("a", "ok", [
          ...Array.from({ length: 1_200 }, (_, index) =>
            read(`/workspace/${index % 2 ? "odd" : "even"}/${index}`),
          ),
          { ...read("/peers/x/a"), refused: "no_such_peer" },
        ]),
      then: [
        "files.accessed a write_file read /peers/x/a: no_such_peer read /workspace/even/ (600) read /workspace/odd/ (600)",
        "tool.completed a write_file ok",
      ],
    },
    {
      name: "are refused beyond 64 in one reply",
      world,
      when: (at) => at.does("a", uses(many(66))),
      then: [
        "call.completed a",
        "tool.completed a search refused",
        "tool.completed a search refused",
      ],
    },
    {
      name: "that do not exist get an error result at once",
      world,
      when: (at) => at.does("a", uses(["serach"])),
      then: ["call.completed a", "tool.completed a serach error"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "run before the decision of the same reply counts",
      world,
      when: (at) => at.does("a", uses(["write_file"], [anAnswer("A")])),
      then: ["call.completed a"],
      owes: ["tool a write_file", "call b", "call c"],
    },
    {
      name: "have run when an answer over 128 KB in the same reply is refused",
      world,
      given: (at) => at.does("a", uses(["write_file"], [anAnswer("x".repeat(128 * 1024 + 1))])),
      when: (at) => at.tool("a"),
      then: [
        "tool.completed a write_file ok",
        "answer.refused a answer_too_large",
        "round.nudged a 1",
      ],
    },
    {
      name: "have run when a reason over 4 KB in the same reply is refused",
      world,
      given: (at) => {
        allAnswer(at);
        at.does("a", uses(["write_file"], [aVote("b", "x".repeat(4 * 1024 + 1))]));
      },
      when: (at) => at.tool("a"),
      then: [
        "tool.completed a write_file ok",
        "vote.refused a reason_too_long",
        "round.nudged a 1",
      ],
    },
    {
      name: "run before a vote of the same reply, which is stale if a newer answer arrived meanwhile",
      world,
      given: (at) => {
        allAnswer(at);
        at.does("a", uses(["write_file"], [aVote("b")]));
        at.startsTool("a");
        at.does("b", answers("B2"));
      },
      when: (at) => at.tool("a"),
      then: [
        "tool.completed a write_file ok",
        "vote.stale a agent2.2 missing agent2.2",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "that do not run let the decision of the same reply count at once",
      world,
      when: (at) => at.does("a", uses(["nothing"], [anAnswer("A")])),
      then: ["call.completed a", "tool.completed a nothing error", "answer.submitted a agent1.1"],
    },
    {
      name: "with side effects are only planned during coordination in planning mode",
      world: { every, rules: { planning_mode: true } },
      when: (at) => at.does("a", uses(["send", "search"])),
      then: ["call.completed a", "tool.completed a send planned"],
      owes: ["tool a search", "call b", "call c"],
    },
    {
      name: "run in planning mode if the config declares them read-only (D8)",
      world: {
        every: { tools: [tool("send", { acts_outside: true, runs_in_planning: true })] },
        rules: { planning_mode: true },
      },
      when: (at) => at.does("a", uses(["send"])),
      then: ["call.completed a"],
      owes: ["tool a send", "call b", "call c"],
    },
    {
      name: "that a config declares read-only are not repeated after a restart (D8)",
      world: {
        every: { tools: [tool("send", { acts_outside: true, runs_in_planning: true })] },
        rules: { planning_mode: true },
      },
      given: (at) => {
        at.does("a", uses(["send"]));
        at.startsTool("a");
      },
      when: (at) => at.interrupt(),
      then: ["tool.unknown a send"],
    },
    {
      name: "with side effects run without planning mode",
      world,
      when: (at) => at.does("a", uses(["send"])),
      then: ["call.completed a"],
      owes: ["tool a send", "call b", "call c"],
    },
    {
      name: "with side effects run in the presentation, with or without planning mode",
      world: { every, agents: ["a", "b"], rules: { planning_mode: true } },
      given: (at) => {
        allAnswer(at);
        at.does("a", votes("a"));
        at.does("b", votes("a"));
      },
      when: (at) => at.does("a", uses(["send"])),
      then: ["call.completed a"],
      owes: ["tool a send"],
    },
    {
      name: "that a restart interrupted run again if they are safe to repeat",
      world,
      given: (at) => {
        at.does("a", uses(["search"]));
        at.startsTool("a");
      },
      when: (at) => at.interrupt(),
      then: ["tool.interrupted a search"],
      owes: ["tool a search", "call b", "call c"],
    },
    {
      name: "that were interrupted a fifth time have an unknown outcome, even if they are safe to repeat",
      world,
      given: (at) => {
        at.does("a", uses(["search"]));
        for (let n = 0; n < 4; n += 1) {
          at.startsTool("a");
          at.interrupt();
        }
        at.startsTool("a");
      },
      when: (at) => at.interrupt(),
      then: ["tool.unknown a search"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "that a restart interrupted have an unknown outcome if they are not safe to repeat",
      world,
      given: (at) => {
        at.does("a", uses(["write_file"], [anAnswer("A")]));
        at.startsTool("a");
      },
      when: (at) => at.interrupt(),
      then: ["tool.unknown a write_file", "answer.submitted a agent1.1"],
    },
    {
      name: "of a failed agent have an unknown outcome if they were running; the others never start",
      world,
      given: (at) => {
        at.does("a", uses(["write_file", "search"]));
        at.startsTool("a");
        at.does("b", answers("B"));
        at.does("c", answers("C"));
        at.wait(1_000);
      },
      when: (at) => at.wait(660_000),
      then: ["tool.unknown a write_file", "agent.failed a initial_round_timeout"],
    },
  ]);

  it("have the same ids after a restart, and each tool call has its own id", () => {
    const at = new World(world);
    at.ask();
    at.does("a", uses(["search", "search"]));
    const ids = () => owed(at.state).map(({ id }) => id);
    const before = ids();
    at.startsTool("a");
    at.interrupt();
    expect(ids()).toEqual(before);
    expect(new Set(before).size).toBe(before.length);
  });
});
