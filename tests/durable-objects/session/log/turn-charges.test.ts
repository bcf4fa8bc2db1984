import { expect, it } from "vitest";
import { billOf } from "../../../../durable-objects/session/log/turn-charges";
import { type LogRow, toRow } from "../../../../durable-objects/session/streams/frames";
import { NO_USAGE } from "../../../../src/protocol/usage";
import {
  type Body,
  callCompleted,
  callFailed,
  callStarted,
  log,
  usage,
} from "../../../protocol/builders";

const rowsOf = (bodies: Body[]): LogRow[] =>
  log(bodies).map(({ session_id: _session, sequence_number, ...event }) => ({
    seq: sequence_number,
    ...toRow(event),
  }));

const strange = (type: string, body: string): LogRow => ({
  seq: 99,
  turn: 1,
  attempt: 1,
  agent: "ben",
  type,
  at: 1,
  body,
});

it.each([
  { name: "no calls", rows: [], costs: 0, used: NO_USAGE, open: [] },
  {
    name: "settled calls: their charges",
    rows: rowsOf([
      callStarted("anna", "a1"),
      callStarted("ben", "b1"),
      callCompleted("anna", "a1"),
      callFailed("ben", "b1"),
    ]),
    costs: 0.75,
    used: usage(100, 20),
    open: [],
  },
  {
    name: "calls in flight: also their reservations",
    rows: rowsOf([
      callStarted("anna", "a1"),
      callCompleted("anna", "a1"),
      callStarted("anna", "a2"),
      callStarted("ben", "b1"),
    ]),
    costs: 0.52,
    used: usage(100, 20),
    open: ["a2", "b1"],
  },
  {
    name: "a call whose end cannot be read: it is no longer in flight",
    rows: [...rowsOf([callStarted("ben", "b1")]), strange("call.completed", '{"call":"b1"}')],
    costs: 0,
    used: NO_USAGE,
    open: [],
  },
  {
    name: "events of another version: the readable ones",
    rows: [
      strange("call.started", "{}"),
      strange("thought.begun", '{"call":"b1"}'),
      ...rowsOf([callStarted("ben", "b1")]),
    ],
    costs: 0.01,
    used: NO_USAGE,
    open: ["b1"],
  },
])("charges a turn with $name", ({ rows, costs, used, open }) => {
  const bill = billOf(rows, 7);
  expect([bill.cost.usd, bill.cost.isWhole]).toEqual([expect.closeTo(costs, 9), true]);
  expect(bill.usage).toEqual(used);
  expect(bill.settles.map(({ call }) => call)).toEqual(open);
  for (const event of bill.settles)
    expect(event).toMatchObject({ at: 7, tokens: 5_000, cost_usd: 0.01, usage: null });
});
