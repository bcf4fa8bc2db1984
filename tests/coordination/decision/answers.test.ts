import { describe, expect, it } from "vitest";
import type { WorkspaceFacts } from "../../../src/coordination";
import {
  anAnswer,
  answers,
  aVote,
  changedNothing,
  decides,
  invalid,
  tool,
  uses,
  votes,
  wrote,
} from "../builders";
import { allAnswer, giveLarge, SIX, table } from "../table";
import { World } from "../world";

const LARGE = "x".repeat(128 * 1024 + 1);
const words = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `word${from + n}`).join(" ");

describe("new_answer", () => {
  table([
    {
      name: "counts when its provider ended the reply for a reason nobody knows: the call is whole",
      when: (world) => world.does("a", answers("A", { stopReason: "unknown" })),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "gets the next revision and label, and voids every valid vote, each named",
      given: (world) => {
        allAnswer(world);
        world.does("b", votes("a"));
        world.does("c", votes("c"));
      },
      when: (world) => world.does("a", answers("A better")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "votes.cleared by agent1.2 b→agent1.1 c→agent3.1",
        "answers.injected b [agent1.2] reopened",
        "answers.injected c [agent1.2] reopened",
        "round.started a #3 answered [agent1.2 agent2.1 agent3.1]",
      ],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "voids its own author's vote too",
      given: (world) => {
        allAnswer(world);
        world.does("a", votes("b"));
        world.does("b", answers("B better"));
      },
      when: (world) => world.does("a", answers("A better")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "round.started a #3 answered [agent1.2 agent2.2 agent3.1]",
      ],
    },
    {
      name: "is refused when empty, as a nudge",
      when: (world) => world.does("a", answers(" \n")),
      then: ["call.completed a", "answer.refused a empty_answer", "round.nudged a 1"],
      owes: ["call a", "call b", "call c"],
    },
    {
      name: "is refused over 128 KB, a first answer too",
      when: (world) => world.does("a", answers(LARGE)),
      then: ["call.completed a", "answer.refused a answer_too_large", "round.nudged a 1"],
    },
    {
      name: "counts bytes, not characters",
      when: (world) => world.does("a", answers("é".repeat(64 * 1024 + 1))),
      then: ["call.completed a", "answer.refused a answer_too_large", "round.nudged a 1"],
    },
    {
      name: "takes exactly 128 KB",
      when: (world) => world.does("a", answers("x".repeat(128 * 1024))),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "is refused when it repeats what its author was shown, but for white space",
      given: allAnswer,
      when: (world) => world.does("a", answers("  B\n")),
      then: ["call.completed a", "answer.refused a duplicate_answer", "round.nudged a 1"],
    },
    {
      name: "is refused when it repeats its author's own answer",
      given: allAnswer,
      when: (world) => world.does("a", answers("A")),
      then: ["call.completed a", "answer.refused a duplicate_answer", "round.nudged a 1"],
    },
    {
      name: "may equal an answer that was replaced before its author was shown it",
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
        world.does("b", answers("B3"));
        world.does("a", votes("b"));
      },
      when: (world) => world.does("a", answers("B2")).slice(0, 2),
      then: ["call.completed a", "answer.submitted a agent1.2"],
    },
    {
      name: "may equal an answer its author was not shown: first answers are never compared",
      given: (world) => world.does("a", answers("the same")),
      when: (world) => world.does("b", answers("the same")),
      then: ["call.completed b", "answer.submitted b agent2.1"],
    },
    {
      name: "may equal a newer answer its author was not yet shown",
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("news"));
      },
      when: (world) => world.does("b", answers("news")),
      then: [
        "call.completed b",
        "answer.submitted b agent2.2",
        "round.started b #3 answered [agent1.2 agent2.2 agent3.1]",
      ],
    },
    {
      name: "is refused when hundreds come in one reply, and named no more than sixty-four times",
      when: (world) =>
        world.does(
          "a",
          decides(Array.from({ length: 500 }, (_, nth) => anAnswer(`answer ${nth}`))),
        ),
      then: [
        "call.completed a",
        ...Array.from({ length: 64 }, () => "answer.refused a two_answers"),
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused when two come in one reply, both",
      when: (world) => world.does("a", decides([anAnswer("one"), anAnswer("two")])),
      then: [
        "call.completed a",
        "answer.refused a two_answers",
        "answer.refused a two_answers",
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused together with a vote, both, whatever their order",
      given: allAnswer,
      when: (world) => world.does("a", decides([aVote("b"), anAnswer("A2")])),
      then: [
        "call.completed a",
        "vote.refused a choose_one",
        "answer.refused a choose_one",
        "round.nudged a 1",
      ],
    },
    {
      name: "is refused with broken arguments",
      when: (world) => world.does("a", decides([invalid("new_answer")])),
      then: ["call.completed a", "answer.refused a invalid_arguments", "round.nudged a 1"],
    },
    {
      name: "does not count in a reply that was cut, however complete it looks",
      when: (world) => world.does("a", answers("half a thou", { stopReason: "length" })),
      then: ["call.completed a", "answer.refused a reply_cut", "round.nudged a 1"],
    },
    {
      name: "of an agent's last place is refused, but is no nudge",
      world: { agents: ["a", "b"], rules: { max_new_answers_per_agent: 1 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      then: ["call.completed a", "answer.refused a answer_limit"],
      owes: ["call a", "call b"],
    },
    {
      name: "over the team's limit is refused",
      world: { agents: ["a", "b"], rules: { max_new_answers_global: 2 } },
      given: allAnswer,
      when: (world) => world.does("a", answers("A2")),
      then: ["call.completed a", "answer.refused a team_limit"],
    },
    {
      name: "is refused once those of the team fill 8 MB, those that were replaced among them",
      world: SIX,
      given: (world) => giveLarge(world, 64),
      when: (world) => world.does("a", answers("Short")),
      then: [
        "call.completed a",
        "answer.refused a size_limit",
        "round.started a #14 context_full [agent1.12 agent2.12 agent3.12 agent4.12 agent5.11 agent6.11]",
      ],
    },
    {
      name: "is taken as long as there is room for its beginning",
      world: SIX,
      given: (world) => giveLarge(world, 63),
      when: (world) => world.does("a", answers("y".repeat(128 * 1024))),
      then: [
        "call.completed a",
        "answer.submitted a agent1.13",
        "round.started a #14 answered [agent1.13 agent2.12 agent3.12 agent4.11 agent5.11 agent6.11]",
      ],
    },
    {
      name: "at a limit brings the news its author is due",
      world: { rules: { max_new_answers_global: 4 } },
      given: (world) => {
        allAnswer(world);
        world.starts("a");
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", answers("A2")),
      then: [
        "call.completed a",
        "answer.refused a team_limit",
        "answers.injected a [agent2.2] message",
      ],
    },
    {
      name: "is never limited as a first answer",
      world: { rules: { max_new_answers_global: 1, fairness_lead_cap_answers: 0 } },
      given: (world) => world.does("a", answers("A")),
      when: (world) => world.does("b", answers("B")),
      then: ["call.completed b", "answer.submitted b agent2.1"],
    },
    {
      name: "is refused to who would be too far ahead of a live agent without a vote",
      world: { rules: { fairness_lead_cap_answers: 1 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
      },
      when: (world) => world.does("a", answers("A3")),
      then: ["call.completed a", "answer.refused a lead_limit"],
    },
    {
      name: "is allowed again once the others caught up",
      world: { agents: ["a", "b"], rules: { fairness_lead_cap_answers: 1 } },
      given: (world) => {
        allAnswer(world);
        world.does("a", answers("A2"));
        world.does("a", answers("A3"));
        world.does("b", answers("B2"));
      },
      when: (world) => world.does("a", answers("A3")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.3",
        "round.started a #4 answered [agent1.3 agent2.2]",
      ],
    },
    {
      name: "is not held up by who has voted",
      world: { agents: ["a", "b"], rules: { fairness_lead_cap_answers: 0 } },
      given: (world) => {
        allAnswer(world);
        world.does("b", votes("a"));
      },
      when: (world) => world.does("a", answers("A2")),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2",
        "votes.cleared by agent1.2 b→agent1.1",
        "answers.injected b [agent1.2] reopened",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
  ]);
});

describe("novelty", () => {
  const shown = words(0, 100);
  const second = (requirement: "lenient" | "balanced" | "strict", content: string): string => {
    const world = new World({
      agents: ["a", "b"],
      rules: { answer_novelty_requirement: requirement },
    });
    world.ask();
    world.does("a", answers(shown));
    world.does("b", answers("something else"));
    const judged = world.does("b", answers(content))[1];
    return judged?.type === "answer.refused" ? judged.code : "accepted";
  };

  it.each([
    // Of 100 words shown and n new ones, 100 / (100 + n) are shared.
    {
      name: "lenient lets through whatever is not identical",
      requirement: "lenient" as const,
      content: words(0, 101),
      verdict: "accepted",
    },
    {
      name: "lenient lets the same words through in another order",
      requirement: "lenient" as const,
      content: `word99 ${words(0, 99)}`,
      verdict: "accepted",
    },
    {
      name: "balanced refuses more than 70 % of shared words",
      requirement: "balanced" as const,
      content: words(0, 142),
      verdict: "too_similar",
    },
    {
      name: "balanced takes less",
      requirement: "balanced" as const,
      content: words(0, 143),
      verdict: "accepted",
    },
    {
      name: "strict refuses more than half",
      requirement: "strict" as const,
      content: words(0, 199),
      verdict: "too_similar",
    },
    {
      name: "strict takes exactly half",
      requirement: "strict" as const,
      content: words(0, 200),
      verdict: "accepted",
    },
    {
      name: "case is no difference to words",
      requirement: "balanced" as const,
      content: shown.toUpperCase(),
      verdict: "too_similar",
    },
    {
      name: "workspace paths are no difference",
      requirement: "lenient" as const,
      content: `/workspace/${shown}`,
      verdict: "duplicate_answer",
    },
    {
      name: "nor is that of a workspace itself",
      requirement: "lenient" as const,
      content: `${shown} /peers/agent2`,
      verdict: "duplicate_answer",
    },
    {
      name: "a path that only begins like one is another",
      requirement: "lenient" as const,
      content: `${shown} /workspaces`,
      verdict: "accepted",
    },
    {
      name: "two answers without words are not alike",
      requirement: "strict" as const,
      content: "!!!",
      verdict: "accepted",
    },
  ])("$name", ({ requirement, content, verdict }) => {
    expect(second(requirement, content)).toBe(verdict);
  });
});

describe("snapshots", () => {
  const leftOut = { count: 2, paths: ["a.txt", "b.txt"] };
  const inTwo = (facts: WorkspaceFacts) => ({
    world: { agents: ["a", "b"], every: { workspace: true } },
    given: (world: World) => {
      world.does("a", answers("A"), facts);
      world.does("b", answers("B"), wrote(1));
    },
  });
  table([
    {
      name: "an answer carries the snapshot of its agent's files, named like the answer",
      world: { every: { workspace: true } },
      when: (world) => world.does("a", answers("A"), wrote(3)),
      then: ["call.completed a", "answer.submitted a agent1.1 with agent1.1"],
    },
    {
      name: "an agent without files has none",
      when: (world) => world.does("a", answers("A")),
      then: ["call.completed a", "answer.submitted a agent1.1"],
    },
    {
      name: "E15 a workspace that the round did not change never replaces what an answer before has frozen, however much it holds (D1)",
      ...inTwo(wrote(3)),
      when: (world) => world.does("a", answers("A2"), changedNothing(7)),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.1",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "E15 nor what the turn began with, where the answer is the author's first (D1)",
      world: { every: { workspace: true } },
      when: (world) => world.does("a", answers("A"), changedNothing(7)),
      then: ["call.completed a", "answer.submitted a agent1.1 with base"],
    },
    {
      name: "E15 nor does a second unchanged one (D1)",
      ...inTwo(changedNothing()),
      when: (world) => world.does("a", answers("A2"), changedNothing()),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with base",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "a workspace that the round itself emptied is handed over empty, and the log says so (D1)",
      ...inTwo(wrote(3)),
      when: (world) => world.does("a", answers("A2"), wrote(0)),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.2 cleared",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "an answer names the files that it leaves out of the one before (D1)",
      ...inTwo(wrote(3)),
      when: (world) => world.does("a", answers("A2"), wrote(1, { leftOut })),
      then: [
        "call.completed a",
        "answer.submitted a agent1.2 with agent1.2 without a.txt b.txt",
        "round.started a #3 answered [agent1.2 agent2.1]",
      ],
    },
    {
      name: "a tool that settles with the decision counts as the round's (D1)",
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
      name: "a partial text that becomes an answer keeps the files too",
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
      name: "E15 a partial text given with an unchanged workspace goes with what the turn began with (D1)",
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

  it("its first answer says how many files stay, which may be none (D1)", () => {
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
