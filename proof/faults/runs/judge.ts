import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { isTerminal, type WireEvent } from "../../../src/protocol/events";
import { CancelledSchema } from "../../../src/protocol/api/listings";
import { check, rulesByTurn } from "../../../checker";
import {
  broken,
  misfolded,
  misnumbered,
  toEvent,
  undercharged,
} from "../../../tests/e2e/support/verdict";
import type { Watcher } from "../../../tests/e2e/support/watcher";
import {
  charges,
  peakAwaitingHeaders,
  type RecordedRequest,
} from "../../../simulated/providers/ledger";
import type { Run } from "./run";
import { exposureProblems } from "./exposure";
import { queueProblems } from "./queue-problems";
import { reachedTools, relayOf, type ToolRequest, toolProblems } from "./tool-records";
import { fileAccessProblems } from "./file-accesses";

/**
 * The platform lets six requests of an object wait for headers at once. At most four requests of a
 * relay wait, and at most one that the session itself sent to a provider or a tool server (I14).
 */
export const MOST_AWAITING_HEADERS = { relay: 4, session: 1 } as const;
/** A provider may receive a request this long after the service acknowledged a cancel. */
const IN_FLIGHT_MS = 150;
const CLOSED_WITHIN_MS = 2_000;

/** The part of a finished run that the checks read. */
export type FinishedRun = Pick<Run, RunData | RunQuery> & { watchers: readonly Reader[] };
type RunData =
  | "kind"
  | "session"
  | "turns"
  | "canary"
  | "capUsd"
  | "cancelledAt"
  | "cancelReplies"
  | "queueUse"
  | "erasedAt"
  | "killedAt";
type RunQuery =
  | "requests"
  | "replay"
  | "status"
  | "listedIds"
  | "sessionReply"
  | "queueEnd"
  | "files"
  | "answerFiles"
  | "storedSnapshots"
  | "toolCalls"
  | "toolRequests";
type Reader = Pick<Watcher, "frames" | "bytes">;

/** All problems of a finished run, in sentences; empty if everything is right. */
export async function judgeRun(run: FinishedRun): Promise<string[]> {
  await waitForClosedRequests(run);
  if (run.kind.userAction === "erase") return judgeErased(run);
  const log = await run.replay();
  const events = log.map(toEvent);
  const requests = run.requests();
  const toolRequests = run.toolRequests();
  const isCancelled = run.kind.userAction?.startsWith("cancel") ?? false;
  return [
    ...streamProblems(run, log),
    ...misnumbered(events),
    ...broken(events, {
      ...(run.kind.tools && { tools: reachedTools(run.toolCalls(), events) }),
      ...(!isCancelled && !run.queueUse && { cancelsAsked: [] }),
      ...(run.killedAt && { diedAfter: logLengthsAtKills(events, run.killedAt) }),
    }),
    ...(run.kind.tools ? toolProblems(run.toolCalls(), events, isCancelled) : []),
    ...endProblems(events, run),
    ...misfolded(events, await run.status()),
    ...undercharged(events, requests),
    ...costProblems(events, requests, run.capUsd),
    ...unusedCapProblems(events, run),
    ...tokenProblems(requests, run.kind.maxTokens),
    ...concurrencyProblems(requests, toolRequests),
    ...requestsAfterEnd([...requests, ...toolRequests], run.cancelledAt),
    ...repeatedCancelProblems(run.cancelReplies),
    ...(isCancelled && run.cancelReplies.length === 0 ? ["I15: no cancel was acknowledged"] : []),
    ...run.cancelReplies.flatMap((answer) => cancelReplyProblems(answer, events, run)),
    ...keyLeaks(log, run.canary),
    ...labelLeaks(requests),
    ...exposureProblems(events, requests, {
      canary: run.canary,
      isClockRight: run.killedAt !== null,
    }),
    ...(await queueProblems(run, events)),
    ...listingProblems(await run.listedIds(), run),
    ...(await fileProblems(run, events)),
  ];
}

/**
 * Waits until no request of the run is open at a provider or a tool, or the time for closing them
 * is over.
 */
export async function waitForClosedRequests(
  run: Pick<FinishedRun, "requests"> & Partial<Pick<FinishedRun, "toolRequests">>,
): Promise<void> {
  const giveUpAt = performance.now() + CLOSED_WITHIN_MS;
  const isOpen = () =>
    [...run.requests(), ...(run.toolRequests?.() ?? [])].some(
      (one) => one.endedAt === null && !isListeningRequest(one),
    );
  while (isOpen() && performance.now() < giveUpAt) await sleep(20);
}

/** Checks that a session was erased, and everything that it did before. */
async function judgeErased(run: FinishedRun): Promise<string[]> {
  const [full] = run.watchers;
  const seen = (full?.frames ?? []).map(toEvent);
  const { status } = await run.sessionReply();
  const listed = await run.listedIds();
  return [
    ...misnumbered(seen),
    ...check(seen, { finished: false }).map(
      ({ invariant, sentence }) => `${invariant}: ${sentence}`,
    ),
    ...(status === 404 ? [] : [`the erased session answers ${status}`]),
    ...(listed.length === 0 ? [] : ["the erased session is listed"]),
    ...requestsAfterEnd([...run.requests(), ...run.toolRequests()], run.erasedAt),
    // The log is gone, so the check cannot use the times of answers: `isClockRight` is false.
    ...exposureProblems(seen, run.requests(), { canary: run.canary, isClockRight: false }),
    ...keyLeaks(full?.frames ?? [], run.canary),
  ];
}

/**
 * I1: each client's stream equals the part of the log that it asked for, byte for byte. The last
 * client asked for the first turn without deltas.
 */
function streamProblems(run: FinishedRun, log: readonly Buffer[]): string[] {
  const firstTurn = log.slice(1, log.findIndex((frame) => isTerminal(toEvent(frame).type)) + 1);
  const summary = firstTurn.filter((frame) => toEvent(frame).type !== "stream.delta");
  return run.watchers.flatMap((watcher, nth) => {
    const expected = nth === run.watchers.length - 1 ? summary : log;
    return watcher.bytes.equals(Buffer.concat(expected))
      ? []
      : [firstDifference(watcher, expected, nth)];
  });
}

function firstDifference({ frames }: Reader, expected: readonly Buffer[], nth: number): string {
  const at = expected.findIndex((frame, place) => !frames[place]?.equals(frame));
  const [received, logged] =
    at < 0 ? [frames[expected.length], undefined] : [frames[at], expected[at]];
  return `I1: watcher ${nth} got ${shorten(received)} where the log has ${shorten(logged)}`;
}

const shorten = (frame: Buffer | undefined): string =>
  frame?.toString().trim().slice(0, 300) ?? "nothing";

/**
 * I10: the turn's result has the winner's files unchanged, every successful call of a file tool is
 * recorded once, and R2 holds exactly the files of the answers.
 */
async function fileProblems(run: FinishedRun, events: readonly WireEvent[]): Promise<string[]> {
  const { files } = run.kind;
  if (!files) return [];
  const found = await run.files();
  return [
    ...(isDeepStrictEqual(found, files)
      ? []
      : [`I10: the result has the files ${JSON.stringify(found)}`]),
    ...fileAccessProblems(events).map((problem) => `I10: ${problem}`),
    ...(await storedFileProblems(run, events)),
  ];
}

type Answer = Extract<WireEvent, { type: "answer.submitted" | "presentation.completed" }>;

/** Whether the answer has a snapshot of its own. */
const hasOwnSnapshot = (event: WireEvent): event is Answer =>
  event.type === "presentation.completed" ||
  (event.type === "answer.submitted" && event.snapshot === event.label);

/**
 * I10: every snapshot is complete in R2, has the same files as the API returns, and no file job is
 * left.
 */
async function storedFileProblems(
  run: FinishedRun,
  events: readonly WireEvent[],
): Promise<string[]> {
  const { trees, problems, left } = await run.storedSnapshots();
  const listed = events.filter(hasOwnSnapshot).map(async ({ turn, attempt, label }) => {
    return [`${turn}/${attempt}/${label}`, await run.answerFiles(attempt, label)] as const;
  });
  const expected = Object.fromEntries(await Promise.all(listed));
  const isComplete = isDeepStrictEqual(trees, expected);
  return [
    ...(left === 0 ? [] : [`I10: ${left} file jobs are still pending`]),
    ...(isComplete
      ? []
      : [`I10: R2 holds ${JSON.stringify(trees)} instead of ${JSON.stringify(expected)}`]),
    ...problems.map((problem) => `I10: ${problem}`),
  ];
}

/** I3, I4: each turn ended once, in a way and with an answer that this kind of run allows. */
function endProblems(events: readonly WireEvent[], { kind, turns }: FinishedRun): string[] {
  const ends = events.filter(({ type }) => isTerminal(type));
  const wrong = ends.filter(({ type }) => !kind.ends.some((end) => end === type));
  const internalErrors = ends.filter(
    (event) => event.type === "turn.failed" && event.code === "internal",
  );
  const settled = events.findLast((event) => event.type === "attempt.settled");
  const answers = events.flatMap((event) =>
    event.type === "turn.completed" ? [event.answer] : [],
  );
  return [
    ...(ends.length === turns ? [] : [`I4: ${ends.length} turns ended instead of ${turns}`]),
    ...wrong.map((end) => `I3: a turn ended with ${JSON.stringify(end)}`),
    ...internalErrors.map((end) => `I3: an internal error ended turn ${end.turn}`),
    ...(!kind.endedBy || settled?.ended_by === kind.endedBy
      ? []
      : [`I6: the attempt was settled by ${settled?.ended_by ?? "nothing"}`]),
    ...answers.flatMap((answer) =>
      kind.answer === null || answer === kind.answer
        ? []
        : [`I3: the answer is ${JSON.stringify(answer)}`],
    ),
  ];
}

/** I11: the provider never charged more than the cap. */
function costProblems(
  events: readonly WireEvent[],
  requests: readonly RecordedRequest[],
  capUsd: number | null,
): string[] {
  if (capUsd === null) return [];
  const agents = [...rulesByTurn(events).values()].flatMap((rules) => rules.agents);
  const price = (model: string) => agents.find((agent) => agent.model === model)?.price;
  let spent = 0;
  for (const { model, inputTokens, outputTokens } of charges(requests).sort(
    (a, b) => a.at - b.at,
  )) {
    spent +=
      (inputTokens * (price(model)?.input ?? 0) + outputTokens * (price(model)?.output ?? 0)) /
      1_000_000;
  }
  return spent <= capUsd + 1e-9 ? [] : [`I11: $${spent} was charged under a cap of $${capUsd}`];
}

/** I11: a tight cap deferred at least one call. Otherwise the cap was not tested. */
const unusedCapProblems = (
  events: readonly WireEvent[],
  { kind, capUsd }: FinishedRun,
): string[] =>
  !kind.isCapped || events.some(({ type }) => type === "call.deferred")
    ? []
    : [`I11: no call had to wait under a cap of $${capUsd}`];

/** I11: the provider never charged more tokens than the cap. */
function tokenProblems(requests: readonly RecordedRequest[], cap: number | undefined): string[] {
  const taken = charges(requests).reduce(
    (sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens,
    0,
  );
  return cap === undefined || taken <= cap
    ? []
    : [`I11: ${taken} tokens were charged under a cap of ${cap}`];
}

/** I14: limits of the requests of each object that wait for headers at the same time. */
export function concurrencyProblems(
  models: readonly RecordedRequest[],
  tools: readonly ToolRequest[] = [],
): string[] {
  const requests = [
    ...models.map(({ headers, ...request }) => ({ ...request, relay: relayOf(headers) })),
    ...tools,
  ];
  return [...Map.groupBy(requests, ({ relay }) => relay)].flatMap(([relay, some]) => {
    const most = peakAwaitingHeaders(some);
    const limit = relay === null ? MOST_AWAITING_HEADERS.session : MOST_AWAITING_HEADERS.relay;
    const sender = relay === null ? "the session" : `relay ${relay.slice(0, 8)}`;
    return most <= limit ? [] : [`I14: ${most} requests of ${sender} waited for headers at once`];
  });
}

/**
 * I15: after a cancel or an erase is acknowledged, no request begins, and open requests are closed
 * soon. `at`: time of the acknowledgement, Unix ms; `null` if there was none. Exceptions: messages
 * that leave a call or a tool server may begin, and a listening request stays open as long as its
 * connection.
 */
export function requestsAfterEnd(
  requests: readonly (RecordedRequest | ToolRequest)[],
  at: number | null,
): string[] {
  if (at === null) return [];
  const late = requests.filter((one) => one.startedAt > at + IN_FLIGHT_MS && !isLeaveMessage(one));
  const open = requests.filter(
    (one) =>
      (one.endedAt === null || one.endedAt > at + CLOSED_WITHIN_MS) && !isListeningRequest(one),
  );
  return [
    ...(late.length === 0
      ? []
      : [`I15: ${late.length} requests began after the end was acknowledged`]),
    ...(open.length === 0
      ? []
      : [`I15: ${open.length} requests were open 2 s after the end was acknowledged`]),
  ];
}

const isLeaveMessage = (request: object): boolean =>
  "purpose" in request && request.purpose === "leaving";
const isListeningRequest = (request: object): boolean =>
  "purpose" in request && request.purpose === "listening";

/** I15: a repeated cancel has the same reply. */
const repeatedCancelProblems = (answers: readonly string[]): string[] =>
  answers.every((answer) => answer === answers[0])
    ? []
    : [`I15: cancels were answered ${answers.join(" and then ")}`];

/** I2: the reply to a cancel names this session and agrees with its log. */
function cancelReplyProblems(
  answer: string,
  log: readonly WireEvent[],
  { session }: FinishedRun,
): string[] {
  const reply = parseCancelReply(answer);
  if (reply === null) return [`I2: a cancel was answered ${JSON.stringify(answer.slice(0, 300))}`];
  return [
    ...(reply.session_id === session
      ? []
      : [`I2: a cancel of ${session} was answered for ${reply.session_id}`]),
    ...cancelStatusProblems(reply, log),
  ];
}

function parseCancelReply(answer: string): z.infer<typeof CancelledSchema> | null {
  try {
    return CancelledSchema.safeParse(JSON.parse(answer)).data ?? null;
  } catch {
    return null; // Not JSON.
  }
}

/** I2: the log has the status of the turn that the cancel's reply claims. */
export function cancelStatusProblems(
  { turn, status }: { turn: number; status: string },
  log: readonly WireEvent[],
): string[] {
  const logged = statusIn(log, turn);
  return logged === status
    ? []
    : [`I2: turn ${turn} was acknowledged as ${status} and is ${logged} in the log`];
}

/** How a turn ended; `null` if the turn has not ended or does not exist. */
export const statusIn = (log: readonly WireEvent[], turn: number): string | null =>
  log.find((event) => event.turn === turn && isTerminal(event.type))?.type.slice("turn.".length) ??
  null;

/** For each kill of the process, the number of events that the log had by then. */
const logLengthsAtKills = (events: readonly WireEvent[], killedAt: readonly number[]): number[] =>
  killedAt.map((death) => events.findLastIndex(({ at }) => at <= death) + 1);

/**
 * I17: no frame contains a key. The service's output is checked elsewhere, for all runs together.
 */
const keyLeaks = (log: readonly Buffer[], canary: string): string[] =>
  log.some((frame) => frame.includes(canary)) ? ["I17: the agents' key is in an event"] : [];

/**
 * I21: no request to a model contains an answer label, because labels reveal authors and order.
 */
function labelLeaks(requests: readonly RecordedRequest[]): string[] {
  const labels = requests.flatMap(
    ({ body }) => /\bagent\d+\.(\d|final)/.exec(JSON.stringify(body))?.[0] ?? [],
  );
  return [...new Set(labels)].map((label) => `I21: a model was sent the label ${label}`);
}

/** I2, A15: repeated starts create one session. */
const listingProblems = (listed: readonly string[], { session }: FinishedRun): string[] =>
  listed.length === 1 && listed[0] === session
    ? []
    : [`I2: the list should contain only ${session}, and contains ${JSON.stringify(listed)}`];
