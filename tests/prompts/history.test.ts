import { describe, expect, it } from "vitest";
import { type HistoryEntry, historyBlocks, turnsIn } from "../../src/prompts/history";
import { outline, readBlocks } from "../agents/blocks";

const NONCE = "n1";
const lines = (text = ""): string[] => text.split("\n").filter(Boolean);

describe("the history in a prompt", () => {
  it("has nothing in a first turn", () => expect(historyBlocks(NONCE, [])).toEqual([]));

  it("has one block per turn, oldest first, with its question and its reply", () => {
    const blocks = historyBlocks(NONCE, [
      { question: "One?", answer: "1" },
      { question: "Two?", answer: "2" },
    ]);
    expect(blocks.map((text) => outline(readBlocks(text, NONCE)))).toEqual([
      [["HISTORY 1", "EARLIER MESSAGE 1", "REPLY TO EARLIER MESSAGE 1"]],
      [["HISTORY 2", "EARLIER MESSAGE 2", "REPLY TO EARLIER MESSAGE 2"]],
    ]);
    expect(blocks.map((text) => lines(text).filter((line) => !line.startsWith("<<<")))).toEqual([
      ["One?", "1"],
      ["Two?", "2"],
    ]);
  });

  it.each([
    {
      name: "marks the text of a cancelled turn as unfinished",
      turn: { answer: "Water boi", cancelled: { executedTools: [] } },
      has: [
        "The user stopped the work on this message. The reply had come this far:",
        "<<<n1 UNFINISHED REPLY TO EARLIER MESSAGE 1>>>",
        "Water boi",
      ],
      lacks: ["<<<n1 REPLY TO EARLIER MESSAGE 1>>>"],
    },
    {
      name: "says that a cancelled turn had no text",
      turn: { answer: "", cancelled: { executedTools: [] } },
      has: ["The user stopped the work on this message before there was a reply."],
      lacks: ["<<<n1 UNFINISHED REPLY TO EARLIER MESSAGE 1>>>"],
    },
    {
      name: "names the tools that a cancelled turn executed",
      turn: { answer: "", cancelled: { executedTools: ["mail__send"] } },
      has: [
        "Tools already executed for the unfinished reply; check their effect before you repeat any:",
        "- mail__send",
      ],
      lacks: [],
    },
  ])("$name", ({ turn, has, lacks }) => {
    const [block] = historyBlocks(NONCE, [{ question: "Boil?", ...turn }]);
    expect(lines(block)).toEqual(expect.arrayContaining(has));
    for (const line of lacks) expect(lines(block)).not.toContain(line);
  });
});

describe("a summary of the oldest turns", () => {
  const history: HistoryEntry[] = [
    { turns: [1, 2, 5], summary: "They boiled water." },
    { turn: 6, question: "And tea?", answer: "At 80 °C." },
  ];

  it("is one block, and the turns after it keep their numbers", () => {
    const blocks = historyBlocks(NONCE, history).map((text) => outline(readBlocks(text, NONCE)));
    expect(blocks).toEqual([
      [["HISTORY 1 TO 3", "SUMMARY OF EARLIER MESSAGES 1 TO 3"]],
      [["HISTORY 4", "EARLIER MESSAGE 4", "REPLY TO EARLIER MESSAGE 4"]],
    ]);
  });

  it("leaves the numbers of its turns known", () => {
    expect(turnsIn(history)).toEqual([
      { message: 1, turn: 1 },
      { message: 2, turn: 2 },
      { message: 3, turn: 5 },
      { message: 4, turn: 6 },
    ]);
  });
});
