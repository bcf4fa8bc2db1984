import { describe, expect, it } from "vitest";
import { type FinishedRun, judgeRun } from "../runs/judge";
import type { WireEvent } from "../../../src/protocol/events";
import {
  acknowledged,
  CANARY,
  CANCELLED,
  EVENTS,
  recordedRun,
  ofKind,
  readerOf,
  readersOf,
  REQUESTS,
  SESSION,
  statusOf,
  withLog,
  toFrame,
  TOOL_CALL,
  TREE,
} from "./recorded-run";

/**
 * A recorded run breaks no promise. Each row changes one part of the record, and the run then
 * breaks the promise about that part.
 */
const WITH_FILES = ofKind("story", { files: { "a.txt": "abc" } });
const WITH_TOOLS = ofKind("served");

const firstOf = (type: WireEvent["type"]): number =>
  EVENTS.findIndex((event) => event.type === type);
const [firstRequest] = REQUESTS;
const labelled = firstRequest
  ? [{ ...firstRequest, body: { input: "see agent2.1" } }, ...REQUESTS.slice(1)]
  : [];
const logWithout = (type: WireEvent["type"]): WireEvent[] =>
  EVENTS.toSpliced(
    EVENTS.findLastIndex((event) => event.type === type),
    1,
  );
const withKey = EVENTS.map((event) =>
  event.type === "answer.submitted" ? { ...event, content: CANARY } : event,
);
const [toolEnd] = EVENTS.flatMap((event) => (event.type === "tool.completed" ? [event] : []));
/** The log with so many records of file accesses for the tool call. */
function withFileAccesses(times: number): WireEvent[] {
  if (!toolEnd) throw new Error("the recorded log has no tool");
  const { outcome: _, ...place } = toolEnd;
  const record: WireEvent = { ...place, type: "files.accessed", accesses: [] };
  return EVENTS.toSpliced(
    firstOf("tool.completed"),
    0,
    ...Array.from({ length: times }, () => record),
  );
}
/** The log with an unknown outcome of the tool call. */
const UNKNOWN_OUTCOME = EVENTS.map((event): WireEvent => {
  if (event.type !== "tool.completed") return event;
  const { outcome: _, ...place } = event;
  return { ...place, type: "tool.unknown" };
});
/** The start of the tool call. */
const KILLED_AT = EVENTS.find(({ type }) => type === "tool.started")?.at ?? 0;
/** The log with the end that an internal error causes. */
const INTERNAL_ERROR = EVENTS.map((event): WireEvent => {
  if (event.type !== "turn.completed") return event;
  const { at, turn, session_id, sequence_number, usage, cost_usd } = event;
  return {
    type: "turn.failed",
    at,
    turn,
    session_id,
    sequence_number,
    usage,
    cost_usd,
    code: "internal",
    message: "",
    agents: [],
  };
});
const runWithFiles = (changed: Partial<FinishedRun>): Partial<FinishedRun> => ({
  ...WITH_FILES,
  ...withLog(withFileAccesses(1)),
  ...changed,
});

const expensive = REQUESTS.map((request) => ({
  ...request,
  reported: { inputTokens: 9_000, outputTokens: 9_000 },
}));

const SOUND: readonly { name: string; changed: Partial<FinishedRun> }[] = [
  { name: "as recorded", changed: {} },
  { name: "with a tool whose server was called once", changed: WITH_TOOLS },
  { name: "with all files in R2", changed: runWithFiles({}) },
  {
    name: "with an interrupted call of a tool that is not repeatable",
    changed: { ...WITH_TOOLS, ...withLog(UNKNOWN_OUTCOME), killedAt: [KILLED_AT] },
  },
  {
    name: "within its caps",
    changed: { capUsd: 1, ...ofKind("story", { maxTokens: 1_000_000 }) },
  },
  {
    name: "cancelled before any tool was called",
    changed: {
      ...ofKind("recalled", { ends: ["turn.completed"] }),
      ...withLog(UNKNOWN_OUTCOME),
      toolCalls: () => [],
      cancelReplies: [acknowledged("completed")],
    },
  },
];

const ROWS: readonly { name: string; changed: Partial<FinishedRun>; wrong: string }[] = [
  {
    name: "a client that missed an event",
    changed: { watchers: [readerOf(logWithout("vote.cast")), ...readersOf(EVENTS)] },
    wrong: "I1: watcher 0 got",
  },
  {
    name: "a gap in the numbers",
    changed: { replay: async () => logWithout("vote.cast").map(toFrame) },
    wrong: "I2",
  },
  {
    name: "an answer's label in a request",
    changed: { requests: () => labelled },
    wrong: "I21: a model was sent the label agent2.1",
  },
  {
    name: "a session that is listed twice",
    changed: { listedIds: async () => [SESSION, SESSION] },
    wrong: "I2",
  },
  {
    name: "an answer that is not the team's",
    changed: ofKind("story", { answer: "No." }),
    wrong: "I3: the answer is",
  },
  {
    name: "a second turn that never ended",
    changed: { turns: 2 },
    wrong: "I4: 1 turns ended instead of 2",
  },
  { name: "a missing vote", changed: withLog(logWithout("vote.cast")), wrong: "I6 at" },
  {
    name: "a tool's call that reached its server twice",
    changed: { ...WITH_TOOLS, toolCalls: () => [TOOL_CALL, TOOL_CALL] },
    wrong: "I8",
  },
  {
    name: "a tool's call that reached its server and is not in the log",
    changed: {
      ...WITH_TOOLS,
      toolCalls: () => [
        TOOL_CALL,
        { name: "add", key: `${SESSION}_tool_1_1_1_9_other`, answered: true },
      ],
    },
    wrong: "I8 at #47: other reached its server but is not in the log",
  },
  {
    name: "a tool's call without a key",
    changed: { ...WITH_TOOLS, toolCalls: () => [{ name: "read_file", key: "", answered: true }] },
    wrong: "I8: a call of read_file reached its server without a key",
  },
  {
    name: "a team with tools and no call",
    changed: { ...WITH_TOOLS, ...withLog(UNKNOWN_OUTCOME), toolCalls: () => [] },
    wrong: "I8: no tool was called",
  },
  {
    name: "a turn that ended by an internal error",
    changed: { ...ofKind("hopeless"), ...withLog(INTERNAL_ERROR) },
    wrong: "I3: an internal error ended turn 1",
  },
  {
    name: "a tool's call that never reached its server",
    changed: { ...WITH_TOOLS, toolCalls: () => [] },
    wrong: "was answered and never reached",
  },
  {
    name: "a result with another file",
    changed: runWithFiles({ files: async () => ({}) }),
    wrong: "I10: the result has the files",
  },
  {
    name: "a file that is missing in R2",
    changed: runWithFiles({ storedSnapshots: async () => ({ trees: {}, problems: [], left: 0 }) }),
    wrong: "I10: R2 holds",
  },
  {
    name: "an incomplete snapshot in R2",
    changed: runWithFiles({
      storedSnapshots: async () => ({
        trees: { "1/1/agent2.final": TREE },
        problems: ["a pack is torn"],
        left: 0,
      }),
    }),
    wrong: "I10: a pack is torn",
  },
  {
    name: "a file that was never stored in R2",
    changed: runWithFiles({
      storedSnapshots: async () => ({ trees: { "1/1/agent2.final": TREE }, problems: [], left: 1 }),
    }),
    wrong: "I10: 1 file jobs are still pending",
  },
  {
    name: "a file tool's call without a record of accesses",
    changed: { ...WITH_FILES },
    wrong: "I10",
  },
  {
    name: "a file tool's call with two records of accesses",
    changed: runWithFiles(withLog(withFileAccesses(2))),
    wrong: "I10: a call has two records",
  },
  {
    name: "an unknown outcome of an answered call, although nothing was killed",
    changed: { ...WITH_TOOLS, killedAt: [], ...withLog(UNKNOWN_OUTCOME) },
    wrong: "is unknown although it was not interrupted",
  },
  {
    name: "an end other than the deadline",
    changed: ofKind("story", { endedBy: "deadline" }),
    wrong: "I6: the attempt was settled by consensus",
  },
  {
    name: "a cap that deferred no call",
    changed: { ...ofKind("capped"), capUsd: 1 },
    wrong: "I11: no call had to wait under a cap",
  },
  { name: "charges above the cap", changed: { capUsd: 0.001 }, wrong: "I11: $" },
  {
    name: "tokens above the cap",
    changed: ofKind("story", { maxTokens: 1 }),
    wrong: "tokens were charged under a cap of 1",
  },
  {
    name: "charges that are not in the log",
    changed: { requests: () => expensive },
    wrong: "I11: model-1 charged",
  },
  {
    name: "a request that is not in the log",
    changed: { requests: () => [...REQUESTS, ...REQUESTS] },
    wrong: "requests for model-1 arrived, the log started",
  },
  {
    name: "a cancel without a request",
    changed: withLog(CANCELLED),
    wrong: "cancelled without a request",
  },
  { name: "the agents' key in an answer", changed: withLog(withKey), wrong: "I17" },
  {
    name: "a status that differs from the log",
    changed: { status: async () => statusOf(EVENTS.slice(0, -1)) },
    wrong: "the service says",
  },
  {
    name: "an erased session that still exists",
    changed: {
      ...ofKind("erased"),
      listedIds: async () => [],
      sessionReply: async () => ({ status: 200, body: "", at: 0, tries: 1 }),
    },
    wrong: "the erased session answers 200",
  },
  {
    name: "an erased session that is still listed",
    changed: ofKind("erased"),
    wrong: "the erased session is listed",
  },
];

describe("a finished run breaks no promise", () => {
  it.each(SOUND)("$name", async ({ changed }) =>
    expect(await judgeRun(recordedRun(changed))).toEqual([]),
  );
});

describe("in a finished run, finds", () => {
  it.each(ROWS)("$name", async ({ changed, wrong }) => {
    expect((await judgeRun(recordedRun(changed))).join("\n")).toContain(wrong);
  });
});
