import { describe, expect, it } from "vitest";
import { jsonDisplay, plainDisplay } from "../../../cli/display/choose-display";
import { turnLines } from "../../../cli/display/turn-lines";
import { paint } from "../../../cli/terminal/output";
import { widthOf } from "../../../cli/terminal/text-width";
import { apply, emptyView } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";
import { base, turnAfter } from "./shown-turn";

const STORY_BEFORE_SETTLEMENT = b.story.slice(
  0,
  b.story.findIndex(({ type }) => type === "attempt.settled"),
);
const NOW = b.START + 65_100;
const draw = (bodies: b.Body[], { width = 140, height = 20 } = {}) =>
  turnLines(turnAfter(bodies), { width, height, now: NOW }).map((line) =>
    paint(line, { width, color: false }),
  );

describe("the lines of a turn", () => {
  it("show the team and each agent in columns", () => {
    expect(draw(STORY_BEFORE_SETTLEMENT)).toEqual([
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
    expect(draw(STORY_BEFORE_SETTLEMENT, { width })).toEqual(lines);
  });

  it.each([
    {
      name: "the end of the text that an agent writes",
      events: [
        b.callStarted("anna", "c1"),
        b.delta("anna", { call: "c1", offset: 0, text: `${"x".repeat(300)} the end` }),
      ],
      expected: /….*x the end$/,
    },
    {
      name: "an agent that thinks, before its first text",
      events: [b.callStarted("anna", "c1")],
      expected: /thinks$/,
    },
    {
      name: "an answer in a tool call without its escapes",
      events: [
        b.callStarted("anna", "c1"),
        b.delta("anna", {
          call: "c1",
          offset: 0,
          kind: "tool_arguments",
          text: '{"content":"a\\nsaid \\"b\\"',
        }),
      ],
      expected: /a said "b"$/,
    },
    ...[
      {
        name: "the file that an agent writes",
        text: '{"path":"/workspace/site/a.js","content":"x',
        expected: /writes site\/a\.js$/,
      },
      {
        name: "the text, as long as the path of a file has not arrived",
        text: '{"path":"si',
        expected: /\{"path":"si$/,
      },
      {
        name: "a large file, of whose arguments only the end is known",
        text: `{"path":"a.js","content":"${"x".repeat(40_000)}`,
        expected: /writes a large file$/,
      },
    ].map(({ text, ...row }) => ({
      ...row,
      events: [
        b.callStarted("anna", "c1"),
        b.delta("anna", {
          call: "c1",
          offset: 0,
          kind: "tool_arguments",
          name: "write_file",
          text,
        }),
      ],
    })),
    {
      name: "the time of a retry, and its reason",
      events: [b.callStarted("anna", "c1"), b.callFailed("anna", "c1", NOW + 2_500)],
      expected: /retrying in 3 s: The model is overloaded\.$/,
    },
    {
      name: "the reason of an agent's failure",
      events: [b.agentFailed("anna")],
      expected: /error .*It cannot go on\.$/,
    },
    {
      name: "the tools that an agent uses",
      events: [
        {
          type: "tool.started",
          attempt: 1,
          agent: "anna",
          round: 1,
          tool_call: "t",
          name: "read_file",
        } as const,
      ],
      expected: /uses read_file$/,
    },
    {
      name: "the progress of a tool, with the origin that reported it",
      events: [
        {
          type: "tool.started",
          attempt: 1,
          agent: "anna",
          round: 1,
          tool_call: "t1",
          name: "mcp__box__ask",
        } as const,
        b.progressed("anna", 3, "reads\n\x1b[2Jpages"),
      ],
      expected: /uses mcp__box__ask \(3 of 10, reads pages \(https:\/\/box\.example\.com\)\)$/,
    },
  ])("show $name", ({ events, expected }) => {
    expect(draw([...base, ...events])[1]).toMatch(expected);
  });

  it("never contain control sequences of models, ids or servers", () => {
    const evil = "\x1b[2J\x1b]0;t\x07\r\nevil";
    const team = [
      b.created(evil),
      b.turnStarted(evil),
      b.attemptStarted(),
      b.callStarted(evil, "c1"),
      b.delta(evil, { call: "c1", offset: 0, text: evil }),
    ];
    expect(draw(team)[1]).toMatch(/^evil {2}streaming {2}.* {2}evil$/);
  });

  it.each([20, 40, 60, 79, 139, 200])("fit into %i columns, even with wide characters", (width) => {
    const text = "漢字😀".repeat(100);
    const lines = draw(
      [...base, b.callStarted("anna", "c1"), b.delta("anna", { call: "c1", offset: 0, text })],
      { width },
    );
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(width);
  });

  it("fit into a low terminal, and the last line counts the omitted agents", () => {
    const ids = Array.from({ length: 12 }, (_, index) => `agent_${index}`);
    const lines = draw([b.created(...ids), b.turnStarted(...ids), b.attemptStarted()], {
      height: 6,
    });
    expect([lines.length, lines.at(-1)]).toEqual([6, "and 8 more agents"]);
  });
});

describe("displays for files and pipes", () => {
  const collect = () => {
    const texts: string[] = [];
    return { texts, write: (text: string) => texts.push(text) };
  };
  it("the plain display prints a line for each change, without escape codes", () => {
    const output = collect();
    const display = plainDisplay(output);
    const view = emptyView();
    for (const event of b.log(b.story)) display.update({ event, raw: "" }, apply(view, event));
    const text = output.texts.join("");
    expect(text.split("\n").slice(0, 4)).toEqual([
      "00:00  turn 1 started: 2 agents",
      "00:00  anna starts round 1",
      "00:00  ben starts round 1",
      "00:00  ben: model error (The model is overloaded), retrying in 59.1 s",
    ]);
    expect(text).not.toContain("\x1b");
  });
  it("the JSON display prints known and unknown events, each on one line, safe for terminals", () => {
    const output = collect();
    const display = jsonDisplay(output, collect());
    display.update({ event: null, raw: '{"type":"from.the.future",\n"x":"\x9b31m"}' }, emptyView());
    expect(output.texts).toEqual(['{"type":"from.the.future", "x":"\\u009b31m"}\n']);
  });
});
