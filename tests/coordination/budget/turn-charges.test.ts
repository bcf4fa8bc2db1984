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

/** An event of another version: only the head is known. */
const strange = (type: string): CallEvent => ({
  ...{ type, sequence_number: 99, at: 1, session_id: "s", turn: 1, attempt: 1, agent: "ben" },
  call: "b1",
});
const calls = (...bodies: Body[]): CallEvent[] =>
  log(bodies).flatMap((event: WireEvent) => ("call" in event ? [event] : []));

const UNREPORTED: Body = { ...callCompleted("anna", "a1"), unreported: true } as Body;

type Row = {
  name: string;
  events: CallEvent[];
  costs: number;
  used: typeof NO_USAGE;
  open: string[];
};

it.each<Row>([
  { name: "no calls", events: [], costs: 0, used: NO_USAGE, open: [] },
  {
    name: "settled calls: their charges",
    events: calls(
      callStarted("anna", "a1"),
      callStarted("ben", "b1"),
      callCompleted("anna", "a1"),
      callFailed("ben", "b1"),
    ),
    costs: 0.75,
    used: usage(100, 20),
    open: [],
  },
  {
    name: "calls in flight: also their reservations",
    events: calls(
      callStarted("anna", "a1"),
      callCompleted("anna", "a1"),
      callStarted("anna", "a2"),
      callStarted("ben", "b1"),
    ),
    costs: 0.52,
    used: usage(100, 20),
    open: ["a2", "b1"],
  },
  {
    name: "a call whose end cannot be read: it is no longer in flight",
    events: [...calls(callStarted("ben", "b1")), strange("call.completed")],
    costs: 0,
    used: NO_USAGE,
    open: [],
  },
  {
    name: "a call with estimated usage: its cost only",
    events: calls(callStarted("anna", "a1"), UNREPORTED),
    costs: 0.5,
    used: NO_USAGE,
    open: [],
  },
  {
    name: "events of another version: the readable ones",
    events: [strange("call.started"), strange("thought.begun"), ...calls(callStarted("ben", "b1"))],
    costs: 0.01,
    used: NO_USAGE,
    open: ["b1"],
  },
])("charges a turn with $name", ({ events, costs, used, open }) => {
  const charges = chargesOf(events, 7);
  expect([charges.cost.usd, charges.cost.isComplete]).toEqual([expect.closeTo(costs, 9), true]);
  expect(charges.usage).toEqual(used);
  expect(charges.settles.map(({ call }) => call)).toEqual(open);
  for (const event of charges.settles)
    expect(event).toMatchObject({
      ...{ type: "call.failed", at: 7, class: "interrupted", code: "interrupted" },
      ...{ message: expect.stringContaining("restarted"), retry_at: null },
      ...{ tokens: 5_000, cost_usd: 0.01, usage: null },
    });
});
