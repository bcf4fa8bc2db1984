import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { RELAY_HEADER } from "../build/orders";
import { judgeHistory, type PlayedHistory } from "../clients/judge-history";
import type { Operation, OperationResult } from "../clients/linear";
import { newRecord, type RecordedRequest } from "../../../simulated/providers/ledger";
import type { SessionStatus } from "../../../src/protocol/api";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import { toStatus } from "../../../src/protocol/view/status";
import { apply, emptyView } from "../../../src/protocol/view";

/**
 * A recorded session of two turns, of which the first was cancelled. The session breaks no promise.
 * Each row changes one part of the record, and the session then breaks the promise about that part.
 */
type EventType = WireEvent["type"];
const FIRST = "mark-of-the-first";
const SECOND = "mark-of-the-second";
const REFUSED = "mark-of-the-refused";

function readRecording(name: string): WireEvent[] {
  const file = path.join(import.meta.dirname, `../../golden/v2/${name}.jsonl`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));
}

/** The event as part of the second turn, `laterMs` later. */
function asSecondTurn(event: WireEvent, laterMs: number): WireEvent {
  const moved = {
    ...event,
    turn: 2,
    at: event.at + laterMs,
    ...("call" in event && { call: event.call.replace("_1_", "_2_") }),
  };
  return WireEventSchema.parse({
    ...moved,
    ...(event.type === "turn.started" && { deadline_at: event.deadline_at + laterMs }),
  });
}

const numbered = (events: readonly WireEvent[]): WireEvent[] =>
  events.map((event, nth) => ({ ...event, sequence_number: nth + 1 }));
const withQuestion = (event: WireEvent): WireEvent =>
  event.type === "turn.started" ? { ...event, question: event.turn === 1 ? FIRST : SECOND } : event;

const FIRST_TURN = readRecording("cancel");
const CANCELLED_AT = FIRST_TURN.at(-1)?.at ?? 0;
const SECOND_TURN = readRecording("consensus-at-once").slice(1);
const LATER_MS = CANCELLED_AT + 1_000 - (SECOND_TURN[0]?.at ?? 0);
const LOG = numbered(
  [...FIRST_TURN, ...SECOND_TURN.map((event) => asSecondTurn(event, LATER_MS))].map(withQuestion),
);
const END = LOG.at(-1);
const ANSWER = END?.type === "turn.completed" ? END.answer : "";
const SECOND_AT = LOG[FIRST_TURN.length]?.at ?? 0;
const END_AT = END?.at ?? 0;

function statusOf(events: readonly WireEvent[]): SessionStatus {
  const status = toStatus(events.reduce(apply, emptyView()), { now: END_AT });
  if (!status) throw new Error("the recorded log has no turn");
  return status;
}

const requestOf = (
  question: string,
  startedAt: number,
  endedAt: number | null,
): RecordedRequest => ({
  ...newRecord({
    id: 1,
    format: "openai-chat",
    model: "model-1",
    path: "/",
    headers: { [RELAY_HEADER]: "a" },
    body: { question },
    startedAt,
  }),
  firstByteAt: startedAt,
  endedAt,
  outcome: "completed",
});
/**
 * Requests of the first agent: one per turn for its answer, and one in the second turn for its
 * vote, whose prompt contains the first question.
 */
const REQUESTS = [
  requestOf(FIRST, CANCELLED_AT - 500, CANCELLED_AT + 100),
  requestOf(SECOND, SECOND_AT, SECOND_AT + 100),
  requestOf(`${FIRST}, then ${SECOND}`, SECOND_AT + 200, SECOND_AT + 300),
];

const operation = (from: number, result: OperationResult, to = from + 10): Operation => ({
  from,
  to,
  result,
});
const cancelled = (from: number): Operation =>
  operation(from, { type: "cancelled", turn: 1, status: "cancelled" });
const OPERATIONS: readonly Operation[] = [
  operation(CANCELLED_AT - 300, { type: "refused", turn: 1 }),
  cancelled(CANCELLED_AT - 5),
  cancelled(CANCELLED_AT + 50),
  operation(SECOND_AT - 5, { type: "started", turn: 2 }),
  operation(END_AT + 10, {
    type: "read",
    statuses: ["cancelled", "completed"],
    sequence: LOG.length,
  }),
];
const ERASED = operation(END_AT + 30, { type: "erased" });

const seenIn = (events: readonly WireEvent[]): PlayedHistory["seen"] =>
  new Map(events.map((event) => [event.sequence_number, event]));

/** The session with the changes of a row. */
const history = (changed: Partial<PlayedHistory>): PlayedHistory => ({
  final: { log: LOG, status: statusOf(LOG) },
  seen: seenIn(LOG.slice(0, 20)),
  operations: OPERATIONS,
  questions: [
    { mark: FIRST, turn: 1 },
    { mark: REFUSED, turn: null },
    { mark: SECOND, turn: 2 },
  ],
  requests: REQUESTS,
  answer: ANSWER,
  ...changed,
});

/** Another log for new readers, and its status. */
const withLog = (events: readonly WireEvent[]): Partial<PlayedHistory> => ({
  final: { log: events, status: statusOf(events) },
});
const lastOf = (type: EventType): number => LOG.findLastIndex((event) => event.type === type);
const logWithout = (type: EventType): WireEvent[] => numbered(LOG.toSpliced(lastOf(type), 1));
const logTwice = (type: EventType): WireEvent[] =>
  numbered(LOG.toSpliced(lastOf(type), 0, ...LOG.slice(lastOf(type)).slice(0, 1)));
/** Changes fields of every event of this type in the second turn. */
const logWithFields = (type: EventType, fields: object): WireEvent[] =>
  LOG.map((event) =>
    event.type === type && event.turn === 2
      ? WireEventSchema.parse({ ...event, ...fields })
      : event,
  );
const operations = (...more: Operation[]): Partial<PlayedHistory> => ({
  operations: [...OPERATIONS, ...more],
});
const requests = (...more: RecordedRequest[]): Partial<PlayedHistory> => ({
  requests: [...REQUESTS, ...more],
});
const erased = (changed: Partial<PlayedHistory>): Partial<PlayedHistory> => ({
  ...operations(ERASED),
  final: null,
  ...changed,
});
/**
 * Concurrent requests, long after the other requests. They end within the two seconds after a
 * cancel or an erase.
 */
const waitingRequests = (count: number): RecordedRequest[] =>
  Array.from({ length: count }, () => ({
    ...requestOf(SECOND, END_AT - 9, END_AT),
    firstByteAt: END_AT,
    model: "another",
  }));

/** Index of the n-th event of this type in the second turn, from 1. */
const indexOf = (type: EventType, nth = 1): number =>
  LOG.flatMap((event, place) => (event.type === type && event.turn === 2 ? [place] : []))[
    nth - 1
  ] ?? -1;
const eventAt = (place: number): WireEvent => {
  const event = LOG[place];
  if (!event) throw new Error("the recorded log does not have this event");
  return event;
};
/**
 * The second agent of the second turn begins its first round again after the first agent's answer.
 */
const RESTARTED_ROUND = numbered(
  LOG.toSpliced(indexOf("call.completed", 2), 0, {
    ...eventAt(indexOf("round.started", 2)),
    at: eventAt(indexOf("answer.submitted")).at,
  }),
);
/** An agent of the second turn is shown an answer before it has its own. */
const SHOWN_EARLY = LOG.map((event) =>
  event.type === "round.started" && event.turn === 2 && event.labels.length === 0
    ? { ...event, labels: ["agent1.1"] }
    : event,
);

/** The turn ends as after an internal error. */
const FAILED = WireEventSchema.parse({
  ...END,
  type: "turn.failed",
  code: "internal",
  message: "",
  agents: [],
});

const SOUND: readonly { name: string; changed: Partial<PlayedHistory> }[] = [
  { name: "as recorded", changed: {} },
  {
    name: "erased while a request was in flight",
    changed: erased(requests(requestOf(SECOND, END_AT + 100, END_AT + 1_900))),
  },
  {
    name: "erased in its first turn, which the erase cancels",
    changed: {
      ...{
        final: null,
        seen: seenIn(LOG.slice(0, FIRST_TURN.length)),
        questions: [{ mark: FIRST, turn: 1 }],
      },
      ...{
        operations: [operation(CANCELLED_AT - 5, { type: "erased" })],
        requests: REQUESTS.slice(0, 1),
      },
    },
  },
  {
    name: "erased after its clients had received some events",
    changed: erased({ seen: seenIn(LOG.slice(0, 30)) }),
  },
  {
    name: "erased after its clients had received its first and some later events",
    changed: erased({ seen: seenIn([...LOG.slice(0, 10), ...LOG.slice(40)]) }),
  },
  {
    name: "cancelled, with open requests closed within two seconds",
    changed: requests(requestOf(FIRST, CANCELLED_AT - 9, CANCELLED_AT + 1_900)),
  },
  { name: "with four waiting requests", changed: requests(...waitingRequests(4)) },
];

const ROWS: readonly { name: string; changed: Partial<PlayedHistory>; wrong: string }[] = [
  {
    name: "a gap in the numbers",
    changed: withLog(LOG.toSpliced(lastOf("vote.cast"), 1)),
    wrong: "I2",
  },
  {
    name: "an acknowledged turn that is missing",
    changed: withLog(LOG.slice(0, FIRST_TURN.length)),
    wrong: "I2: turn 2 was acknowledged and is not in the log",
  },
  {
    name: "an acknowledged cancel that is missing",
    changed: operations(operation(END_AT, { type: "cancelled", turn: 2, status: "cancelled" })),
    wrong: "I2: turn 2 was acknowledged as cancelled and is completed",
  },
  {
    name: "a status with more events than the log",
    changed: operations(
      operation(END_AT + 40, {
        type: "read",
        statuses: ["cancelled", "completed"],
        sequence: LOG.length + 1,
      }),
    ),
    wrong: `I2: ${LOG.length + 1} events are in a status`,
  },
  {
    name: "a turn with another client's question",
    changed: withLog(logWithFields("turn.started", { question: REFUSED })),
    wrong: "I2: turn 2 has another question",
  },
  {
    name: "a request for a refused question",
    changed: requests(requestOf(REFUSED, SECOND_AT, SECOND_AT + 9)),
    wrong: "I2: 1 requests are for a question that was refused",
  },
  { name: "two final texts", changed: withLog(logTwice("presentation.completed")), wrong: "I3 at" },
  {
    name: "an answer that its models did not present",
    changed: { answer: "No." },
    wrong: "I3: the answer of turn 2 is",
  },
  {
    name: "a turn that failed",
    changed: withLog(LOG.with(-1, FAILED)),
    wrong: "I3: turn 2 failed",
  },
  {
    name: "an event after the end",
    changed: withLog(numbered([...LOG, ...LOG.slice(lastOf("vote.cast")).slice(0, 1)])),
    wrong: "I4 at",
  },
  { name: "a log without the last turn's end", changed: withLog(LOG.slice(0, -1)), wrong: "I4 at" },
  {
    name: "a status with another end",
    changed: operations(
      operation(END_AT + 40, {
        type: "read",
        statuses: ["completed", "completed"],
        sequence: LOG.length,
      }),
    ),
    wrong: "I4: turn 1 was read as completed and is cancelled",
  },
  {
    name: "a vote for a missing answer",
    changed: withLog(logWithFields("vote.cast", { label: "agent2.7" })),
    wrong: "I5 at",
  },
  {
    name: "a winner other than the votes chose",
    changed: withLog(logWithFields("attempt.settled", { winner: "ada", label: "agent1.1" })),
    wrong: "I5-winner at",
  },
  {
    name: "agreement before the last vote",
    changed: withLog(logWithout("vote.cast")),
    wrong: "I6 at",
  },
  {
    name: "a first round that restarted because of another agent's answer",
    changed: withLog(RESTARTED_ROUND),
    wrong: "I7 at",
  },
  {
    name: "an answer shown to an agent without one",
    changed: withLog(SHOWN_EARLY),
    wrong: "I22 at",
  },
  {
    name: "a status that differs from the log",
    changed: { final: { log: LOG, status: statusOf(LOG.slice(0, -1)) } },
    wrong: "I19: the service says",
  },
  {
    name: "a request that is not in the log",
    changed: requests(...REQUESTS, ...REQUESTS),
    wrong: "requests for model-1 arrived, the log started",
  },
  {
    name: "five waiting requests",
    changed: requests(...waitingRequests(5)),
    wrong: "I14: 5 requests",
  },
  {
    name: "a request that began after its turn's cancel was acknowledged",
    changed: requests(requestOf(FIRST, CANCELLED_AT + 200, CANCELLED_AT + 210)),
    wrong: "I15: 1 requests began after the end was acknowledged (turn 1)",
  },
  {
    name: "a request that was open two seconds after its turn's cancel",
    changed: requests(requestOf(FIRST, CANCELLED_AT - 9, CANCELLED_AT + 2_100)),
    wrong: "I15: 1 requests were open 2 s after the end was acknowledged (turn 1)",
  },
  {
    name: "a turn cancelled before any client requested the cancel",
    changed: {
      operations: OPERATIONS.map((one) =>
        one.result.type === "cancelled" ? cancelled(CANCELLED_AT + 150) : one,
      ),
    },
    wrong: "cancelled without a request",
  },
  {
    name: "results that no order explains",
    changed: operations(operation(END_AT + 40, { type: "refused", turn: 2 })),
    wrong: "no order of the 6 operations",
  },
  {
    name: "a promise broken before the erase",
    changed: erased({ seen: seenIn(logWithout("vote.cast")) }),
    wrong: "I6 at",
  },
  {
    name: "a turn cancelled before the erase, without a request",
    changed: erased({
      operations: OPERATIONS.filter(({ result: { type } }) => type !== "cancelled").concat(ERASED),
      seen: seenIn(LOG.slice(0, FIRST_TURN.length)),
    }),
    wrong: "cancelled without a request",
  },
  {
    name: "a request that began after the erase",
    changed: erased(requests(requestOf(SECOND, END_AT + 200, END_AT + 210))),
    wrong: "I15: 1 requests began",
  },
  {
    name: "a request that was open two seconds after the erase",
    changed: erased(requests(requestOf(SECOND, END_AT, END_AT + 2_100))),
    wrong: "I15: 1 requests were open",
  },
];

describe("a session with concurrent clients breaks no promise", () => {
  it.each(SOUND)("$name", ({ changed }) => expect(judgeHistory(history(changed))).toEqual([]));
});

describe("in a session with concurrent clients, finds", () => {
  it.each(ROWS)("$name", ({ changed, wrong }) =>
    expect(judgeHistory(history(changed)).join("\n")).toContain(wrong),
  );
});
