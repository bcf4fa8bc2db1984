import { describe, expect, it } from "vitest";
import { withoutTexts } from "./facts";

describe("a log's facts", () => {
  it.each([
    {
      name: "leave out a message, a problem and a reason for people",
      row: { type: "call.failed", code: "http_500", message: "a", problem: "b", why: "c" },
      facts: { type: "call.failed", code: "http_500" },
    },
    {
      name: "leave them out on every level",
      row: { agents: [{ id: "a", failure: { code: "x", message: "a" } }] },
      facts: { agents: [{ id: "a", failure: { code: "x" } }] },
    },
    {
      name: "keep a message that is no text",
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
