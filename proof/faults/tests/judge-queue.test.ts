import { describe, expect, it } from "vitest";
import { judgeRun } from "../runs/judge";
import { queueProblems } from "../runs/queue-problems";
import type { QueueEnd, QueueUse } from "../runs/queue-user";
import { nothingAsked } from "../../../simulated/providers/model-input";
import type { RecordedRequest } from "../../../simulated/providers/ledger";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import { EVENTS, recordedRun, requestOf } from "./recorded-run";

/**
 * A run with a queue, which breaks no promise: its first turn is cancelled, the queue is held and
 * resumed, the second turn is interrupted, and the others complete. Each row changes one part of
 * the record.
 */
const ENDLESS = "Take your time. mark";
const URGENT = "Briefly, at once. mark";
const FIRST = "Briefly, question 1. mark";
const SECOND = "Briefly, question 2. mark";
const REMOVED = "Never mind. mark";

type Turn = { question: string; id?: string; ends: "completed" | "cancelled" };
const TURNS: readonly Turn[] = [
  { question: "When? mark", ends: "cancelled" },
  { question: ENDLESS, id: "queued_1", ends: "cancelled" },
  { question: URGENT, id: "queued_5", ends: "completed" },
  { question: FIRST, id: "queued_2", ends: "completed" },
  { question: SECOND, id: "queued_3", ends: "completed" },
];
const QUEUED = TURNS.slice(1);
const TURN_MS = 1_000;

const STARTED = EVENTS.find(({ type }) => type === "turn.started");
const COMPLETED = EVENTS.find(({ type }) => type === "turn.completed");
const partial = { winner: null, answer: null, text: null };

/** The first and the last event of each turn. Each turn takes a second. */
function logOf(turns: readonly Turn[]): WireEvent[] {
  return turns.flatMap(({ question, id, ends }, nth) => {
    const place = { turn: nth + 1, at: nth * TURN_MS, sequence_number: nth + 1 };
    return [
      { ...STARTED, ...place, question, ...(id !== undefined && { queue_id: id }) },
      { ...COMPLETED, ...place, partial, type: `turn.${ends}` },
    ].map((event) => WireEventSchema.parse(event));
  });
}

/** The request that asks a model this question. */
const asking = (question: string): RecordedRequest => ({
  ...requestOf("hesitant", { startedAt: 1, firstByteAt: 2, endedAt: 3 }),
  body: { messages: [{ role: "user", content: question }] },
  asked: { ...nothingAsked("hesitant"), messages: [{ role: "user", text: question }] },
});

const USE: QueueUse = {
  starts: QUEUED.map(({ id = null, question, ends }) => ({ id, question, ends })),
  removed: [{ id: "queued_4", question: REMOVED }],
  held: { from: 100, until: 900 },
};
const END: QueueEnd = {
  waiting: [],
  isHeld: false,
  turns: new Map([
    ...QUEUED.map(({ id = "" }, nth) => [id, nth + 2] as const),
    ["queued_4", null] as const,
  ]),
};

type RecordChange = {
  turns?: readonly Turn[];
  asked?: readonly string[];
  use?: Partial<QueueUse>;
  end?: Partial<QueueEnd>;
};
const problemsOf = ({ turns = TURNS, asked, use, end }: RecordChange): Promise<string[]> =>
  queueProblems(
    {
      queueUse: { ...USE, ...use },
      queueEnd: async () => ({ ...END, ...end }),
      requests: () => (asked ?? TURNS.map(({ question }) => question)).map(asking),
    },
    logOf(turns),
  );

const withTurn = (question: string, change: Partial<Turn>): readonly Turn[] =>
  TURNS.map((turn) => (turn.question === question ? { ...turn, ...change } : turn));
const without = (question: string): readonly Turn[] =>
  TURNS.filter((turn) => turn.question !== question);
const [start, endless, urgent, first, second] = TURNS;
const inOrder = (...turns: (Turn | undefined)[]): readonly Turn[] =>
  turns.flatMap((turn) => turn ?? []);

describe("a run with a queue breaks no promise", () => {
  it.each([
    { name: "as recorded", changed: {} },
    {
      name: "if the id of the interrupt is unknown, because its reply was lost",
      changed: {
        use: {
          starts: USE.starts.map((one) => (one.question === URGENT ? { ...one, id: null } : one)),
        },
      },
    },
  ])("$name", async ({ changed }) => expect(await problemsOf(changed)).toEqual([]));
});

const ROWS: readonly { name: string; changed: RecordChange; wrong: string }[] = [
  {
    name: "a lost question",
    changed: { turns: without(SECOND) },
    wrong: '"Briefly, question 2." never started',
  },
  {
    name: "a question that ran twice",
    changed: { turns: [...TURNS, ...inOrder(second)] },
    wrong: '"Briefly, question 2." started 2 turns',
  },
  {
    name: "an interrupt that ran after the queue",
    changed: { turns: inOrder(start, endless, first, second, urgent) },
    wrong: "the questions ran in the order 1, 3, 4, 2",
  },
  {
    name: "a removed question that ran",
    changed: {
      turns: [...TURNS, { question: REMOVED, id: "queued_4", ends: "completed" }],
    },
    wrong: '"Never mind." was removed and started turn 6',
  },
  {
    name: "a removed question in the history of another turn",
    changed: { asked: [...TURNS.map(({ question }) => question), `Before: ${REMOVED}`] },
    wrong: '"Never mind." was removed and reached a model',
  },
  {
    name: "a turn that started while the queue was held",
    changed: { use: { held: { from: 100, until: 1_100 } } },
    wrong: "turn 2 started while the queue was held",
  },
  {
    name: "an interrupted turn that completed",
    changed: { turns: withTurn(ENDLESS, { ends: "completed" }) },
    wrong: "turn 2 ended with turn.completed instead of turn.cancelled",
  },
  {
    name: "a question that reached no model",
    changed: { asked: TURNS.map(({ question }) => question).filter((one) => one !== FIRST) },
    wrong: 'no model was asked "Briefly, question 1."',
  },
  {
    name: "a turn that names no request",
    changed: {
      turns: inOrder(start, endless, urgent, { question: FIRST, ends: "completed" }, second),
    },
    wrong: "turn 4 names the request undefined instead of queued_2",
  },
  {
    name: "a turn that names another request",
    changed: { turns: withTurn(FIRST, { id: "queued_9" }) },
    wrong: "turn 4 names the request queued_9 instead of queued_2",
  },
  {
    name: "a request that still waits",
    changed: { end: { waiting: ["queued_3"] } },
    wrong: "1 requests still wait",
  },
  { name: "a queue that is still held", changed: { end: { isHeld: true } }, wrong: "still held" },
  {
    name: "another turn of a request than its log says",
    changed: { end: { turns: new Map([...END.turns, ["queued_2", 2]]) } },
    wrong: "the request queued_2 has the turn 2, its log says 4",
  },
];

describe("in a run with a queue, finds", () => {
  it.each(ROWS)("$name", async ({ changed, wrong }) => {
    expect((await problemsOf(changed)).join("\n")).toContain(wrong);
  });
});

it("judging a run includes these checks", async () => {
  const problems = await judgeRun(recordedRun({ queueUse: USE, queueEnd: async () => END }));
  expect(problems).toContain('queue: "Take your time." never started');
  expect(problems).toContain("queue: the request queued_1 has the turn 2, its log says null");
});
