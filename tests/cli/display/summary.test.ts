import { describe, expect, it } from "vitest";
import { eventLine } from "../../../cli/display/turn-lines";
import { paint } from "../../../cli/terminal/output";
import { finalText, summaryLines } from "../../../cli/display/summary";
import { turnOf } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";
import { base, turnAfter } from "./shown-turn";

describe("the summary of a turn", () => {
  const url = "http://127.0.0.1:8787/api/sessions/session_01jd";
  const text = (bodies: b.Body[]) =>
    summaryLines(turnAfter(bodies), url).map((line) => paint(line, { width: 300, color: false }));

  it("has the votes with reasons, the winner, the tokens, the cost and the run's address", () => {
    expect(text(b.story)).toEqual([
      "vote    anna → agent1.1: because of agent1.1",
      "vote    ben → agent1.1: because of agent1.1",
      "winner  anna with agent1.1, 2 of 2 votes, unanimous",
      "tokens  1,200 (in 1,000, out 200), and 40 reserved by calls that reported nothing",
      "cost    $2.25 reported, $2.50 at most: calls that were cut off report nothing",
      `run     ${url}`,
    ]);
  });
  it("names the leading answer of a cancelled turn", () => {
    const beforePresentation = b.story.slice(
      0,
      b.story.findIndex(({ type }) => type === "presentation.started"),
    );
    expect(text([...beforePresentation, b.cancelled("so far")])).toContain(
      "leading when cancelled: anna (agent1.1), 2 of 2 votes, unanimous",
    );
  });
  it("counts the votes if agents disagree, and does not contain the word consensus (A6)", () => {
    const votes = [
      b.answered("anna", "agent1.1", 1),
      b.answered("ben", "agent2.1", 2),
      b.voted("anna", "agent1.1"),
      b.voted("ben", "agent2.1"),
    ];
    const tally = { "agent1.1": 1, "agent2.1": 1 };
    const story = [
      ...base,
      ...votes,
      { ...b.settled("anna", "agent1.1", "consensus", tally), tie: true } as b.Body,
    ];
    const lines = text([...story, b.completed("anna", "x")]);
    expect(lines).toContain(
      "winner  anna with agent1.1, 1 of 2 votes (a tie: the earlier answer wins) (agent1.1: 1, agent2.1: 1)",
    );
    const events = b.log(story);
    const [event, turn] = [events.at(-1), turnOf(b.view(events))];
    const line = event && turn ? eventLine(event, turn) : null;
    expect(paint(line ?? [], { width: 200, color: false })).toBe(
      "00:00  settled: agent1.1 wins, 1 of 2 votes (a tie: the earlier answer wins)",
    );
  });
  it("warns of an agent that dropped out, and counts no votes if one agent is left (A1)", () => {
    const story = [
      ...base,
      b.agentFailed("ben"),
      b.answered("anna", "agent1.1", 1),
      b.voted("anna", "agent1.1"),
    ];
    const outcome = [
      b.settled("anna", "agent1.1", "consensus", { "agent1.1": 1 }),
      b.completed("anna", "x"),
    ];
    expect(text([...story, ...outcome])).toEqual(
      expect.arrayContaining([
        "warning  ben dropped out: It cannot go on. 1 of 2 agents took part.",
        "winner  anna with agent1.1, no other agent voted",
      ]),
    );
  });
  it("warns if the final text is not by the presenter", () => {
    const story = b.story.map((body) =>
      body.type === "presentation.completed"
        ? b.presented("anna", "x", { source: "answer", fallback: "too_large" })
        : body,
    );
    expect(text(story)).toContain(
      "warning  anna could not present the final text (too_large): its answer is used instead.",
    );
  });
  it("has the number of files changed by a presenter that was cut off (D3)", () => {
    const story = b.story.map((body) =>
      body.type === "presentation.completed"
        ? b.presented("anna", "x", { source: "answer", fallback: "call_cap", changed_files: 4 })
        : body,
    );
    const message = "its answer is used instead; the files it had changed are handed over (4).";
    expect(text(story)).toContain(
      `warning  anna could not present the final text (call_cap): ${message}`,
    );
  });
  it("names each agent's reason when the turn failed", () => {
    expect(text([...base, b.failed("anna", "ben")]).slice(0, 3)).toEqual([
      "failed  No agent gave an answer.",
      "        anna: 500",
      "        ben: 500",
    ]);
  });
  it("has the failure of an agent's last call if budget or time prevented another call", () => {
    const bodies = [
      ...base,
      b.callStarted("anna", "c1"),
      b.callFailed("anna", "c1", null),
      b.failed("anna", "ben"),
    ];
    expect(text(bodies).slice(1, 3)).toEqual([
      "        anna: 500 Its last call failed: The model is overloaded.",
      "        ben: 500",
    ]);
  });
  it("removes control sequences from the final text, and keeps its lines", () => {
    expect(finalText(turnAfter([...base, b.completed("anna", "# A\x1b[31m\n\n\tcode\n\n")]))).toBe(
      "# A\n\n\tcode",
    );
  });
});
