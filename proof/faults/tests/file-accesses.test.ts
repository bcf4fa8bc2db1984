import { expect, it } from "vitest";
import { fileAccessProblems } from "../runs/file-accesses";
import type { WireEvent } from "../../../src/protocol/events";

const base = {
  session_id: "s",
  sequence_number: 1,
  at: 1,
  turn: 1,
  attempt: 1,
  agent: "one",
  round: 1,
};
const record = (tool_call: string, round = 1): WireEvent => ({
  ...{ ...base, round, type: "files.accessed", tool_call, name: "write_file", accesses: [] },
});
const completed = (tool_call: string, name: string, outcome: "ok" | "error" = "ok"): WireEvent => ({
  ...{ ...base, type: "tool.completed", tool_call, name, outcome },
});

it.each<{ name: string; events: WireEvent[]; problems: string[] }>([
  {
    name: "contain each call once",
    events: [record("a"), completed("a", "write_file"), record("b"), completed("b", "grep")],
    problems: [],
  },
  {
    name: "contain calls with the same id in two rounds",
    events: [record("a", 1), record("a", 2)],
    problems: [],
  },
  {
    name: "need not contain a call of another tool",
    events: [completed("a", "look_up")],
    problems: [],
  },
  {
    name: "need not contain a failed call",
    events: [completed("a", "write_file", "error")],
    problems: [],
  },
  {
    name: "miss a successful call of a file tool",
    events: [record("a"), completed("a", "write_file"), completed("b", "read_file")],
    problems: ['[1,1,"one",1,"b"] has no record of file accesses'],
  },
  {
    name: "contain a call twice",
    events: [record("a"), record("a")],
    problems: ["a call has two records of file accesses"],
  },
])("recorded file accesses $name", ({ events, problems }) =>
  expect(fileAccessProblems(events)).toEqual(problems),
);
