import * as b from "../../protocol/builders";
import { describe, expect, it } from "vitest";
import { verdictLines } from "../../../cli/commands/config";
import { teamYaml } from "../../../cli/commands/config-init";
import { beginningLines, endLines } from "../../../cli/display/automation";
import { sessionLinesOf, turnLinesOf } from "../../../cli/display/turn-page";
import { SessionFactsSchema, TurnFactsSchema } from "../../../cli/service/schema";
import { paint, formatTime, printTable } from "../../../cli/terminal/output";
import { turnOf } from "../../../src/protocol/view";

const text = (lines: Parameters<typeof paint>[0][]) =>
  lines.map((line) => paint(line, { width: 200, color: false }));

describe("MassGen's lines for programs", () => {
  const url = "http://127.0.0.1:8787/api/sessions/s";
  const turnAfter = (bodies: b.Body[]) => {
    const turn = turnOf(b.view(b.log(bodies)));
    if (!turn) throw new Error("no turn");
    return turn;
  };
  const base = [b.created("anna"), b.turnStarted("anna"), b.attemptStarted()];

  it("start with the addresses of the run, each on one line", () => {
    expect(beginningLines({ sessionId: "s", statusUrl: url, question: "a\nb\x1b[2J" })).toEqual([
      "SESSION: s",
      `STATUS_URL: ${url}`,
      "QUESTION: a b",
    ]);
  });
  it("end with the winner, cost and time, and the answer's address and first words", () => {
    expect(endLines(turnAfter(b.story), { url })).toEqual([
      "",
      "WINNER: anna",
      "VOTES: 2 of 2 votes, unanimous",
      `ANSWER_URL: ${url}`,
      "DURATION: 2.9s",
      "COST: $2.50",
      "ANSWER_PREVIEW: Use quicksort.",
      "",
      "COMPLETED: 2 agents, 2.9s total",
    ]);
  });
  it("name an agent that dropped out, and count those that took part (A1)", () => {
    const team = [
      b.created("anna", "ben"),
      b.turnStarted("anna", "ben"),
      b.attemptStarted(),
      b.agentFailed("ben"),
    ];
    const lines = endLines(
      turnAfter([...team, b.answered("anna", "agent1.1", 1), b.completed("anna", "x")]),
      { url },
    );
    expect(lines).toContain("WARNING: ben dropped out: It cannot go on. 1 of 2 agents took part.");
    expect(lines.at(-1)).toMatch(/^COMPLETED: 1 of 2 agents took part, /);
  });
  it("name the file that contains the answer, and show only the start of a long answer", () => {
    const lines = endLines(turnAfter([...base, b.completed("anna", `${"x".repeat(199)}😀y`)]), {
      file: "a.md",
    });
    expect(lines).toContain("ANSWER_FILE: a.md");
    expect(lines).toContain(`ANSWER_PREVIEW: ${"x".repeat(199)}\ufffd...`);
  });
  it("name the reason if there is no answer", () => {
    const skipped = [...base, b.settled("anna", "agent1.1", "skipped")];
    const lines = endLines(turnAfter([...skipped, b.failed("anna")]), { url });
    expect(lines.join("\n")).not.toContain("WINNER");
    expect(lines).toContain("ERROR: No agent gave an answer.");
    expect(lines.at(-1)).toMatch(/^FAILED: 0 of 1 agent took part, /);
    expect(lines.join()).not.toContain("ANSWER");
  });
  it("name each agent's reason if a turn failed (A1)", () => {
    const failed = [b.agentFailed("anna"), b.failed("anna")];
    const lines = endLines(turnAfter([...base, ...failed]), { url });
    const index = lines.indexOf("ERROR: No agent gave an answer.");
    expect(lines[index + 1]).toMatch(/^ERROR: anna: \S/);
  });
  it("name the agent with the leading answer, and no winner, if a turn was cancelled", () => {
    const led = [
      b.answered("anna", "agent1.1", 1),
      b.settled("anna", "agent1.1", "cancelled", {}),
      b.cancelled("so far"),
    ];
    const lines = endLines(turnAfter([...base, ...led]), { url });
    expect(lines).toContain("LEADING: anna");
    expect(lines.join("\n")).not.toMatch(/WINNER|VOTES/);
    expect(lines).toContain("ERROR: cancelled");
    expect(lines.at(-1)).toMatch(/^CANCELLED: 1 agent, /);
  });
});

describe("a turn as a page", () => {
  const turn = TurnFactsSchema.parse({
    session_id: "s",
    turn: 2,
    status: "completed",
    question: "Why?\x1b[2J",
    answer: "Because.\n\nSo.\x1b]8;;https://evil.example\x07",
    winner: "anna",
    label: "agent1.final",
    votes: [
      { agent: "ben", label: "agent1.1", reason: "clear", valid: true },
      { agent: "ben", label: "agent2.1", reason: "old", valid: false },
    ],
    agents: [
      { agent: "anna", status: "voted", took_part: true, error: null },
      { agent: "ben", status: "voted", took_part: true, error: null },
      {
        agent: "carl",
        status: "error",
        took_part: false,
        error: { code: "bad_credentials", message: "No\x1b[2J key" },
      },
    ],
    attempts: [
      {
        label: "agent1.1",
        finish_reason: "consensus",
        tie: true,
        presentation: { agent: "anna", source: "partial", fallback: "deadline" },
        vote_result: { votes: 1, of: 2, voters: ["anna", "ben"], unanimous: false },
        answers: [{ agent: "anna", label: "agent1.1" }],
      },
    ],
    citations: [{ url: "https://a.example/", title: "A" }],
    usage: { input_tokens: 10, output_tokens: 20_000 },
    cost_usd: 0.5,
    from_the_future: true,
  });

  it("shows the summary that the turn wrote, and what the agents read of earlier turns", () => {
    const history = { summary_through: 3, written_by: "anna" };
    const lines = text(turnLinesOf({ ...turn, summary: "They\x1b[2J chose sand.", history }));
    expect(lines).toContain("Summary of the turns up to 3");
    expect(lines).toContain("They chose sand.");
    expect(lines).toContain("earlier  turns up to 3 as a summary, written by anna in this turn");
  });

  it("does not repeat the summary of a turn that only summarises", () => {
    const history = { summary_through: 3, written_by: "anna" };
    const lines = text(
      turnLinesOf({ ...turn, answer: "They chose sand.", summary: "They chose sand.", history }),
    );
    expect(lines.filter((line) => line === "They chose sand.")).toHaveLength(1);
    expect(lines.join("\n")).not.toContain("Summary of");
  });

  it("has question, answer, sources, valid votes, winner and cost, without control sequences", () => {
    expect(text(turnLinesOf(turn))).toEqual([
      "Turn 2: completed",
      "Why?",
      "",
      "Answer",
      "Because.",
      "",
      "So.",
      "",
      "source   A  https://a.example/",
      "vote     ben → agent1.1: clear",
      "warning  carl dropped out: No key. 2 of 3 agents took part.",
      "warning  anna could not finish the final text (deadline): it is cut off.",
      "winner   anna with agent1.1, 1 of 2 votes (a tie: the earlier answer wins)",
      "answers  agent1.1 (--answer <label> shows one)",
      "tokens   20.0k (in 10, out 20.0k)",
      "cost     $0.5000",
    ]);
  });
  it("names no winner without an answer", () => {
    const winner = (changes: object) =>
      text(turnLinesOf({ ...turn, ...changes })).filter((line) => /^winner|^leading/.test(line));
    expect(winner({ status: "failed", error: { message: "All failed.", agents: [] } })).toEqual([]);
    expect(winner({ status: "cancelled" })).toEqual([
      "leading when cancelled: anna (agent1.1), 1 of 2 votes (a tie: the earlier answer wins)",
    ]);
  });
  it("has the reason and the partial answer if there is no answer", () => {
    const failed = {
      ...turn,
      answer: null,
      partial: { text: "so far" },
      winner: null,
      error: { message: "All failed.", agents: [{ agent: "ben", message: "500" }] },
    };
    const lines = text(turnLinesOf(failed));
    expect(lines).toEqual(
      expect.arrayContaining([
        "Partial answer",
        "so far",
        "failed   All failed.",
        "         ben: 500",
      ]),
    );
  });
});

it("a session's status has a line for each agent", () => {
  const session = SessionFactsSchema.parse({
    coordination: { phase: "enforcement", completion_percentage: 50 },
    agents: {
      anna: {
        status: "voted",
        answer_count: 1,
        latest_answer_label: "agent1.1",
        vote_cast: { voted_for_label: "agent2.1" },
        error: null,
      },
      ben: {
        status: "error",
        answer_count: 0,
        latest_answer_label: null,
        vote_cast: null,
        error: { message: "No\nkey." },
      },
    },
    turns: [{ turn: 1, status: "running" }],
    cost_usd: 0,
  });
  expect(text(sessionLinesOf(session))).toEqual([
    "turn     1: running, enforcement, 50 %",
    "agent    anna voted  agent1.1  → agent2.1",
    "agent    ben error  no answer  No key.",
    "cost     $0.0000",
  ]);
});

describe("a table", () => {
  const printed = (output: { isTTY?: boolean; columns?: number }) => {
    const parts: string[] = [];
    printTable(
      ["id", "question"],
      [
        ["s1", "漢字\nwhat\x1b[2J"],
        ["s22", "x".repeat(50)],
      ],
      { ...output, write: (part) => parts.push(String(part)) },
    );
    return parts.join("");
  };
  it("has aligned columns that end at the edge of a terminal", () => {
    expect(printed({ isTTY: true, columns: 31 })).toBe(
      `id   question\ns1   漢字 what\ns22  ${"x".repeat(24)}…\n`,
    );
  });
  it("is complete and separated by tabs in a pipe", () => {
    expect(printed({})).toBe(`s1\t漢字 what\ns22\t${"x".repeat(50)}\n`);
  });
  it("has times in the time zone of this machine", () => {
    expect(formatTime(new Date(2027, 0, 5, 8, 3).getTime())).toBe("2027-01-05 08:03");
  });
});

describe("the result of a config's check", () => {
  const source = { name: "t.yaml", text: "agents: []\nui: {x: 1}\n" };
  const fault = (line: number, detail: string) => ({ pointer: "", line, column: 1, detail });
  it("is printed with the place of every error", () => {
    const verdict = {
      runnable: false,
      errors: [fault(1, "A team has agents.")],
      refusals: [],
      warnings: [fault(2, "No effect.")],
    };
    expect(verdictLines(verdict, source)).toEqual([
      "t.yaml cannot run here.",
      "errors",
      "  t.yaml:1:1  A team has agents.",
      "    1 | agents: []",
      "      | ^",
      "warnings",
      "  t.yaml:2:1  No effect.",
      "    2 | ui: {x: 1}",
      "      | ^",
    ]);
  });
  it("separates missing keys from settings that are not supported", () => {
    const place = { pointer: "/agents/0/backend", line: 1, column: 1 };
    const refusals = [
      { ...place, detail: "OpenAI needs a key.", code: "key_not_set" },
      { ...place, detail: "No images are made here.", code: "not_served" },
      {
        ...place,
        detail: "Nothing of that name is uploaded.",
        code: "not_served",
        need: "host_context_path",
      },
    ];
    const lines = verdictLines(
      { runnable: false, errors: [], refusals, warnings: [] },
      source,
    ).filter((line) => !/^ {4}/.test(line));
    expect(lines.slice(1)).toEqual([
      "missing here",
      "  t.yaml:1:1  /agents/0/backend  OpenAI needs a key.",
      "  t.yaml:1:1  /agents/0/backend  Nothing of that name is uploaded.",
      "not supported here",
      "  t.yaml:1:1  /agents/0/backend  No images are made here.",
    ]);
  });
  it("is one line if the config can run", () => {
    expect(
      verdictLines({ runnable: true, errors: [], refusals: [], warnings: [] }, source),
    ).toEqual(["t.yaml can run here."]);
  });
});

describe("a new config", () => {
  it("names each model, in quotes where YAML needs them, without a backend", () => {
    expect(teamYaml(["gpt-6.1-terra", "@cf/meta/llama"], undefined)).toContain(
      '  - id: agent_1\n    backend:\n      model: gpt-6.1-terra\n\n  - id: agent_2\n    backend:\n      model: "@cf/meta/llama"\n',
    );
  });
  it("names the backend if it is given", () => {
    expect(teamYaml(["acme/large"], "openrouter")).toContain(
      "    backend:\n      type: openrouter\n      model: acme/large\n",
    );
  });
  it("is not created without a model", () => {
    expect(() => teamYaml([], undefined)).toThrow("A team needs a model.");
  });
});
