import { describe, expect, it } from "vitest";
import { describeEvent } from "../../../src/describe/events";
import { turnOf } from "../../../src/protocol/view";
import { toStatus, toTurn } from "../../../src/protocol/view/status";
import * as b from "../builders";

const summarised: b.Body = {
  type: "history.summarised",
  ...{ agent: "anna", attempt: 1, round: 1, turns: [1, 2, 4], text: "They built a boat." },
};
const cut: b.Body = {
  type: "history.cut",
  ...{ agent: "anna", attempt: 1, code: "quota", message: "The quota is used up." },
};
const planned = {
  bytes: 1_000,
  summary: 2,
  summarises: { turns: [1, 2, 4], agent: "anna" },
};
const begin = (history?: object): b.Body[] => [
  b.created("anna", "ben"),
  { ...b.turnStarted("anna", "ben"), ...(history && { history }) } as b.Body,
  b.attemptStarted(),
];
const turnAfter = (bodies: b.Body[]) => {
  const view = b.view(b.log(bodies));
  return { summary: toStatus(view, { now: b.START })?.turns[0], turn: toTurn(view, 1), view };
};

describe("what a turn shows of earlier turns", () => {
  it("is omitted if the agents read all of it", () =>
    expect(turnAfter(begin()).turn).not.toHaveProperty("history"));

  it("is the stored summary", () =>
    expect(turnAfter(begin({ bytes: 1_000, summary: 2 })).summary?.history).toEqual({
      ...{ summary_through: 2, summary_turns: 0, written_by: null, cut: null },
    }));

  it("is the new summary, whose text the turn has", () => {
    const { summary, turn } = turnAfter([...begin(planned), summarised]);
    const history = { summary_through: 4, summary_turns: 3, written_by: "anna", cut: null };
    expect(summary?.history).toEqual(history);
    expect(turn).toMatchObject({ history, summary: "They built a boat." });
  });

  it("is the older summary with the reason why texts are cut", () =>
    expect(turnAfter([...begin(planned), cut]).turn?.history).toMatchObject({
      ...{ summary_through: 2, written_by: null },
      cut: { code: "quota", message: "The quota is used up." },
    }));
});

it("a turn that only summarises leaves the head where it is", () => {
  const compact = { ...b.turnStarted("anna"), kind: "compact", parent_turn: 1, turn: 2 } as b.Body;
  const { view } = turnAfter([...begin(), compact]);
  expect(view.head).toBe(1);
  expect(view.turns[1]?.kind).toBe("compact");
});

it.each([
  {
    name: "a summary of all turns until a turn",
    body: { ...summarised, turns: [1, 2, 3] } as b.Body,
    text: " has summarised turns 1 to 3",
  },
  {
    name: "a summary of one turn",
    body: { ...summarised, turns: [1] } as b.Body,
    text: " has summarised turn 1",
  },
  { name: "a summary", body: summarised, text: " has summarised 3 turns until turn 4" },
  {
    name: "cut texts",
    body: cut,
    text: " did not summarise the older turns (The quota is used up): the oldest texts are cut",
  },
  {
    name: "the start of the round",
    body: { ...b.roundStarted("anna"), purpose: "summary" } as b.Body,
    text: " summarises older turns",
  },
])("$name is described for people", ({ body, text }) => {
  const events = b.log([...begin(planned), body]);
  const [event, turn] = [events.at(-1), turnOf(b.view(events))];
  expect(event && turn && describeEvent(event, turn)).toMatchObject({ agent: "anna", text });
});
