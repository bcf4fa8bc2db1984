import { describe, expect, it } from "vitest";
import { describeEvent } from "../../cli/describe";
import { turnLines } from "../../cli/display";
import { jsonDisplay } from "../../cli/json-display";
import { paint } from "../../cli/paint";
import { plainDisplay } from "../../cli/plain-display";
import { finalText, summaryLines } from "../../cli/summary";
import { widthOf } from "../../cli/text-width";
import { apply, emptyView, turnOf } from "../../src/protocol/view";
import * as b from "../protocol/builders";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];
const turnAfter = (bodies: b.Body[]) => {
  const turn = turnOf(b.view(b.log(bodies)));
  if (!turn) throw new Error("no turn");
  return turn;
};
const settling = b.story.slice(
  0,
  b.story.findIndex(({ type }) => type === "attempt.settled"),
);
const NOW = b.START + 65_100;
const drawn = (bodies: b.Body[], { width = 140, height = 20 } = {}) =>
  turnLines(turnAfter(bodies), { width, height, now: NOW }).map((line) => paint(line, { width, color: false }));

describe("the lines of a turn", () => {
  it("show the team and each agent in columns", () => {
    expect(drawn(settling)).toEqual([
      "enforcement  01:05 · 3 answers · 2 votes · 240 tokens + 40 reserved · $1.25",
      "anna  voted  round 2  1 answer (agent1.1)   → agent1.1  120 tok                $0.5000",
      "ben   voted  round 2  2 answers (agent2.2)  → agent1.1  120 tok + 40 reserved  $0.7500",
    ]);
  });

  it.each([
    {
      width: 60,
      lines: [
        "enforcement  2 votes · 240 tokens + 40 reserved · $1.25",
        "anna  voted  r2  1 ans  → 1.1  120 tok     $0.5000",
        "ben   voted  r2  2 ans  → 1.1  120+40 tok  $0.7500",
      ],
    },
    {
      width: 40,
      lines: ["enforcement  $1.25", "anna  voted  → 1.1  $0.5000", "ben   voted  → 1.1  $0.7500"],
    },
  ])("show the cost of each agent on $width columns", ({ width, lines }) => {
    expect(drawn(settling, { width })).toEqual(lines);
  });

  it.each([
    {
      name: "the end of what it is writing",
      after: [b.callStarted("anna", "c1"), b.delta("anna", { call: "c1", offset: 0, text: `${"x".repeat(300)} the end` })],
      shows: /….*x the end$/,
    },
    { name: "that it thinks before the first text", after: [b.callStarted("anna", "c1")], shows: /thinks$/ },
    {
      name: "an answer in a tool call without its escapes",
      after: [
        b.callStarted("anna", "c1"),
        b.delta("anna", { call: "c1", offset: 0, kind: "tool_arguments", text: '{"content":"a\\nsaid \\"b\\"' }),
      ],
      shows: /a said "b"$/,
    },
    {
      name: "when a failed call is tried again, and why",
      after: [b.callStarted("anna", "c1"), b.callFailed("anna", "c1", NOW + 2_500)],
      shows: /tries again in 3 s: The model is overloaded\.$/,
    },
    { name: "why it failed", after: [b.agentFailed("anna")], shows: /error .*It cannot go on\.$/ },
    {
      name: "the tools it uses",
      after: [{ type: "tool.started", attempt: 1, agent: "anna", round: 1, tool_call: "t", name: "read_file" } as const],
      shows: /uses read_file$/,
    },
    {
      name: "how far a tool is, and by whose word",
      after: [
        { type: "tool.started", attempt: 1, agent: "anna", round: 1, tool_call: "t1", name: "mcp__box__ask" } as const,
        b.progressed("anna", 3, "reads\n\x1b[2Jpages"),
      ],
      shows: /uses mcp__box__ask \(3 of 10, reads pages \(https:\/\/box\.example\.com\)\)$/,
    },
  ])("show $name", ({ after, shows }) => {
    expect(drawn([...base, ...after])[1]).toMatch(shows);
  });

  it("never hold control sequences of models, ids or servers", () => {
    const evil = "\x1b[2J\x1b]0;t\x07\r\nevil";
    const team = [
      b.created(evil),
      b.turnStarted(evil),
      b.attemptStarted(),
      b.callStarted(evil, "c1"),
      b.delta(evil, { call: "c1", offset: 0, text: evil }),
    ];
    expect(drawn(team)[1]).toMatch(/^evil {2}streaming {2}.* {2}evil$/);
  });

  it.each([20, 40, 60, 79, 139, 200])("fit into %i columns, wide characters too", (width) => {
    const text = "漢字😀".repeat(100);
    const lines = drawn([...base, b.callStarted("anna", "c1"), b.delta("anna", { call: "c1", offset: 0, text })], { width });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
  });

  it("fit into a low terminal and say how many agents are left out", () => {
    const ids = Array.from({ length: 12 }, (_, index) => `agent_${index}`);
    const lines = drawn([b.created(...ids), b.turnStarted(...ids), b.attemptStarted()], { height: 6 });
    expect([lines.length, lines.at(-1)]).toEqual([6, "and 8 more agents"]);
  });
});

describe("what an event means to somebody who watches", () => {
  const told = (body: b.Body, before: b.Body[] = base) => {
    const events = b.log([...before, body]);
    const event = events.at(-1);
    const turn = turnOf(b.view(events));
    const line = event && turn && describeEvent(event, turn);
    return line ? paint(line, { width: 200, color: false }) : null;
  };
  const touched = (refused: string | null) => ({ operation: "write" as const, path: "/peers/agent2/a", refused });
  const inRound = { attempt: 1, agent: "anna", round: 1 };
  it.each<{ body: b.Body; line: string | null }>([
    { body: b.roundStarted("anna", 2, ["agent2.1"]), line: "00:00  anna begins round 2 with agent2.1" },
    { body: b.answered("anna", "agent1.1", 1, "12345"), line: "00:00  anna answers: agent1.1 (5 characters)" },
    { body: b.voted("anna", "agent2.1", 1, "it is\nclear"), line: "00:00  anna votes for agent2.1: it is clear" },
    {
      body: b.voteStale("anna", "agent2.1", ["agent2.2"]),
      line: "00:00  anna votes for agent2.1 before it has seen agent2.2: not counted",
    },
    { body: b.votesCleared("agent2.2", ["anna", "agent2.1"]), line: "00:00  agent2.2 voids 1 vote: anna" },
    { body: b.votesCleared("agent2.2"), line: null },
    { body: b.injected("anna", ["agent2.2"]), line: "00:00  anna is shown agent2.2 while it works" },
    { body: b.injected("anna", ["agent2.2"], "reopened"), line: "00:00  anna is shown agent2.2 and decides again" },
    {
      body: b.callFailed("anna", "c1", b.START + 1_300),
      line: "00:00  anna has a call fail, next try in 1.0 s: The model is overloaded.",
    },
    { body: b.agentFailed("anna"), line: "00:00  anna drops out: It cannot go on." },
    {
      body: { type: "answer.refused", ...inRound, tool_call: "t", code: "empty_answer", message: "It is empty." },
      line: "00:00  anna has an answer refused: It is empty.",
    },
    {
      body: { type: "tool.unknown", ...inRound, tool_call: "t", name: "send_mail" },
      line: "00:00  anna send_mail: whether it did its work is unknown",
    },
    {
      body: { type: "files.accessed", ...inRound, tool_call: "t", name: "write_file", accesses: [touched("read_only")] },
      line: "00:00  anna may not write /peers/agent2/a",
    },
    {
      body: {
        type: "files.accessed",
        ...inRound,
        tool_call: "t",
        name: "read_file",
        accesses: [touched("not_found"), touched(null)],
      },
      line: null,
    },
    { body: b.progressed("anna", 4), line: "00:00  anna mcp__box__ask: 4 of 10 (https://box.example.com)" },
    {
      body: b.progressed("anna", 4, "reads", null),
      line: "00:00  anna mcp__box__ask: 4, reads (https://box.example.com)",
    },
    { body: b.settled("anna", "agent1.1"), line: "00:00  settled: agent1.1 wins, 2 of 2 votes, unanimous" },
    { body: b.presenting("anna", "agent1.1"), line: "00:00  anna presents the final answer" },
    { body: b.completed("anna", "x"), line: "00:00  turn 1 is complete" },
    { body: b.failed("anna"), line: "00:00  turn 1 failed: No agent gave an answer." },
    { body: b.delta("anna", { call: "c", offset: 0, text: "x" }), line: null },
  ])("$body.type: $line", ({ body, line }) => {
    expect(told(body)).toBe(line);
  });
});

describe("D18 what a tool's server wants of a person", () => {
  it("is shown as text, with its origin, and a refused address by its reason", () => {
    const events = b.log([...base, b.inputRequired("anna")]);
    const [event, turn] = [events.at(-1), turnOf(b.view(events))];
    const line = event && turn ? describeEvent(event, turn) : null;
    expect(paint(line ?? [], { width: 1_000, color: false })).toBe(
      "00:00  anna mcp__box__ask: https://box.example.com wants a person to fill in a form: Your password?; to open " +
        "https://pay.example.com/x: Pay; to open an address that is not shown, as its scheme is javascript, and only https is " +
        "shown: Open this; something else: sampling/createMessage. Nobody answers it",
    );
  });
});

describe("the summary of a turn", () => {
  const url = "http://127.0.0.1:8787/api/sessions/session_01jd";
  const text = (bodies: b.Body[]) =>
    summaryLines(turnAfter(bodies), url).map((line) => paint(line, { width: 300, color: false }));

  it("names votes with reasons, winner, tokens, cost and where the run lies", () => {
    expect(text(b.story)).toEqual([
      "vote    anna → agent1.1: because of agent1.1",
      "vote    ben → agent1.1: because of agent1.1",
      "winner  anna with agent1.1, 2 of 2 votes, unanimous",
      "tokens  1,200 (in 1,000, out 200), and 40 reserved by calls that reported nothing",
      "cost    $2.25 reported, $2.50 at most: calls that were cut off report nothing",
      `run     ${url}`,
    ]);
  });
  it("names who was ahead when the turn was cancelled", () => {
    const open = b.story.slice(
      0,
      b.story.findIndex(({ type }) => type === "presentation.started"),
    );
    expect(text([...open, b.cancelled("so far")])).toContain("ahead   anna with agent1.1, 2 of 2 votes, unanimous");
  });
  it("counts the votes where agents disagree, and never says consensus (A6)", () => {
    const votes = [
      b.answered("anna", "agent1.1", 1),
      b.answered("ben", "agent2.1", 2),
      b.voted("anna", "agent1.1"),
      b.voted("ben", "agent2.1"),
    ];
    const tally = { "agent1.1": 1, "agent2.1": 1 };
    const story = [...base, ...votes, { ...b.settled("anna", "agent1.1", "consensus", tally), tie: true } as b.Body];
    const lines = text([...story, b.completed("anna", "x")]);
    expect(lines).toContain(
      "winner  anna with agent1.1, 1 of 2 votes (a tie: the earlier answer wins) (agent1.1: 1, agent2.1: 1)",
    );
    const events = b.log(story);
    const [event, turn] = [events.at(-1), turnOf(b.view(events))];
    const line = event && turn ? describeEvent(event, turn) : null;
    expect(paint(line ?? [], { width: 200, color: false })).toBe(
      "00:00  settled: agent1.1 wins, 1 of 2 votes (a tie: the earlier answer wins)",
    );
  });
  it("warns of an agent that dropped out, and calls no lone survivor a winner of votes (A1)", () => {
    const story = [...base, b.agentFailed("ben"), b.answered("anna", "agent1.1", 1), b.voted("anna", "agent1.1")];
    const ended = [b.settled("anna", "agent1.1", "consensus", { "agent1.1": 1 }), b.completed("anna", "x")];
    expect(text([...story, ...ended])).toEqual(
      expect.arrayContaining([
        "warning  ben dropped out: It cannot go on. 1 of 2 agents took part.",
        "winner  anna with agent1.1, no other agent voted",
      ]),
    );
  });
  it("says if the final text is not the presenter's own", () => {
    const story = b.story.map((body) =>
      body.type === "presentation.completed" ? b.presented("anna", "x", { source: "answer", fallback: "too_large" }) : body,
    );
    expect(text(story)).toContain("warning  anna could not present the final text (too_large): its answer stands in for it.");
  });
  it("says how many files of a presenter that was cut off are handed over (D3)", () => {
    const story = b.story.map((body) =>
      body.type === "presentation.completed"
        ? b.presented("anna", "x", { source: "answer", fallback: "call_cap", changed_files: 4 })
        : body,
    );
    const said = "its answer stands in for it; the files it had changed are handed over (4).";
    expect(text(story)).toContain(`warning  anna could not present the final text (call_cap): ${said}`);
  });
  it("names each agent's reason when the turn failed", () => {
    expect(text([...base, b.failed("anna", "ben")]).slice(0, 3)).toEqual([
      "failed  No agent gave an answer.",
      "        anna: 500",
      "        ben: 500",
    ]);
  });
  it("says why an agent's last call failed where money or time ended it for lack of another", () => {
    const bodies = [...base, b.callStarted("anna", "c1"), b.callFailed("anna", "c1", null), b.failed("anna", "ben")];
    expect(text(bodies).slice(1, 3)).toEqual([
      "        anna: 500 Its last call failed: The model is overloaded.",
      "        ben: 500",
    ]);
  });
  it("strips the final text, and keeps its lines", () => {
    expect(finalText(turnAfter([...base, b.completed("anna", "# A\x1b[31m\n\n\tcode\n\n")]))).toBe("# A\n\n\tcode");
  });
});

describe("displays for files and pipes", () => {
  const collect = () => {
    const texts: string[] = [];
    return { texts, write: (text: string) => texts.push(text) };
  };
  it("the plain one has a line for each change and no escape codes", () => {
    const output = collect();
    const display = plainDisplay(output);
    const view = emptyView();
    for (const event of b.log(b.story)) display.update({ event, raw: "" }, apply(view, event));
    const text = output.texts.join("");
    expect(text.split("\n").slice(0, 4)).toEqual([
      "00:00  turn 1 begins: 2 agents",
      "00:00  anna begins round 1",
      "00:00  ben begins round 1",
      "00:00  ben has a call fail, next try in 59.1 s: The model is overloaded.",
    ]);
    expect(text).not.toContain("\x1b");
  });
  it("the JSON one prints each event on one line, known or not, safe for terminals", () => {
    const output = collect();
    const display = jsonDisplay(output, collect());
    display.update({ event: null, raw: '{"type":"from.the.future",\n"x":"\x9b31m"}' }, emptyView());
    expect(output.texts).toEqual(['{"type":"from.the.future", "x":"\\u009b31m"}\n']);
  });
});
