import { readFileSync } from "node:fs";
import path from "node:path";
import type { FinishedRun } from "../runs/judge";
import { type Kind, kindOf } from "../runs/kinds";
import { keyOf } from "../runs/exposure";
import { nothingAsked } from "../../../simulated/providers/model-input";
import { newRecord, type RecordedRequest } from "../../../simulated/providers/ledger";
import type { SessionStatus } from "../../../src/protocol/api";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import { toStatus } from "../../../src/protocol/view/status";
import { apply, emptyView } from "../../../src/protocol/view";
import { answersBlock } from "../../../src/prompts/newer-answers";

/**
 * A recorded run, as clients, providers and tools see it. The run breaks no promise. Each test
 * changes one part of it.
 */
export const SESSION = "session_01";
export const CANARY = "canary-key-1";
/** The events of a recorded session. */
export function readRecording(name: string): readonly WireEvent[] {
  const file = path.join(import.meta.dirname, `../../golden/v2/${name}.jsonl`);
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => WireEventSchema.parse({ ...JSON.parse(line), session_id: SESSION }));
}
export const EVENTS = readRecording("improved-answer-with-injection");
export const END_AT = EVENTS.at(-1)?.at ?? 0;
/** The run's only tool call. The first agent made it in its second round. */
export const TOOL_CALL = {
  name: "read_file",
  key: `${SESSION}_tool_1_1_1_2_call_1_1_1_2_1_1_use`,
  answered: true,
};
export const TREE = { "a.txt": "00 3" };

export const toFrame = (event: WireEvent): Buffer =>
  Buffer.from(
    `event: ${event.type}\nid: ${event.sequence_number}\ndata: ${JSON.stringify(event)}\n\n`,
  );
export const readerOf = (events: readonly WireEvent[]) => ({
  frames: events.map(toFrame),
  bytes: Buffer.concat(events.map(toFrame)),
});
export const readersOf = (events: readonly WireEvent[]) => [
  readerOf(events),
  readerOf(events.filter(({ turn, type }) => turn === 1 && type !== "stream.delta")),
];

export const requestOf = (
  model: string,
  times: Pick<RecordedRequest, "startedAt" | "firstByteAt" | "endedAt">,
  agent = "ada",
): RecordedRequest => ({
  ...newRecord({
    id: 1,
    format: "openai-chat",
    model,
    path: "/",
    headers: { authorization: `Bearer ${keyOf(CANARY, agent)}` },
    body: {},
    startedAt: times.startedAt,
  }),
  ...times,
  outcome: "completed",
});
/**
 * The request to a model that may use these tools and is shown these answers. `turn`: the events of
 * the turn.
 */
export function requestContent(
  labels: readonly string[],
  offers: readonly string[],
  turn = EVENTS,
): Pick<RecordedRequest, "body" | "asked"> {
  const [aliases = {}] = turn.flatMap((event) =>
    event.type === "turn.started" ? [event.aliases] : [],
  );
  const answers = labels.flatMap((label) =>
    turn.flatMap((event) =>
      event.type === "answer.submitted" && event.label === label
        ? [{ alias: aliases[event.agent] ?? "", content: event.content }]
        : [],
    ),
  );
  const text = `Which way? ${answers.length === 0 ? "" : answersBlock("n0nce", "CURRENT ANSWERS", answers)}`;
  const tools = offers.map((name) => ({ name, parameters: {} }));
  return {
    body: { messages: [{ role: "user", content: [{ type: "text", text }] }] },
    asked: { ...nothingAsked("any"), messages: [{ role: "user", text }], tools },
  };
}
type CallStart = Extract<WireEvent, { type: "call.started" }>;

/** The answers that the round of a call had been shown before the call. `turn`: as above. */
const shownBy = (
  { agent, round, sequence_number: before }: CallStart,
  turn: readonly WireEvent[],
): string[] =>
  turn.flatMap((event) =>
    (event.type === "round.started" || event.type === "answers.injected") &&
    event.agent === agent &&
    event.round === round &&
    event.sequence_number < before
      ? event.labels
      : [],
  );

/**
 * The requests of a log that reached the providers: one per completed call, with the usage from the
 * log.
 */
export const requestsIn = (log: readonly WireEvent[]) =>
  log.flatMap((event) => {
    const started = log.find(
      (one) => one.type === "call.started" && "call" in event && one.call === event.call,
    );
    if (event.type !== "call.completed" || started?.type !== "call.started") return [];
    const { input_tokens, cached_tokens, output_tokens: outputTokens } = event.usage;
    // Without cached tokens, because they have a lower price and the ledger knows only one price.
    const inputTokens = input_tokens - cached_tokens;
    const times = { startedAt: started.at, firstByteAt: started.at, endedAt: event.at };
    const turn = log.filter((one) => one.turn === event.turn);
    const sent = requestContent(shownBy(started, turn), started.offers, turn);
    return [
      {
        ...requestOf(event.model, times, started.agent),
        ...{ ...sent, reported: { inputTokens, outputTokens } },
      },
    ];
  });
export const REQUESTS = requestsIn(EVENTS);

export const ofKind = (
  name: Parameters<typeof kindOf>[0],
  more: Partial<Kind> = {},
): Pick<FinishedRun, "kind"> => ({
  kind: { ...kindOf(name), answer: null, ...more },
});
export function statusOf(events: readonly WireEvent[]): SessionStatus {
  const status = toStatus(events.reduce(apply, emptyView()), { now: END_AT });
  if (!status) throw new Error("the recorded log has no turn");
  return status;
}

/** The recorded run with the changes of a row. */
export const recordedRun = (changed: Partial<FinishedRun>): FinishedRun => ({
  ...ofKind("story"),
  session: SESSION,
  turns: 1,
  canary: CANARY,
  capUsd: null,
  cancelledAt: null,
  cancelReplies: [],
  queueUse: null,
  killedAt: null,
  erasedAt: null,
  watchers: readersOf(EVENTS),
  requests: () => REQUESTS,
  replay: async () => EVENTS.map(toFrame),
  status: async () => statusOf(EVENTS),
  queueEnd: async () => null,
  listedIds: async () => [SESSION],
  sessionReply: async () => ({ status: 404, body: "", at: END_AT, tries: 1 }),
  files: async () => ({ "a.txt": "abc" }),
  answerFiles: async () => TREE,
  storedSnapshots: async () => ({ trees: { "1/1/agent2.final": TREE }, problems: [], left: 0 }),
  toolCalls: () => [TOOL_CALL],
  toolRequests: () => [],
  ...changed,
});

/** The changes that give all readers another log. Renumbers the events. */
export function withLog(
  events: readonly WireEvent[],
): Pick<FinishedRun, "watchers" | "replay" | "status"> {
  const log = events.map((event, nth) => ({ ...event, sequence_number: nth + 1 }));
  return {
    watchers: readersOf(log),
    replay: async () => log.map(toFrame),
    status: async () => statusOf(log),
  };
}

/** The recorded log with the end of a cancelled turn. */
export const CANCELLED = EVENTS.map((event): WireEvent => {
  if (event.type !== "turn.completed") return event;
  const { at, turn, session_id, sequence_number, usage, cost_usd, winner } = event;
  const voted = EVENTS.findLast((one) => one.type === "answer.submitted" && one.agent === winner);
  const partial = {
    winner,
    answer: voted?.type === "answer.submitted" ? voted.content : null,
    text: null,
  };
  return {
    type: "turn.cancelled",
    at,
    turn,
    session_id,
    sequence_number,
    usage,
    cost_usd,
    partial,
  };
});

/** The reply to a cancel if the turn has this status. */
export const acknowledged = (
  status: string,
  more: { turn?: number; session_id?: string } = {},
): string => JSON.stringify({ session_id: SESSION, turn: 1, status, ...more });
