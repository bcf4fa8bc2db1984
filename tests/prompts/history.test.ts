import { describe, expect, it } from "vitest";
import { historyBlock } from "../../src/prompts/task";

const NONCE = "n1";
const lines = (text: string | null): string[] => (text ?? "").split("\n").filter(Boolean);

describe("the history in a prompt", () => {
  it("has nothing in a first turn", () => expect(historyBlock(NONCE, [])).toBeNull());

  it("has each question with its reply, oldest first", () => {
    const history = [
      { question: "One?", answer: "1" },
      { question: "Two?", answer: "2" },
    ];
    expect(lines(historyBlock(NONCE, history)).filter((line) => !line.startsWith("<<<"))).toEqual([
      "One?",
      "1",
      "Two?",
      "2",
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
    const found = lines(historyBlock(NONCE, [{ question: "Boil?", ...turn }]));
    expect(found).toEqual(expect.arrayContaining(has));
    for (const line of lacks) expect(found).not.toContain(line);
  });
});
