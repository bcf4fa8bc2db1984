import { expect, it } from "vitest";
import { trailProblems } from "../runs/trail";
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
const ended = (tool_call: string, name: string, outcome: "ok" | "error" = "ok"): WireEvent => ({
  ...{ ...base, type: "tool.completed", tool_call, name, outcome },
});

it.each<{ name: string; events: WireEvent[]; problems: string[] }>([
  {
    name: "that tells each call once",
    events: [record("a"), ended("a", "write_file"), record("b"), ended("b", "grep")],
    problems: [],
  },
  {
    name: "of calls of one id in two rounds",
    events: [record("a", 1), record("a", 2)],
    problems: [],
  },
  { name: "without a call that touched no file", events: [ended("a", "look_up")], problems: [] },
  {
    name: "without a call that went wrong before it touched one",
    events: [ended("a", "write_file", "error")],
    problems: [],
  },
  {
    name: "without a call that did",
    events: [record("a"), ended("a", "write_file"), ended("b", "read_file")],
    problems: ['[1,1,"one",1,"b"] is not in the trail of files'],
  },
  {
    name: "with a call twice",
    events: [record("a"), record("a")],
    problems: ["a call is twice in the trail of files"],
  },
])("a trail of files $name", ({ events, problems }) =>
  expect(trailProblems(events)).toEqual(problems),
);
