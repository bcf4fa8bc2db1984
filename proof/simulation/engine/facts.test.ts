import { describe, expect, it } from "vitest";
import { withoutTexts } from "./facts";

describe("the facts of a log", () => {
  it.each([
    {
      name: "have no message, problem or why, which are texts for people",
      row: { type: "call.failed", code: "http_500", message: "a", problem: "b", why: "c" },
      facts: { type: "call.failed", code: "http_500" },
    },
    {
      name: "have none of these texts in nested objects",
      row: { agents: [{ id: "a", failure: { code: "x", message: "a" } }] },
      facts: { agents: [{ id: "a", failure: { code: "x" } }] },
    },
    {
      name: "keep a message and a why that are not strings",
      row: { message: { parts: [1] }, why: 3 },
      facts: { message: { parts: [1] }, why: 3 },
    },
    {
      name: "keep the text of an answer and the reason of a vote",
      row: { text: "message", reason: "why", content: "problem" },
      facts: { text: "message", reason: "why", content: "problem" },
    },
  ])("$name", ({ row, facts }) => {
    expect(withoutTexts(JSON.stringify(row))).toBe(JSON.stringify(facts));
  });
});
