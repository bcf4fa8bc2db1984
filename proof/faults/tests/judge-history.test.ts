import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { judgeHistory, type Played } from "../clients/judge-history";
import type { Operation, Told } from "../clients/linear";
import { newRecord, type RecordedRequest } from "../../../simulated/providers/ledger";
import type { SessionStatus } from "../../../src/protocol/api";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import { toStatus } from "../../../src/protocol/view/status";
import { apply, emptyView } from "../../../src/protocol/view";

/**
 * What judges the histories of the clients' campaign sees: a session of two recorded turns, the first cancelled, told as its clients
 * and providers would tell of it, breaks no promise, and with one thing changed it breaks the one that is about that.
 */
const FIRST = "mark-of-the-first";
const SECOND = "mark-of-the-second";
const REFUSED = "mark-of-one-refused";

function recorded(name: string): WireEvent[] {
  const file = path.join(import.meta.dirname, `../../golden/v2/${name}.jsonl`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: "ses_1" }));
}

/** As the turn after, which begins so much later. */
function asSecond(event: WireEvent, laterMs: number): WireEvent {
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
const asked = (event: WireEvent): WireEvent =>
  event.type === "turn.started" ? { ...event, question: event.turn === 1 ? FIRST : SECOND } : event;

const ONE = recorded("cancel");
const CANCELLED_AT = ONE.at(-1)?.at ?? 0;
const TWO = recorded("consensus-at-once").slice(1);
const LATER_MS = CANCELLED_AT + 1_000 - (TWO[0]?.at ?? 0);
const LOG = numbered([...ONE, ...TWO.map((event) => asSecond(event, LATER_MS))].map(asked));
const END = LOG.at(-1);
const ANSWER = END?.type === "turn.completed" ? END.answer : "";
const SECOND_AT = LOG[ONE.length]?.at ?? 0;
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
    headers: {},
    body: { question },
    startedAt,
  }),
  firstByteAt: startedAt,
  endedAt,
  outcome: "completed",
});
/** What the first agent asked: in each turn for its answer, and in the second, whose prompts tell of the first, for its vote. */
const REQUESTS = [
  requestOf(FIRST, CANCELLED_AT - 500, CANCELLED_AT + 100),
  requestOf(SECOND, SECOND_AT, SECOND_AT + 100),
  requestOf(`${FIRST}, then ${SECOND}`, SECOND_AT + 200, SECOND_AT + 300),
];

const told = (from: number, what: Told, to = from + 10): Operation => ({ from, to, told: what });
const cancelled = (from: number): Operation =>
  told(from, { type: "cancelled", turn: 1, status: "cancelled" });
const OPERATIONS: readonly Operation[] = [
  told(CANCELLED_AT - 300, { type: "refused", turn: 1 }),
  cancelled(CANCELLED_AT - 5),
  cancelled(CANCELLED_AT + 50),
  told(SECOND_AT - 5, { type: "started", turn: 2 }),
  told(END_AT + 10, { type: "read", statuses: ["cancelled", "completed"], sequence: LOG.length }),
];
const ERASED = told(END_AT + 30, { type: "erased" });

const seenIn = (events: readonly WireEvent[]): Played["seen"] =>
  new Map(events.map((event) => [event.sequence_number, event]));

/** The session, with what a row changes. */
const played = (changed: Partial<Played>): Played => ({
  left: { log: LOG, status: statusOf(LOG) },
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

/** What a new reader is told instead, and its fold; `seen` and the rest are as they were. */
const telling = (events: readonly WireEvent[]): Partial<Played> => ({
  left: { log: events, status: statusOf(events) },
});
const lastOf = (type: WireEvent["type"]): number =>
  LOG.findLastIndex((event) => event.type === type);
const without = (type: WireEvent["type"]): WireEvent[] => numbered(LOG.toSpliced(lastOf(type), 1));
const twice = (type: WireEvent["type"]): WireEvent[] =>
  numbered(LOG.toSpliced(lastOf(type), 0, ...LOG.slice(lastOf(type)).slice(0, 1)));
/** Every event of this type in the second turn, with other fields. */
const changing = (type: WireEvent["type"], fields: object): WireEvent[] =>
  LOG.map((event) =>
    event.type === type && event.turn === 2
      ? WireEventSchema.parse({ ...event, ...fields })
      : event,
  );
const operations = (...more: Operation[]): Partial<Played> => ({
  operations: [...OPERATIONS, ...more],
});
const requests = (...more: RecordedRequest[]): Partial<Played> => ({
  requests: [...REQUESTS, ...more],
});
const erased = (changed: Partial<Played>): Partial<Played> => ({
  ...operations(ERASED),
  left: null,
  ...changed,
});
/** They begin at once, long after everything else, and are over before the cancel's two seconds, or the erasing's. */
const waiting = (count: number): RecordedRequest[] =>
  Array.from({ length: count }, () => ({
    ...requestOf(SECOND, END_AT - 9, END_AT),
    firstByteAt: END_AT,
    model: "another",
  }));

/** The place of the nth event of this type in the second turn, from 1. */
const placeOf = (type: WireEvent["type"], nth = 1): number =>
  LOG.flatMap((event, place) => (event.type === type && event.turn === 2 ? [place] : []))[
    nth - 1
  ] ?? -1;
const laid = (place: number): WireEvent => {
  const event = LOG[place];
  if (!event) throw new Error("the recorded log has no such event");
  return event;
};
/** The second agent of the second turn begins its first round once more, when the first has answered. */
const BEGUN_ANEW = numbered(
  LOG.toSpliced(placeOf("call.completed", 2), 0, {
    ...laid(placeOf("round.started", 2)),
    at: laid(placeOf("answer.submitted")).at,
  }),
);
/** An agent of the second turn is shown an answer before it has one. */
const SHOWN_EARLY = LOG.map((event) =>
  event.type === "round.started" && event.turn === 2 && event.labels.length === 0
    ? { ...event, labels: ["agent1.1"] }
    : event,
);

/** It ends as after a fault of the service's own. */
const FAILED = WireEventSchema.parse({
  ...END,
  type: "turn.failed",
  code: "internal",
  message: "",
  agents: [],
});

const SOUND: readonly { name: string; changed: Partial<Played> }[] = [
  { name: "as it was recorded", changed: {} },
  {
    name: "erased while a request was on its way",
    changed: erased(requests(requestOf(SECOND, END_AT + 100, END_AT + 1_900))),
  },
  {
    name: "erased in its first turn, which clients were told is cancelled by that",
    changed: {
      ...{
        left: null,
        seen: seenIn(LOG.slice(0, ONE.length)),
        questions: [{ mark: FIRST, turn: 1 }],
      },
      ...{
        operations: [told(CANCELLED_AT - 5, { type: "erased" })],
        requests: REQUESTS.slice(0, 1),
      },
    },
  },
  {
    name: "erased when its clients had seen some of its events",
    changed: erased({ seen: seenIn(LOG.slice(0, 30)) }),
  },
  {
    name: "erased when they had seen its first events and some later ones",
    changed: erased({ seen: seenIn([...LOG.slice(0, 10), ...LOG.slice(40)]) }),
  },
  {
    name: "cancelled, and what was open closed within two seconds",
    changed: requests(requestOf(FIRST, CANCELLED_AT - 9, CANCELLED_AT + 1_900)),
  },
  { name: "with four requests that wait at once", changed: requests(...waiting(4)) },
];

const ROWS: readonly { name: string; changed: Partial<Played>; wrong: string }[] = [
  {
    name: "a gap in the numbers",
    changed: telling(LOG.toSpliced(lastOf("vote.cast"), 1)),
    wrong: "I2",
  },
  {
    name: "a turn that was acknowledged and is not there",
    changed: telling(LOG.slice(0, ONE.length)),
    wrong: "I2: turn 2 was acknowledged and is not in the log",
  },
  {
    name: "a cancel that was acknowledged and is not there",
    changed: operations(told(END_AT, { type: "cancelled", turn: 2, status: "cancelled" })),
    wrong: "I2: turn 2 was acknowledged as cancelled and is completed",
  },
  {
    name: "more events read of than there are",
    changed: operations(
      told(END_AT + 40, {
        type: "read",
        statuses: ["cancelled", "completed"],
        sequence: LOG.length + 1,
      }),
    ),
    wrong: `I2: ${LOG.length + 1} events were read of`,
  },
  {
    name: "a turn with another client's question",
    changed: telling(changing("turn.started", { question: REFUSED })),
    wrong: "I2: turn 2 has another question",
  },
  {
    name: "a request for a question that was refused",
    changed: requests(requestOf(REFUSED, SECOND_AT, SECOND_AT + 9)),
    wrong: "I2: 1 requests are for a question that was refused",
  },
  { name: "two final texts", changed: telling(twice("presentation.completed")), wrong: "I3 at" },
  {
    name: "another answer than its models present",
    changed: { answer: "No." },
    wrong: "I3: the answer of turn 2 is",
  },
  {
    name: "a turn that failed",
    changed: telling(LOG.with(-1, FAILED)),
    wrong: "I3: turn 2 failed",
  },
  {
    name: "an event after the end",
    changed: telling(numbered([...LOG, ...LOG.slice(lastOf("vote.cast")).slice(0, 1)])),
    wrong: "I4 at",
  },
  { name: "no end", changed: telling(LOG.slice(0, -1)), wrong: "I4 at" },
  {
    name: "an end that was read otherwise",
    changed: operations(
      told(END_AT + 40, {
        type: "read",
        statuses: ["completed", "completed"],
        sequence: LOG.length,
      }),
    ),
    wrong: "I4: turn 1 was read as completed and is cancelled",
  },
  {
    name: "a vote for an answer that there is not",
    changed: telling(changing("vote.cast", { label: "agent2.7" })),
    wrong: "I5 at",
  },
  {
    name: "another winner",
    changed: telling(changing("attempt.settled", { winner: "ada", label: "agent1.1" })),
    wrong: "I5-winner at",
  },
  {
    name: "agreement before the last vote",
    changed: telling(without("vote.cast")),
    wrong: "I6 at",
  },
  {
    name: "a first round begun anew for another's answer",
    changed: telling(BEGUN_ANEW),
    wrong: "I7 at",
  },
  { name: "an answer shown to who has none", changed: telling(SHOWN_EARLY), wrong: "I22 at" },
  {
    name: "a status that the log does not say",
    changed: { left: { log: LOG, status: statusOf(LOG.slice(0, -1)) } },
    wrong: "I19: the service says",
  },
  {
    name: "a request that the log does not account for",
    changed: requests(...REQUESTS, ...REQUESTS),
    wrong: "requests for model-1 arrived, the log started",
  },
  {
    name: "five requests that wait at once",
    changed: requests(...waiting(5)),
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
    name: "a turn that was cancelled before anybody asked",
    changed: {
      operations: OPERATIONS.map((one) =>
        one.told.type === "cancelled" ? cancelled(CANCELLED_AT + 150) : one,
      ),
    },
    wrong: "cancelled although nobody asked for it",
  },
  {
    name: "no order that explains it",
    changed: operations(told(END_AT + 40, { type: "refused", turn: 2 })),
    wrong: "no order of the 6 operations",
  },
  {
    name: "a promise broken before it was erased",
    changed: erased({ seen: seenIn(without("vote.cast")) }),
    wrong: "I6 at",
  },
  {
    name: "a turn that was cancelled before anybody erased it",
    changed: erased({
      operations: OPERATIONS.filter(({ told: { type } }) => type !== "cancelled").concat(ERASED),
      seen: seenIn(LOG.slice(0, ONE.length)),
    }),
    wrong: "cancelled although nobody asked for it",
  },
  {
    name: "a request that began after it was erased",
    changed: erased(requests(requestOf(SECOND, END_AT + 200, END_AT + 210))),
    wrong: "I15: 1 requests began",
  },
  {
    name: "a request that was open two seconds after it was erased",
    changed: erased(requests(requestOf(SECOND, END_AT, END_AT + 2_100))),
    wrong: "I15: 1 requests were open",
  },
];

describe("a session that many used at once breaks no promise", () => {
  it.each(SOUND)("$name", ({ changed }) => expect(judgeHistory(played(changed))).toEqual([]));
});

describe("a session that many used at once is wrong with", () => {
  it.each(ROWS)("$name", ({ changed, wrong }) =>
    expect(judgeHistory(played(changed)).join("\n")).toContain(wrong),
  );
});
