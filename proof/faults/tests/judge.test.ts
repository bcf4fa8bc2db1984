import { describe, expect, it } from "vitest";
import { type Judged, judgeRun } from "../runs/judge";
import type { WireEvent } from "../../../src/protocol/events";
import {
  acknowledged,
  CANARY,
  CANCELLED,
  EVENTS,
  judged,
  ofKind,
  readerOf,
  readersOf,
  REQUESTS,
  SESSION,
  statusOf,
  telling,
  toFrame,
  TOOL_CALL,
  TREE,
} from "./recorded-run";

/**
 * What judges the runs of the faults campaigns sees: a recorded run, told as clients, providers and tools would tell of it, breaks
 * no promise, and with one thing changed it breaks the one that is about that.
 */
const WITH_FILES = ofKind("story", { files: { "a.txt": "abc" } });
const WITH_TOOLS = ofKind("served");

const firstOf = (type: WireEvent["type"]): number =>
  EVENTS.findIndex((event) => event.type === type);
const [firstRequest] = REQUESTS;
const labelled = firstRequest
  ? [{ ...firstRequest, body: { input: "see agent2.1" } }, ...REQUESTS.slice(1)]
  : [];
const without = (type: WireEvent["type"]): WireEvent[] =>
  EVENTS.toSpliced(
    EVENTS.findLastIndex((event) => event.type === type),
    1,
  );
const withKey = EVENTS.map((event) =>
  event.type === "answer.submitted" ? { ...event, content: CANARY } : event,
);
/** The audit trail's record of the tool's call, where it belongs. */
const [toolEnd] = EVENTS.flatMap((event) => (event.type === "tool.completed" ? [event] : []));
function withTrail(times: number): WireEvent[] {
  if (!toolEnd) throw new Error("the recorded log has no tool");
  const { outcome: _, ...place } = toolEnd;
  const record: WireEvent = { ...place, type: "files.accessed", accesses: [] };
  return EVENTS.toSpliced(
    firstOf("tool.completed"),
    0,
    ...Array.from({ length: times }, () => record),
  );
}
/** The tool's end is not known. */
const FORGOTTEN = EVENTS.map((event): WireEvent => {
  if (event.type !== "tool.completed") return event;
  const { outcome: _, ...place } = event;
  return { ...place, type: "tool.unknown" };
});
/** When its tool was at work. */
const KILLED_AT = EVENTS.find(({ type }) => type === "tool.started")?.at ?? 0;
/** It ends as after a fault that no rule knows. */
const BROKEN_DOWN = EVENTS.map((event): WireEvent => {
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
const filesWith = (changed: Partial<Judged>): Partial<Judged> => ({
  ...WITH_FILES,
  ...telling(withTrail(1)),
  ...changed,
});

const dearer = REQUESTS.map((request) => ({
  ...request,
  reported: { inputTokens: 9_000, outputTokens: 9_000 },
}));

const SOUND: readonly { name: string; changed: Partial<Judged> }[] = [
  { name: "as it was recorded", changed: {} },
  { name: "with a tool whose server was called once", changed: WITH_TOOLS },
  { name: "with files that are where they belong", changed: filesWith({}) },
  {
    name: "with a tool's call that was cut off, which nobody may repeat",
    changed: { ...WITH_TOOLS, ...telling(FORGOTTEN), killedAt: [KILLED_AT] },
  },
  {
    name: "under caps that it kept",
    changed: { capUsd: 1, ...ofKind("story", { maxTokens: 1_000_000 }) },
  },
  {
    name: "cancelled before any tool was called",
    changed: {
      ...ofKind("recalled", { ends: ["turn.completed"] }),
      ...telling(FORGOTTEN),
      toolCalls: () => [],
      cancelled: [acknowledged("completed")],
    },
  },
];

const ROWS: readonly { name: string; changed: Partial<Judged>; wrong: string }[] = [
  {
    name: "a client that was not sent an event",
    changed: { watchers: [readerOf(without("vote.cast")), ...readersOf(EVENTS)] },
    wrong: "I1: watcher 0 got",
  },
  {
    name: "an event that lost its number",
    changed: { replay: async () => without("vote.cast").map(toFrame) },
    wrong: "I2",
  },
  {
    name: "a model that was sent an answer's label",
    changed: { requests: () => labelled },
    wrong: "I21: a model was sent the label agent2.1",
  },
  {
    name: "a session that is listed twice",
    changed: { listed: async () => [SESSION, SESSION] },
    wrong: "I2",
  },
  {
    name: "another answer than the team's",
    changed: ofKind("story", { answer: "No." }),
    wrong: "I3: the answer is",
  },
  {
    name: "a second turn that never ended",
    changed: { turns: 2 },
    wrong: "I4: 1 turns ended instead of 2",
  },
  { name: "a vote that nobody logged", changed: telling(without("vote.cast")), wrong: "I6 at" },
  {
    name: "a tool's call that reached its server twice",
    changed: { ...WITH_TOOLS, toolCalls: () => [TOOL_CALL, TOOL_CALL] },
    wrong: "I8",
  },
  {
    name: "a tool's call that reached its server and is in no journal",
    changed: {
      ...WITH_TOOLS,
      toolCalls: () => [
        TOOL_CALL,
        { name: "add", key: `${SESSION}_tool_1_1_1_9_other`, answered: true },
      ],
    },
    wrong: "I8 at #47: other reached its server and is not in the journal",
  },
  {
    name: "a tool's call whose server saw no key",
    changed: { ...WITH_TOOLS, toolCalls: () => [{ name: "read_file", key: "", answered: true }] },
    wrong: "I8: a call of read_file reached its server without a key",
  },
  {
    name: "a team with tools that called none",
    changed: { ...WITH_TOOLS, ...telling(FORGOTTEN), toolCalls: () => [] },
    wrong: "I8: no tool was called",
  },
  {
    name: "a turn that a fault of the service's own ended",
    changed: { ...ofKind("hopeless"), ...telling(BROKEN_DOWN) },
    wrong: "I3: a fault of the service itself ended turn 1",
  },
  {
    name: "a tool's call that never reached its server",
    changed: { ...WITH_TOOLS, toolCalls: () => [] },
    wrong: "was answered and never reached",
  },
  {
    name: "a result with another file",
    changed: filesWith({ files: async () => ({}) }),
    wrong: "I10: the result has the files",
  },
  {
    name: "a file that R2 does not have",
    changed: filesWith({ stored: async () => ({ trees: {}, problems: [], left: 0 }) }),
    wrong: "I10: in R2 there is",
  },
  {
    name: "a snapshot in R2 that is not whole",
    changed: filesWith({
      stored: async () => ({
        trees: { "1/1/agent2.final": TREE },
        problems: ["a pack is torn"],
        left: 0,
      }),
    }),
    wrong: "I10: a pack is torn",
  },
  {
    name: "a file that was never brought to R2",
    changed: filesWith({
      stored: async () => ({ trees: { "1/1/agent2.final": TREE }, problems: [], left: 1 }),
    }),
    wrong: "I10: 1 things are still to be done",
  },
  { name: "a file tool's call that is not in the trail", changed: { ...WITH_FILES }, wrong: "I10" },
  {
    name: "a file tool's call that is twice in the trail",
    changed: filesWith(telling(withTrail(2))),
    wrong: "I10: a call is twice",
  },
  {
    name: "an answered call of a tool that nobody knows of, though nothing died",
    changed: { ...WITH_TOOLS, killedAt: [], ...telling(FORGOTTEN) },
    wrong: "is unknown although nothing cut it off",
  },
  {
    name: "another end than its time",
    changed: ofKind("story", { endedBy: "deadline" }),
    wrong: "I6: it was settled by consensus",
  },
  {
    name: "a cap that made no call wait",
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
    name: "charges that the log does not account for",
    changed: { requests: () => dearer },
    wrong: "I11: model-1 charged",
  },
  {
    name: "a request that the log does not account for",
    changed: { requests: () => [...REQUESTS, ...REQUESTS] },
    wrong: "requests for model-1 arrived, the log started",
  },
  {
    name: "a cancel that nobody asked for",
    changed: telling(CANCELLED),
    wrong: "cancelled although nobody asked for it",
  },
  { name: "the agents' key in an answer", changed: telling(withKey), wrong: "I17" },
  {
    name: "a status that the log does not say",
    changed: { status: async () => statusOf(EVENTS.slice(0, -1)) },
    wrong: "the service says",
  },
  {
    name: "an erased session that is still there",
    changed: {
      ...ofKind("erased"),
      listed: async () => [],
      look: async () => ({ status: 200, body: "", at: 0, tries: 1 }),
    },
    wrong: "the erased session answers 200",
  },
  {
    name: "an erased session that is still listed",
    changed: ofKind("erased"),
    wrong: "the erased session is listed",
  },
];

describe("a run that is over breaks no promise", () => {
  it.each(SOUND)("$name", async ({ changed }) =>
    expect(await judgeRun(judged(changed))).toEqual([]),
  );
});

describe("a run that is over is wrong with", () => {
  it.each(ROWS)("$name", async ({ changed, wrong }) => {
    expect((await judgeRun(judged(changed))).join("\n")).toContain(wrong);
  });
});
