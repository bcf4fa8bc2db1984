import { describe, expect, it } from "vitest";
import type { TreeFacts } from "../../../cli/service/schema";
import { paint } from "../../../cli/terminal/output";
import { treeLines } from "../../../cli/tree/tree-lines";
import { placeTurns } from "../../../cli/tree/tree-order";

/** Turns from their parents: the first parent belongs to turn 1. */
const turnsAfter = (...parents: readonly (number | null)[]) =>
  parents.map((parent, nth) => ({ turn: nth + 1, parent_turn: parent }));

describe("the order of the turns", () => {
  it.each([
    { name: "no turn", parents: [], drawn: [] },
    { name: "a chain stays on one level", parents: [null, 1, 2], drawn: ["1", "2", "3"] },
    {
      name: "the newest turn continues the level of its parent",
      parents: [null, 1, 1],
      drawn: ["1", "├─ 2", "3"],
    },
    {
      name: "a branch is a chain on its own level",
      parents: [null, 1, 2, 1, 4],
      drawn: ["1", "├─ 2", "│  3", "4", "5"],
    },
    {
      name: "repeated questions are branches of one level, the oldest first",
      parents: [null, 1, 1, 1],
      drawn: ["1", "├─ 2", "├─ 3", "4"],
    },
    {
      name: "a branch of a branch is indented twice",
      parents: [null, 1, 2, 2, 1],
      drawn: ["1", "├─ 2", "│  ├─ 3", "│  4", "5"],
    },
    {
      name: "an old branch that continues again is still beside the newer one",
      parents: [null, 1, 1, 2],
      drawn: ["1", "├─ 2", "│  4", "3"],
    },
    {
      name: "an unknown or later parent hides no turn",
      parents: [null, 9, 3],
      drawn: ["1", "2", "3"],
    },
  ])("$name", ({ parents, drawn }) => {
    const placed = placeTurns(turnsAfter(...parents));
    expect(placed.map(({ stem, turn }) => `${stem}${turn.turn}`)).toEqual(drawn);
  });

  it("a turn that only summarises is beside the turns, because none follows it", () => {
    const turns = turnsAfter(null, 1, 1).map((turn) =>
      turn.turn === 3 ? { ...turn, kind: "compact" } : turn,
    );
    expect(placeTurns(turns).map(({ stem, turn }) => `${stem}${turn.turn}`)).toEqual([
      "1",
      "├─ 3",
      "2",
    ]);
  });

  it("a turn that only summarises is beside the last turn", () => {
    const turns = turnsAfter(null, 1).map((turn) =>
      turn.turn === 2 ? { ...turn, kind: "compact" } : turn,
    );
    expect(placeTurns(turns).map(({ stem, turn }) => `${stem}${turn.turn}`)).toEqual(["1", "├─ 2"]);
  });

  it("of ten thousand turns takes no deep recursion", () => {
    const parents = Array.from({ length: 10_000 }, (_, nth) => (nth === 0 ? null : nth));
    expect(placeTurns(turnsAfter(...parents))).toHaveLength(10_000);
  });
});

const START = Date.UTC(2027, 0, 15, 12) / 1000;
const turn = (fields: Partial<TreeFacts["data"][number]>): TreeFacts["data"][number] => ({
  ...{ turn: 1, parent_turn: null, status: "completed", question_preview: "Write a poem." },
  ...{
    team: [],
    started_at: START,
    ended_at: START + 72,
    cost_usd: 0.0123,
    cost_usd_known: 0.0123,
  },
  ...fields,
});
/** Agents with their models, such as `a gpt-5`. */
const teamOf = (...agents: readonly string[]) =>
  agents.map((text) => {
    const [agent = "", model = ""] = text.split(" ");
    return { agent, model };
  });
const escaped = (text: string) => text.replaceAll(/[[\].]/g, "\\$&");
const TREE: TreeFacts = {
  head: 3,
  data: [
    turn({}),
    turn({
      ...{ turn: 2, parent_turn: 1, status: "failed", cost_usd: null, cost_usd_known: 0.02 },
      question_preview: "Translate it into German, French, Japanese and Latin, one verse each.",
    }),
    turn({
      ...{ turn: 3, parent_turn: 1, status: "cancelled", cost_usd: null, cost_usd_known: 0 },
      question_preview: "Two\nlines \x1b[2Jof text",
    }),
    turn({ turn: 4, parent_turn: 3, status: "running", ended_at: null, cost_usd: 12.5 }),
    turn({ turn: 5, parent_turn: 1, question_preview: "詩を書いてください。".repeat(9) }),
  ],
};
const drawn = (width: number, color = false): string[] =>
  treeLines(TREE, { width, now: (START + 3_700) * 1000 }).map((line) =>
    paint(line, { width, color }).replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, "<start of turn>."),
  );

describe("the drawing of the turns", () => {
  it("has 60 columns: status, cost, duration and the beginning of the question", () => {
    expect(drawn(60)).toEqual([
      "  1     completed  $0.0123   01:12    Write a poem.",
      "  ├─ 2  failed     ≥$0.0200  01:12    Translate it into Ger…",
      "* ├─ 3  cancelled  ?         01:12    Two lines of text",
      "  │  4  running    $12.50    1:01:40  Write a poem.",
      "  5     completed  $0.0123   01:12    詩を書いてください。…",
    ]);
  });

  it("has 100 columns: also the start of the turn", () => {
    expect(drawn(100)).toEqual([
      "  1     completed  $0.0123   01:12    <start of turn>.  Write a poem.",
      "  ├─ 2  failed     ≥$0.0200  01:12    <start of turn>.  Translate it into German, French, Japanese …",
      "* ├─ 3  cancelled  ?         01:12    <start of turn>.  Two lines of text",
      "  │  4  running    $12.50    1:01:40  <start of turn>.  Write a poem.",
      "  5     completed  $0.0123   01:12    <start of turn>.  詩を書いてください。詩を書いてください。詩…",
    ]);
  });

  it.each<{ name: string; fields: Partial<TreeFacts["data"][number]>; question: string }>([
    {
      name: "no team that is its parent's",
      fields: { team: teamOf("a m", "b n") },
      question: "Go.",
    },
    { name: "agents that take part", fields: { team: teamOf("b n") }, question: "[b] Go." },
    {
      name: "agents with other models",
      fields: { team: teamOf("a m", "b k") },
      question: "[a, b=k] Go.",
    },
    {
      name: "another team, cut at its end",
      fields: { team: teamOf("long_name long_model_name", "c k") },
      question: "[long_name=long_model_na…] Go.",
    },
    {
      name: "a quick turn",
      fields: { team: teamOf("a m", "b n"), overrides: { quick: true } },
      question: "[quick] Go.",
    },
  ])("has before the question $name", ({ fields, question }) => {
    const second = turn({ turn: 2, parent_turn: 1, question_preview: "Go.", ...fields });
    const data = [turn({ team: teamOf("a m", "b n") }), second];
    const [, line = []] = treeLines({ data, head: 2 }, { width: 70, now: 0 });
    expect(paint(line, { width: 70, color: false })).toMatch(
      new RegExp(`01:12  ${escaped(question)}$`),
    );
  });

  it("says the same without colours", () => {
    const codes = new RegExp(`${String.fromCodePoint(27)}\\[[0-9]+m`, "g");
    const colored = drawn(60, true);
    expect(colored[2]).toContain("\x1b[1m* ├─ 3");
    expect(colored.map((line) => line.replaceAll(codes, ""))).toEqual(drawn(60));
  });

  it("cuts the beginning of deep branches, so that each line has its number and question", () => {
    const deep = Array.from({ length: 20 }, (_, level) => [
      turn({ turn: 2 * level + 1, parent_turn: level === 0 ? null : 2 * level - 1 }),
      turn({ turn: 100 - level, parent_turn: level === 0 ? null : 2 * level - 1 }),
    ]).flat();
    const lines = treeLines({ data: deep, head: 1 }, { width: 60, now: 0 }).map((line) =>
      paint(line, { width: 60, color: false }),
    );
    expect(lines).toHaveLength(40);
    expect(lines.filter((line) => !line.includes("Write"))).toEqual([]);
    expect(lines.filter((line) => line.includes("…"))).not.toEqual([]);
  });
});
