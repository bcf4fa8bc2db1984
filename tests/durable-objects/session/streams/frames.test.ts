import { expect, it } from "vitest";
import { toFrame, toJson, toRow } from "../../../../durable-objects/session/streams/frames";
import { type SessionEvent, WireEventSchema } from "../../../../src/protocol/events";

const events: SessionEvent[] = [
  { type: "attempt.started", at: 5, turn: 1, attempt: 1, feedback: null },
  {
    type: "vote.cast",
    at: 6,
    turn: 1,
    attempt: 1,
    agent: "a",
    round: 2,
    tool_call: "t",
    label: "agent1.1",
    revision: 1,
    reason: "line\nbreak \u2028 \ud83d\ude00",
  },
  {
    type: "stream.delta",
    at: 7,
    turn: 1,
    items: [{ agent: "a", round: 1, call: "c", kind: "text", offset: 0, text: "\r\n\n" }],
  },
];

it.each(events)(
  "the JSON of $type has all fields of the event, its number and its session",
  (event) => {
    const wire = JSON.parse(toJson({ seq: 9, ...toRow(event) }, "session_1"));
    expect(wire).toEqual({ ...event, sequence_number: 9, session_id: "session_1" });
    expect(WireEventSchema.parse(wire)).toEqual(wire);
  },
);

it.each(events)("the frame of $type has one data line", (event) => {
  const lines = toFrame({ seq: 9, ...toRow(event) }, "session_1").split(/\r\n|\r|\n/);
  expect(lines).toEqual([
    `event: ${event.type}`,
    "id: 9",
    expect.stringMatching(/^data: \{.*\}$/s),
    "",
    "",
  ]);
});
