import { describe, expect, it } from "vitest";
import { TurnResponseSchema } from "../../../src/protocol/api";
import { participationWarnings } from "../../../src/describe/warnings";
import { participantsOfTurn } from "../../../src/protocol/view/participation";
import { toTurn } from "../../../src/protocol/view/status";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../builders";

const base = [b.created("good", "other"), b.turnStarted("good", "other"), b.attemptStarted()];
const alone = [b.answered("good", "agent1.1", 1), b.voted("good", "agent1.1")];
const won = [
  b.settled("good", "agent1.1", "consensus", { "agent1.1": 1 }),
  b.completed("good", "x"),
];
/** An answer from unfinished text. `at`: milliseconds after the log's first event. */
const unfinished = (agent: string, label: string, revision: number, at: number): b.Body =>
  ({ ...b.answered(agent, label, revision), origin: "partial", at: b.START + at }) as b.Body;
const settledAt = (at: number, end: "deadline" | "budget"): b.Body => ({
  ...b.settled("good", "agent1.1", end, { "agent1.1": 1 }),
  at: b.START + at,
});
const turnAfter = (bodies: b.Body[]) => {
  const turn = turnOf(b.view(b.log(bodies)));
  if (!turn) throw new Error("no turn");
  return turn;
};
const warnings = (bodies: b.Body[]) => {
  const turn = turnAfter(bodies);
  return participationWarnings(participantsOfTurn(turn), turn.status);
};

describe("participation in a turn (A1)", () => {
  it.each([
    {
      name: "there is no warning if all agents answered and voted",
      after: b.story.slice(3),
      says: [],
    },
    {
      name: "an agent that failed without an answer did not take part",
      after: [b.agentFailed("other"), ...alone, ...won],
      says: ["other dropped out: It cannot go on. 1 of 2 agents took part."],
    },
    {
      name: "an agent that failed after its answer took part, but dropped out",
      after: [b.answered("other", "agent2.1", 1), b.agentFailed("other"), ...alone, ...won],
      says: ["other dropped out after its answer: It cannot go on. 2 of 2 agents took part."],
    },
    {
      name: "an agent without an answer when time ran out did not take part",
      after: [
        ...alone,
        b.settled("good", "agent1.1", "deadline", { "agent1.1": 1 }),
        b.completed("good", "x"),
      ],
      says: ["other dropped out: Time ran out before its first answer. 1 of 2 agents took part."],
    },
    ...(["deadline", "budget"] as const).map((end) => ({
      name: `an agent whose unfinished text became its answer at the ${end} took part, but dropped out`,
      after: [
        ...alone,
        b.callDeferred("other", "c1"),
        unfinished("other", "agent2.1", 2, 1_000),
        settledAt(1_000, end),
        b.completed("good", "x"),
      ],
      says: [
        `other dropped out: ${end === "budget" ? "The budget" : "Time"} ran out before it finished; what it had written is its answer. 2 of 2 agents took part.`,
      ],
    })),
    ...(["deadline", "budget"] as const).map((end) => ({
      name: `an agent that had used up its calls before the ${end} ended coordination did not drop out`,
      after: [
        b.callStarted("other", "c1"),
        b.callCompleted("other", "c1"),
        unfinished("other", "agent2.1", 1, 900),
        b.answered("good", "agent1.1", 2),
        settledAt(1_000, end),
        b.completed("good", "x"),
      ],
      says: [],
    })),
    {
      name: "an agent that used up its calls at the moment when the budget ran out did not drop out",
      after: [
        b.answered("good", "agent1.1", 1),
        b.callDeferred("other", "c1"),
        b.callStarted("other", "c1"),
        b.callCompleted("other", "c1"),
        unfinished("other", "agent2.1", 2, 1_000),
        settledAt(1_000, "budget"),
        b.completed("good", "x"),
      ],
      says: [],
    },
    {
      name: "an agent that voted after its answer was cut off did not drop out",
      after: [
        { ...b.answered("other", "agent2.1", 1), origin: "partial" } as b.Body,
        b.answered("good", "agent1.1", 2),
        b.voted("other", "agent1.1"),
        b.settled("good", "agent1.1", "deadline", { "agent1.1": 1 }),
        b.completed("good", "x"),
      ],
      says: [],
    },
    {
      name: "the warning has the last failed call if the budget stopped the agent",
      after: [
        b.callStarted("other", "c1"),
        b.callFailed("other", "c1"),
        ...alone,
        b.settled("good", "agent1.1", "budget", { "agent1.1": 1 }),
        b.completed("good", "x"),
      ],
      says: [
        "other dropped out: The budget ran out before its first answer. Its last call failed: The model is overloaded. 1 of 2 agents took part.",
      ],
    },
    {
      name: "the warning does not have a call that was cancelled at the end",
      after: [
        b.callStarted("other", "c1"),
        {
          ...b.callFailed("other", "c1", null),
          class: "cancelled",
          code: "deadline",
          message: "No longer needed.",
        } as b.Body,
        ...alone,
        b.settled("good", "agent1.1", "deadline", { "agent1.1": 1 }),
        b.completed("good", "x"),
      ],
      says: ["other dropped out: Time ran out before its first answer. 1 of 2 agents took part."],
    },
    {
      name: "a running turn has no count of the agents that took part",
      after: [b.agentFailed("other")],
      says: ["other dropped out: It cannot go on."],
    },
    {
      name: "a cancelled turn has no count, and an agent that still worked did not drop out",
      after: [...alone, b.settled("good", "agent1.1", "skipped"), b.cancelled("so far")],
      says: [],
    },
    {
      name: "a failed turn has no warning, because its failure has the reasons",
      after: [b.agentFailed("good"), b.failed("good", "other")],
      says: [],
    },
    {
      name: "without coordination, the agents that do not present did not drop out",
      after: [
        { ...b.settled("good", "agent1.1", "skipped", {}), label: null } as b.Body,
        b.presented("good", "x"),
        b.completed("good", "x"),
      ],
      says: [],
    },
    {
      name: "each agent that dropped out has a warning, and the last warning has the count",
      after: [
        b.agentFailed("good"),
        b.agentFailed("other"),
        b.completed("good", "of an earlier attempt"),
      ],
      says: [
        "good dropped out: It cannot go on.",
        "other dropped out: It cannot go on. 0 of 2 agents took part.",
      ],
    },
  ])("$name", ({ after, says }) => {
    const story = after[0]?.type === "round.started" ? b.story : [...base, ...after];
    expect(warnings(story)).toEqual(says);
  });

  it("is in the API's turn and in each attempt; an earlier attempt has the state at its end", () => {
    const rejected = [
      b.agentFailed("other"),
      ...alone,
      b.settled("good", "agent1.1", "consensus", { "agent1.1": 1 }),
      b.attemptStarted(2),
      { ...b.answered("other", "agent2.1", 1), attempt: 2 },
    ];
    const turn = toTurn(b.view(b.log([...base, ...rejected])), 1);
    expect(TurnResponseSchema.parse(turn)).toEqual(turn);
    expect(turn?.attempts.map(({ agents }) => agents)).toEqual([
      [
        { agent: "good", status: "voted", took_part: true, error: null },
        {
          agent: "other",
          status: "error",
          took_part: false,
          error: { code: "bad_credentials", message: "It cannot go on." },
        },
      ],
      [
        { agent: "good", status: "waiting", took_part: false, error: null },
        { agent: "other", status: "answered", took_part: true, error: null },
      ],
    ]);
    expect(turn?.agents[1]).toMatchObject({
      agent: "other",
      provider: "chatcompletion",
      took_part: true,
    });
  });

  it.each([
    {
      name: "cancelled",
      end: [b.cancelled(null)],
      message: "The turn was cancelled before its first answer.",
    },
    {
      name: "cancelled",
      end: [b.settled("good", "agent1.1", "cancelled"), b.cancelled("so far")],
      message: "The turn was cancelled before its first answer.",
    },
    {
      name: "budget",
      end: [b.settled("good", "agent1.1", "budget", { "agent1.1": 1 }), b.completed("good", "x")],
      message: "The budget ran out before its first answer.",
    },
  ])(
    "an agent whose first call was running when the turn ended is not completed: $name",
    ({ name, end, message }) => {
      const turn = toTurn(
        b.view(b.log([...base, b.callStarted("other", "c1"), ...alone, ...end])),
        1,
      );
      const participant = {
        agent: "other",
        status: "error",
        took_part: false,
        error: { code: name, message },
      };
      expect(turn?.agents[1]).toMatchObject(participant);
      expect(turn?.attempts[0]?.agents[1]).toEqual(participant);
      expect(turn?.agents[0]).toMatchObject({ took_part: true, error: null });
    },
  );

  it("in a turn that is cancelled before its first attempt, no agent took part", () => {
    const turn = toTurn(b.view(b.log([...base.slice(0, 2), b.cancelled(null)])), 1);
    const error = { code: "cancelled", message: "The turn was cancelled before its first answer." };
    expect(turn?.agents).toMatchObject([{ status: "error", took_part: false, error }, { error }]);
  });

  it("in a cancelled turn without coordination, only the presenter was stopped", () => {
    const settled = { ...b.settled("good", "agent1.1", "skipped", {}), label: null } as b.Body;
    const turn = toTurn(
      b.view(b.log([...base, settled, b.callStarted("good", "c1"), b.cancelled(null)])),
      1,
    );
    expect(turn?.agents).toMatchObject([
      { status: "error", error: { code: "cancelled" } },
      { error: null },
    ]);
  });

  it("an agent that has only a voided vote did not take part", () => {
    const after = [
      b.voted("other", "agent1.1"),
      b.answered("good", "agent1.2", 2),
      b.votesCleared("agent1.2", ["other", "agent1.1"]),
    ];
    const turn = turnAfter([...base, b.answered("good", "agent1.1", 1), ...after]);
    expect(participantsOfTurn(turn).map(({ tookPart }) => tookPart)).toEqual([true, false]);
  });
});
