import { describe, expect, it } from "vitest";
import { byteLength } from "../../src/coordination";
import { PRESENTATION_OVERHEAD_TOKENS } from "../../src/coordination/limits";
import { NOTHING_PLANNED } from "../../src/agents/planned-calls";
import { roundMessage } from "../../src/prompts/coordination-user";
import { type EarlierFiles, earlierFilesParagraph } from "../../src/prompts/earlier-files";
import { presentationMessage, presentationSystem } from "../../src/prompts/presentation";
import type { EarlierTurn, HistoryEntry } from "../../src/prompts/history";
import { wholeText } from "./whole-text";

const turnsOf = (...turns: number[]): EarlierTurn[] =>
  turns.map((turn) => ({ turn, question: `question ${turn}`, answer: `reply ${turn}` }));
const upTo = (last: number) => turnsOf(...Array.from({ length: last }, (_, index) => index + 1));

type Row = {
  name: string;
  history: HistoryEntry[];
  files?: EarlierFiles | null;
  has?: RegExp;
  lacks?: RegExp;
};

describe("the paragraph on the files of earlier turns", () => {
  it.each<Row>([
    {
      name: "says that the workspace holds a writable copy of the last result",
      history: upTo(1),
      has: /^`\/workspace` begins with a writable copy of the files that the last turn left/,
    },
    {
      name: "does not say so to the presenter of a team, whose workspace has the chosen answer",
      history: upTo(1),
      files: { beginsWithResult: false },
      has: /^`\/turns\/turn_1` holds/,
    },
    {
      name: "names the only earlier turn",
      history: upTo(1),
      has: /`\/turns\/turn_1` holds, read-only, the files as they were after EARLIER MESSAGE 1\. Paths/,
    },
    {
      name: "names the first and the last of several turns",
      history: upTo(3),
      has: /after EARLIER MESSAGE 1, and so on up to `\/turns\/turn_3`\./,
      lacks: /turn_2/,
    },
    {
      name: "says which message belongs to which turn in a branch",
      history: turnsOf(1, 3),
      has: /`\/turns\/turn_1` after EARLIER MESSAGE 1, `\/turns\/turn_3` after EARLIER MESSAGE 2\./,
    },
    {
      name: "names only the newest turns of a long branch",
      history: turnsOf(1, 3, 4, 5, 6, 7, 8, 9),
      has: /messages: `\/turns\/turn_4` after EARLIER MESSAGE 3, .*; list `\/turns` for those before\./,
      lacks: /turn_1`|turn_3`/,
    },
    {
      name: "says where the states of contexts are, and how to see what the user changed",
      history: upTo(2),
      files: { contexts: true },
      has: /`contexts\/NAME` is `\/contexts\/NAME` as that turn left it: compare .* what the user has changed since/,
    },
    {
      name: "counts the turns that a summary stands for",
      history: [{ summary: "Much was done.", turns: [1, 3] }, ...turnsOf(4)],
      has: /`\/turns\/turn_3` after EARLIER MESSAGE 2, `\/turns\/turn_4` after EARLIER MESSAGE 3\./,
    },
    { name: "names no contexts if the agent sees none", history: upTo(2), lacks: /contexts/ },
    {
      name: "says that a container has no /turns",
      history: upTo(2),
      files: { container: true },
      has: /container, which has no `\/turns`: read there with the file tools, and copy with `copy_file`/,
    },
    { name: "names no container otherwise", history: upTo(2), lacks: /container/ },
  ])("$name", ({ history, files = {}, has = /./, lacks = /^$/ }) => {
    const text = earlierFilesParagraph(history, files);
    expect(text).toMatch(has);
    expect(text).not.toMatch(lacks);
  });

  it.each<Row>([
    { name: "in a first turn", history: [] },
    { name: "for an agent without files", history: upTo(2), files: null },
  ])("does not exist $name", ({ history, files = {} }) => {
    expect(earlierFilesParagraph(history, files)).toBeNull();
  });

  it("has the same size for 3 and for 300 turns, up to the digits of a number", () => {
    const everything = { contexts: true, container: true };
    const sizeFor = (history: HistoryEntry[]) =>
      byteLength(earlierFilesParagraph(history, everything) ?? "");
    expect(sizeFor(upTo(300)) - sizeFor(upTo(3))).toBe(2);
    const branch = upTo(301).slice(1);
    expect(sizeFor(branch)).toBeLessThan(1_500);
  });
});

describe("the prompt of a later turn", () => {
  const message = { nonce: "n1", question: "Go on.", feedback: null, answers: [] };

  it("has the paragraph after the history, which stays the same in the next turn", () => {
    const { history, text } = roundMessage({
      ...{ ...message, history: upTo(1), earlierFiles: { contexts: true } },
    });
    expect(history.join()).not.toContain("/turns");
    expect(text.indexOf("/turns/turn_1")).toBeGreaterThan(0);
    expect(text.indexOf("/turns/turn_1")).toBeLessThan(text.indexOf("<<<n1 ORIGINAL MESSAGE"));
  });

  it("is the same without files as before", () => {
    expect(wholeText(roundMessage({ ...message, history: upTo(2) }))).not.toContain("/turns");
  });

  it("of a presenter still fits into what the budget reserves around its texts", () => {
    const system = presentationSystem({
      systemMessage: null,
      afterCoordination: true,
      files: null,
    });
    const message = presentationMessage({
      ...{ nonce: "n".repeat(16), question: "", feedback: null, own: null, others: [], votes: [] },
      history: [{ turn: 12, question: "", answer: "" }],
      earlierFiles: { beginsWithResult: false, contexts: true, container: true },
      planned: NOTHING_PLANNED,
    });
    const user = wholeText(message);
    expect(user).toContain("/turns/turn_12");
    expect(byteLength(system) + byteLength(user)).toBeLessThan(PRESENTATION_OVERHEAD_TOKENS);
  });
});
