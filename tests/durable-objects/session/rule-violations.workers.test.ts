import { describe, expect, inject, it } from "vitest";
import type { WireEvent } from "../../../src/protocol/events";
import { follow, start, teamOf, typesOf, withServers } from "./session-client";

/**
 * Agents that break the rules, in whole runs. Their actions are refused, and the other agents
 * continue. The model names select behaviours of the simulated provider.
 */

const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);
const run = async (
  models: string[],
  more: Record<string, unknown> = {},
  body: Record<string, unknown> = {},
) => {
  const { events } = await follow(await start(teamOf(models, more), body));
  return events;
};
const end = (events: readonly WireEvent[]) => events.at(-1);
const votes = (events: readonly WireEvent[]) =>
  ofType(events, "vote.cast").map(({ agent, label }) => `${agent} → ${label}`);
const refusals = (events: readonly WireEvent[]) =>
  ofType(events, "vote.refused").map(({ agent, code }) => `${agent} ${code}`);

/** The number of an agent's tool calls in progress after each event. */
const openCalls = (events: readonly WireEvent[], agent: string) => {
  let open = 0;
  return events.map((event) => {
    if ("agent" in event && event.agent === agent)
      open += event.type === "tool.started" ? 1 : event.type === "tool.completed" ? -1 : 0;
    return open;
  });
};

describe("F1 a vote", () => {
  it("for the agent's own answer counts, because agents do not know the authors", async () => {
    const events = await run(["vain", "plain"]);
    expect(votes(events)).toContain("a0 → agent1.1");
    expect(end(events)).toMatchObject({ type: "turn.completed", finish_reason: "consensus" });
  });

  it("for an unknown alias, for a label or for a path is refused, and the agent may vote again", async () => {
    const events = await run(["lost", "plain"]);
    expect(refusals(events)).toEqual(["a0 unknown_alias", "a0 unknown_alias", "a0 unknown_alias"]);
    expect(votes(events).filter((vote) => vote.startsWith("a0"))).toHaveLength(1);
    expect(end(events)).toMatchObject({ type: "turn.completed", finish_reason: "consensus" });
  });

  it("for an unknown alias in every call makes only this agent fail", async () => {
    const events = await run(["stubborn", "plain", "solid"]);
    // There are four refusals in each of three rounds.
    expect(refusals(events)).toEqual(Array(12).fill("a0 unknown_alias"));
    expect(ofType(events, "agent.failed").map(({ agent }) => agent)).toEqual(["a0"]);
    expect(votes(events).filter((vote) => vote.startsWith("a0"))).toEqual([]);
    expect(new Set(ofType(events, "vote.cast").map(({ agent }) => agent))).toEqual(
      new Set(["a1", "a2"]),
    );
    expect(end(events)).toMatchObject({ type: "turn.completed" });
  });

  it("in the same reply as a new answer is refused, and so is the answer", async () => {
    const events = await run(["undecided", "plain"]);
    expect(refusals(events)).toEqual(["a0 choose_one"]);
    expect(ofType(events, "answer.refused").map(({ agent, code }) => `${agent} ${code}`)).toEqual([
      "a0 choose_one",
    ]);
    expect(end(events)).toMatchObject({ type: "turn.completed", finish_reason: "consensus" });
  });

  it("counts once if it is in one reply forty times", async () => {
    const events = await run(["eager", "plain"]);
    expect(votes(events).filter((vote) => vote.startsWith("a0"))).toHaveLength(1);
    expect(end(events)).toMatchObject({ type: "turn.completed", finish_reason: "consensus" });
  });

  it("that is only written in an answer's text does not count", async () => {
    const events = await run(["forger", "plain"]);
    expect(votes(events)).toHaveLength(2);
    expect(
      ofType(events, "answer.submitted")
        .map(({ agent }) => agent)
        .sort(),
    ).toEqual(["a0", "a1"]);
  });
});

it("F2 an agent that always gives new answers may give five, and can then only vote", async () => {
  const events = await run(["restless", "restless"]);
  const answers = ofType(events, "answer.submitted");
  expect(answers.length).toBeLessThanOrEqual(10);
  expect(end(events)).toMatchObject({ type: "turn.completed", finish_reason: "consensus" });
});

it("F3 an agent that never decides gets four calls, and then its text becomes its answer", async () => {
  const events = await run(["talker", "plain"]);
  const before = events.slice(
    0,
    events.findIndex((event) => event.type === "answer.submitted" && event.agent === "a0") + 1,
  );
  expect(ofType(before, "call.started").filter(({ agent }) => agent === "a0")).toHaveLength(4);
  expect(ofType(before, "answer.submitted").find(({ agent }) => agent === "a0")).toMatchObject({
    origin: "partial",
  });
  expect(end(events)).toMatchObject({ type: "turn.completed" });
});

it("F4 a run whose agents all fail ends with the reason of each agent, and without a final text", async () => {
  const events = await run(["keyless", "keyless"]);
  expect(typesOf(events)).not.toContain("presentation.completed");
  expect(end(events)).toMatchObject({
    type: "turn.failed",
    agents: [
      { agent: "a0", code: expect.any(String), message: expect.stringMatching(/\w/) },
      { agent: "a1", code: expect.any(String), message: expect.stringMatching(/\w/) },
    ],
  });
});

it("F5 a tie is won by the earliest answer", async () => {
  const events = await run(["vain", "proud"]);
  const [settled] = ofType(events, "attempt.settled");
  const [first] = ofType(events, "answer.submitted");
  expect(settled).toMatchObject({
    tie: true,
    ended_by: "consensus",
    winner: first?.agent,
    label: first?.label,
  });
  expect(end(events)).toMatchObject({ type: "turn.completed", winner: first?.agent });
});

describe("F6 very many tool calls in one reply", () => {
  it("are refused from the 65th on, and the agent still answers", async () => {
    const events = await run(["wrecker", "plain"]);
    const rounds = Map.groupBy(
      ofType(events, "tool.completed"),
      ({ agent, round }) => `${agent} ${round}`,
    );
    expect(new Set(rounds.keys())).toContain("a0 1");
    for (const tools of rounds.values()) {
      const outcomes = tools.map(({ outcome }) => outcome);
      // The first 64 calls fail, because no agent has the tool.
      expect(outcomes).toEqual([...Array(64).fill("error"), ...Array(936).fill("refused")]);
    }
    expect(ofType(events, "answer.submitted").map(({ agent }) => agent)).toContain("a0");
    expect(end(events)).toMatchObject({ type: "turn.completed" });
  });

  it("run at most eight at a time while their server does not answer, and none is lost", async () => {
    const box = { name: "box", url: inject("holdingServerUrl") };
    const { events } = await follow(await start(withServers(["grabber", "plain"], [box])));
    const [answer] = ofType(events, "answer.submitted").filter(({ agent }) => agent === "a0");
    const held = [...(answer?.content ?? "").matchAll(/(\d+) held/g)].map(([, open]) =>
      Number(open),
    );
    expect([held.length, Math.max(...held)]).toEqual([20, 8]);
    expect(Math.max(...openCalls(events, "a0"))).toBe(8);
    expect(end(events)).toMatchObject({ type: "turn.completed" });
  });

  it("beyond the limit of a reply make the model call fail, but no call of another agent", async () => {
    const events = await run(["flood", "plain"], {}, { timeout_seconds: 20 });
    expect(ofType(events, "call.failed").map(({ agent, code }) => `${agent} ${code}`)).toContain(
      "a0 too_many_tool_calls",
    );
    expect(end(events)).toMatchObject({ type: "turn.completed", winner: "a1" });
  });
});

it("F9 a token cap is not exceeded, and when it is reached, the existing answers are used", async () => {
  const events = await run(
    ["restless", "restless", "restless"],
    {},
    { budget: { max_tokens: 12_000 } },
  );
  const last = end(events);
  if (last?.type !== "turn.completed")
    throw new Error(`the run ended with ${JSON.stringify(last)}`);
  expect(last.usage.input_tokens + last.usage.output_tokens).toBeLessThanOrEqual(12_000);
  expect(ofType(events, "attempt.settled")).toMatchObject([{ ended_by: "budget" }]);
});
