import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  coveredEntries,
  fitted,
  shownHistory,
  sizesOf,
  withSummary,
} from "../../src/agents/history";
import { byteLength } from "../../src/coordination";
import { type EarlierTurn, historyBlocks, type HistoryEntry } from "../../src/prompts/history";
import type { EventOf } from "../../src/protocol/events";

const NONCE = "0123456789abcdef";
const turn = (number: number, chars = 10): EarlierTurn => ({
  turn: number,
  question: `Q${number}`,
  answer: "a".repeat(chars),
});
const summarised = (turns: number[], text = "So far."): EventOf<"history.summarised"> => ({
  type: "history.summarised",
  ...{ at: 0, turn: 9, attempt: 1, agent: "a", round: 1, turns, text },
});
const short = (entries: readonly HistoryEntry[]) =>
  entries.map((entry) =>
    "summary" in entry ? `summary of ${entry.turns.join(" ")}` : `turn ${entry.turn}`,
  );

describe("the history after a new summary", () => {
  it.each([
    {
      name: "begins with the summary in place of the turns that it covers",
      before: [turn(1), turn(2), turn(4)],
      covers: [1, 2],
      then: ["summary of 1 2", "turn 4"],
    },
    {
      name: "has the new summary in place of the one that it continues",
      before: [{ summary: "Old.", turns: [1, 2] }, turn(4), turn(5)],
      covers: [1, 2, 4],
      then: ["summary of 1 2 4", "turn 5"],
    },
    {
      name: "may consist of the summary alone",
      before: [turn(1), turn(3)],
      covers: [1, 3],
      then: ["summary of 1 3"],
    },
  ])("$name", ({ before, covers, then }) => {
    expect(short(withSummary(before, summarised(covers)))).toEqual(then);
  });

  it("is unchanged by other events", () => {
    const before = [turn(1)];
    expect(withSummary(before, { type: "head.moved", at: 0, turn: 0, head: 1 })).toBe(before);
  });
});

it("the texts of a summary are the earlier summary and the turns that it covers", () => {
  const history = [{ summary: "Old.", turns: [1, 2] }, turn(4), turn(5)];
  expect(short(coveredEntries(history, [1, 2, 4]))).toEqual(["summary of 1 2", "turn 4"]);
});

it("the sizes of a history are an upper bound of its blocks", () => {
  const attachments = [{ name: "plan.pdf", media_type: "application/pdf", size: 9 }];
  const history: HistoryEntry[] = [
    { summary: "Old. ".repeat(50), turns: [1, 2] },
    { ...turn(4), attachments: attachments as never },
    { ...turn(5), answer: "", cancelled: { executedTools: ["mail__send", "write_file"] } },
    { ...turn(6, 200), cancelled: { executedTools: [] } },
  ];
  const { summary, turns } = sizesOf(history);
  const sizes = [summary?.bytes ?? 0, ...turns.map(({ bytes }) => bytes)];
  for (const [index, block] of historyBlocks(NONCE, history).entries())
    expect(byteLength(block)).toBeLessThanOrEqual(sizes[index] ?? 0);
});

describe("a history that is too long", () => {
  it("is cut in the middle of its oldest texts, with a mark", () => {
    const [first, second] = fitted([turn(1, 5_000), turn(2, 5_000)], 8_000);
    expect(first).toMatchObject({ question: "Q1" });
    expect(first && "answer" in first ? first.answer : "").toMatch(
      /^a+\n\[… \d+ characters left out …\]\na+$/,
    );
    expect(second).toEqual(turn(2, 5_000));
  });

  it("counts the turns for which there is no space", () => {
    const history = Array.from({ length: 10 }, (_, index) => turn(index + 1, 5_000));
    const [beginning, ...rest] = fitted(history, 4_000);
    expect(beginning).toMatchObject({
      summary: `[… ${10 - rest.length} messages with their replies left out …]`,
    });
    expect(short(rest).at(-1)).toBe("turn 10");
  });

  it("keeps its summary before the mark", () => {
    const history = [
      { summary: "Old.", turns: [1] },
      ...[2, 3, 4, 5].map((number) => turn(number, 5_000)),
    ];
    const [beginning] = fitted(history, 2_500);
    expect(beginning).toMatchObject({
      summary: expect.stringMatching(/^Old\.\n\n\[… \d messages? with/),
    });
  });

  it("always fits, whatever its texts", () =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(3_000), fc.string()), { maxLength: 30 }),
        fc.integer({ min: 1_000, max: 50_000 }),
        (texts, maxBytes) => {
          const history = texts.map(([chars, question], index) => ({
            ...turn(index + 1, chars),
            question,
          }));
          const blocks = historyBlocks(NONCE, fitted(history, maxBytes));
          expect(blocks.reduce((sum, text) => sum + byteLength(text), 0)).toBeLessThanOrEqual(
            maxBytes + MARK_BYTES,
          );
        },
      ),
    ));
});

/** The mark of left-out turns with its block, which is not counted. */
const MARK_BYTES = 512;

it("a history without a plan is shown as it is", () => {
  const history = [turn(1, 50_000)];
  expect(shownHistory(history, null)).toBe(history);
});
