import { describe, expect, it } from "vitest";
import {
  type QuestionAttachments,
  decide,
  EMPTY_WORLD,
  emptySession,
  eventsOf,
  evolve,
  type Input,
  runningTurn,
  stateAfter,
} from "../../src/coordination";
import { minCallUsd } from "../../src/coordination/budget/budget";
import { SessionEventSchema } from "../../src/protocol/events";
import { agentRules, teamRules } from "./builders";

const ATTACHED: QuestionAttachments = {
  attachments: [
    { kind: "image", name: "a.png", media_type: "image/png", size: 68, sha256: "0".repeat(64) },
  ],
  tokens: 17_600,
};
const rules = teamRules([agentRules("a"), agentRules("b")]);

const startTurn = (attached: QuestionAttachments | null) => {
  const input: Input = {
    type: "turn_requested",
    rules,
    question: "What is it?",
    attached,
    parentTurn: null,
    budget: {},
    timeoutMs: null,
    at: 1_800_000_000_000,
    seed: 1,
  };
  const steps = decide(emptySession, input, EMPTY_WORLD);
  return { events: eventsOf(steps), turn: runningTurn(stateAfter(emptySession, steps)) };
};

describe("the attachments of a question", () => {
  it("are part of the turn's first event, and a fold of the stored log restores them", () => {
    const { events, turn } = startTurn(ATTACHED);
    expect(events.find(({ type }) => type === "turn.started")).toMatchObject({
      attachments: ATTACHED.attachments,
      attachment_tokens: ATTACHED.tokens,
    });
    expect(turn?.attached).toEqual(ATTACHED);
    const stored = events.map((event) =>
      SessionEventSchema.parse(JSON.parse(JSON.stringify(event))),
    );
    expect(runningTurn(stored.reduce(evolve, emptySession))).toEqual(turn);
  });

  it("have no field in the event and in the state if there are none", () => {
    const { events, turn } = startTurn(null);
    expect(Object.keys(events.find(({ type }) => type === "turn.started") ?? {})).not.toContain(
      "attachments",
    );
    expect(turn && "attached" in turn).toBe(false);
  });

  it("are part of the minimum cost of a call", () => {
    const addedUsd =
      minCallUsd(rules.agents, 100 + ATTACHED.tokens) - minCallUsd(rules.agents, 100);
    expect(addedUsd).toBeCloseTo(ATTACHED.tokens / 1_000_000, 9);
  });
});
