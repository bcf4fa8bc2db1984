import { expect, it } from "vitest";
import { chargesOf, type CallEvent } from "../../../src/coordination/budget/turn-charges";
import { NO_USAGE } from "../../../src/protocol/usage";
import type { WireEvent } from "../../../src/protocol/events";
import {
  type Body,
  callCompleted,
  callFailed,
  callStarted,
  log,
  usage,
} from "../../protocol/builders";

/** An event of another version: this version knows only its common fields. */
const foreignEvent = (type: string): CallEvent => ({
  ...{ type, sequence_number: 99, at: 1, session_id: "s", turn: 1, attempt: 1, agent: "ben" },
  call: "b1",
});
const calls = (...bodies: Body[]): CallEvent[] =>
  log(bodies).flatMap((event: WireEvent) => ("call" in event ? [event] : []));

const UNREPORTED: Body = { ...callCompleted("anna", "a1"), unreported: true } as Body;

type Row = {
  name: string;
  events: CallEvent[];
  usd: number;
  expectedUsage: typeof NO_USAGE;
  openCalls: string[];
};

it.each<Row>([
  { name: "no calls: nothing", events: [], usd: 0, expectedUsage: NO_USAGE, openCalls: [] },
  {
    name: "settled calls: their charges",
    events: calls(
      callStarted("anna", "a1"),
      callStarted("ben", "b1"),
      callCompleted("anna", "a1"),
      callFailed("ben", "b1"),
    ),
    usd: 0.75,
    expectedUsage: usage(100, 20),
    openCalls: [],
  },
  {
    name: "calls in flight: also their reservations",
    events: calls(
      callStarted("anna", "a1"),
      callCompleted("anna", "a1"),
      callStarted("anna", "a2"),
      callStarted("ben", "b1"),
    ),
    usd: 0.52,
    expectedUsage: usage(100, 20),
    openCalls: ["a2", "b1"],
  },
  {
    name: "a call whose end cannot be parsed: nothing, because it is no longer in flight",
    events: [...calls(callStarted("ben", "b1")), foreignEvent("call.completed")],
    usd: 0,
    expectedUsage: NO_USAGE,
    openCalls: [],
  },
  {
    name: "a call without reported usage: its cost, but no usage",
    events: calls(callStarted("anna", "a1"), UNREPORTED),
    usd: 0.5,
    expectedUsage: NO_USAGE,
    openCalls: [],
  },
  {
    name: "events of another version: only those that can be parsed",
    events: [
      foreignEvent("call.started"),
      foreignEvent("thought.begun"),
      ...calls(callStarted("ben", "b1")),
    ],
    usd: 0.01,
    expectedUsage: NO_USAGE,
    openCalls: ["b1"],
  },
])("charges a turn with $name", ({ events, usd, expectedUsage, openCalls }) => {
  const charges = chargesOf(events, 7);
  expect([charges.cost.usd, charges.cost.isComplete]).toEqual([expect.closeTo(usd, 9), true]);
  expect(charges.usage).toEqual(expectedUsage);
  expect(charges.settles.map(({ call }) => call)).toEqual(openCalls);
  for (const event of charges.settles)
    expect(event).toMatchObject({
      ...{ type: "call.failed", at: 7, class: "interrupted", code: "interrupted" },
      ...{ message: expect.stringContaining("restarted"), retry_at: null },
      ...{ tokens: 5_000, cost_usd: 0.01, usage: null },
    });
});
