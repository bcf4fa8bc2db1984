import { expect, it } from "vitest";
import { formatReference, parseReference } from "../../src/diff/references";

const point = (turn: number, attempt: number | null = null, label: string | null = null) => ({
  kind: "point",
  turn,
  attempt,
  label,
});

it.each([
  { text: "parent", parsed: { kind: "parent" } },
  { text: "turn_2", parsed: point(2) },
  { text: "turn_120/agent1.1", parsed: point(120, null, "agent1.1") },
  { text: "turn_2/agent12.final", parsed: point(2, null, "agent12.final") },
  { text: "turn_2/attempt_3/agent1.1", parsed: point(2, 3, "agent1.1") },
])("$text is a reference", ({ text, parsed }) => {
  expect(parseReference(text)).toEqual(parsed);
});

it.each([
  { turn: 2, attempt: null, label: null, text: "turn_2" },
  { turn: 2, attempt: null, label: "agent1.1", text: "turn_2/agent1.1" },
  { turn: 2, attempt: 1, label: "agent1.1", text: "turn_2/attempt_1/agent1.1" },
])("$text is written as it is read", ({ text, ...fields }) => {
  expect(formatReference(fields)).toBe(text);
  expect(parseReference(text)).toEqual({ kind: "point", ...fields });
});

it.each([
  ...["", "Parent", "parent/agent1.1", "2", "turn_0", "turn_02", "turn_1234567890", "turn_2/"],
  ...["turn_2/bob", "turn_2/agent1", "turn_2/agent1.0", "turn_2/attempt_1", "turn_2/agent1.1/x"],
  ...["turn_2/attempt_0/agent1.1", "turn_2/attempt_1/", " turn_2", "turn_2\n"],
])("%j is no reference", (text) => {
  expect(parseReference(text)).toBeNull();
});
