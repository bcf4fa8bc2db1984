import { isDeepStrictEqual } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import type { z } from "zod";
import { isTerminal, type WireEvent } from "../../../src/protocol/events";
import { CancelledSchema } from "../../../src/protocol/api/listings";
import { check } from "../../../checker";
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
import { reachedTools, type ToolRequest, toolProblems } from "./tool-records";
import { fileAccessProblems } from "./file-accesses";

/**
 * The platform lets six requests of an object wait for headers. Four are model calls, one is any
 * other request to a tool server (I14).
 */
export const MOST_AWAITING_HEADERS = { models: 4, inAll: 5 } as const;
/** A request may have been in flight when the cancel was acknowledged. */
const UNDER_WAY_MS = 150;
const CLOSED_WITHIN_MS = 2_000;

/** A finished run as the checks see it. */
export type FinishedRun = Pick<Run, Fact | Look> & { watchers: readonly Reader[] };
type Fact =
  | "kind"
  | "session"
  | "turns"
  | "canary"
  | "capUsd"
  | "cancelledAt"
  | "cancelled"
  | "erasedAt"
  | "killedAt";
type Look =
  | "requests"
  | "replay"
  | "status"
  | "listed"
  | "look"
  | "files"
  | "answerFiles"
  | "stored"
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
  const toTools = run.toolRequests();
  const isCancelled = run.kind.userAction?.startsWith("cancel") ?? false;
  return [
    ...streamProblems(run, log),
    ...misnumbered(events),
    ...broken(events, {
      ...(run.kind.tools && { tools: reachedTools(run.toolCalls(), events) }),
      ...(!isCancelled && { cancelsAsked: [] }),
      ...(run.killedAt && { diedAfter: deathsIn(events, run.killedAt) }),
    }),
    ...(run.kind.tools ? toolProblems(run.toolCalls(), events, isCancelled) : []),
    ...endProblems(events, run),
    ...misfolded(events, await run.status()),
    ...undercharged(events, requests),
    ...costProblems(events, requests, run.capUsd),
    ...unusedCapProblems(events, run),
    ...tokenProblems(requests, run.kind.maxTokens),
    ...concurrencyProblems(requests, toTools),
    ...requestsAfterEnd([...requests, ...toTools], run.cancelledAt),
    ...repeatedCancelProblems(run.cancelled),
    ...(isCancelled && run.cancelled.length === 0 ? ["I15: no cancel was acknowledged"] : []),
    ...run.cancelled.flatMap((answer) => cancelReplyProblems(answer, events, run)),
    ...keyLeaks(log, run.canary),
    ...labelLeaks(requests),
    ...exposureProblems(events, requests, {
      canary: run.canary,
      isClockRight: run.killedAt !== null,
    }),
    ...listingProblems(await run.listed(), run),
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
      (one) => one.endedAt === null && !isListening(one),
    );
  while (isOpen() && performance.now() < giveUpAt) await sleep(20);
}

/** The session is gone, and everything it did before was right. */
async function judgeErased(run: FinishedRun): Promise<string[]> {
  const [full] = run.watchers;
  const seen = (full?.frames ?? []).map(toEvent);
  const { status } = await run.look();
  const listed = await run.listed();
  return [
    ...misnumbered(seen),
    ...check(seen, { finished: false }).map(
      ({ invariant, sentence }) => `${invariant}: ${sentence}`,
    ),
    ...(status === 404 ? [] : [`the erased session answers ${status}`]),
    ...(listed.length === 0 ? [] : ["the erased session is listed"]),
    ...requestsAfterEnd([...run.requests(), ...run.toolRequests()], run.erasedAt),
    // The rest of the log is gone, so the time of an agent's first answer is unknown.
    ...exposureProblems(seen, run.requests(), { canary: run.canary, isClockRight: false }),
    ...keyLeaks(full?.frames ?? [], run.canary),
  ];
}

/** I1: each client's stream equals the log, byte for byte. */
function streamProblems(run: FinishedRun, log: readonly Buffer[]): string[] {
  const firstTurn = log.slice(1, log.findIndex((frame) => isTerminal(toEvent(frame).type)) + 1);
  const summary = firstTurn.filter((frame) => toEvent(frame).type !== "stream.delta");
  return run.watchers.flatMap((watcher, nth) => {
    const wanted = nth === run.watchers.length - 1 ? summary : log;
    return watcher.bytes.equals(Buffer.concat(wanted)) ? [] : [difference(watcher, wanted, nth)];
  });
}

function difference({ frames }: Reader, wanted: readonly Buffer[], nth: number): string {
  const at = wanted.findIndex((frame, place) => !frames[place]?.equals(frame));
  const [got, right] = at < 0 ? [frames[wanted.length], undefined] : [frames[at], wanted[at]];
  return `I1: watcher ${nth} got ${text(got)} where the log has ${text(right)}`;
}

const text = (frame: Buffer | undefined): string =>
  frame?.toString().trim().slice(0, 300) ?? "nothing";

/**
 * I10: the turn's result has the winner's files as written, every call of a file tool is recorded
 * once, and R2 holds exactly the files of the answers.
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
const isFrozen = (event: WireEvent): event is Answer =>
  event.type === "presentation.completed" ||
  (event.type === "answer.submitted" && event.snapshot === event.label);

/**
 * I10: every snapshot is complete in R2 and equals the files of the API, and no file job is left.
 */
async function storedFileProblems(
  run: FinishedRun,
  events: readonly WireEvent[],
): Promise<string[]> {
  const { trees, problems, left } = await run.stored();
  const listed = events.filter(isFrozen).map(async ({ turn, attempt, label }) => {
    return [`${turn}/${attempt}/${label}`, await run.answerFiles(attempt, label)] as const;
  });
  const wanted = Object.fromEntries(await Promise.all(listed));
  const isThere = isDeepStrictEqual(trees, wanted);
  return [
    ...(left === 0 ? [] : [`I10: ${left} file jobs are still pending`]),
    ...(isThere
      ? []
      : [`I10: R2 holds ${JSON.stringify(trees)} instead of ${JSON.stringify(wanted)}`]),
    ...problems.map((problem) => `I10: ${problem}`),
  ];
}

/** I3, I4: each turn has one end, of a kind and with an answer that this run allows. */
function endProblems(events: readonly WireEvent[], { kind, turns }: FinishedRun): string[] {
  const ends = events.filter(({ type }) => isTerminal(type));
  const wrong = ends.filter(({ type }) => !kind.ends.some((end) => end === type));
  const own = ends.filter((event) => event.type === "turn.failed" && event.code === "internal");
  const settled = events.findLast((event) => event.type === "attempt.settled");
  const answers = events.flatMap((event) =>
    event.type === "turn.completed" ? [event.answer] : [],
  );
  return [
    ...(ends.length === turns ? [] : [`I4: ${ends.length} turns ended instead of ${turns}`]),
    ...wrong.map((end) => `I3: a turn ended with ${JSON.stringify(end)}`),
    ...own.map((end) => `I3: an internal error ended turn ${end.turn}`),
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

/** I11: at no moment had the provider charged more than the cap. */
function costProblems(
  events: readonly WireEvent[],
  requests: readonly RecordedRequest[],
  capUsd: number | null,
): string[] {
  if (capUsd === null) return [];
  const agents = events.flatMap((event) =>
    event.type === "session.created" ? event.rules.agents : [],
  );
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

/** I11: a cap that must have an effect deferred at least one call. Otherwise it was not tested. */
const unusedCapProblems = (
  events: readonly WireEvent[],
  { kind, capUsd }: FinishedRun,
): string[] =>
  !kind.isCapped || events.some(({ type }) => type === "call.deferred")
    ? []
    : [`I11: no call had to wait under a cap of $${capUsd}`];

/** I11, in tokens. */
function tokenProblems(requests: readonly RecordedRequest[], cap: number | undefined): string[] {
  const taken = charges(requests).reduce(
    (sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens,
    0,
  );
  return cap === undefined || taken <= cap
    ? []
    : [`I11: ${taken} tokens were charged under a cap of ${cap}`];
}

/** I14: model requests alone, and all requests together. */
export function concurrencyProblems(
  models: readonly RecordedRequest[],
  tools: readonly ToolRequest[] = [],
): string[] {
  const [ofModels, inAll] = [
    peakAwaitingHeaders(models),
    peakAwaitingHeaders([...models, ...tools]),
  ];
  return [
    ...(ofModels <= MOST_AWAITING_HEADERS.models
      ? []
      : [`I14: ${ofModels} requests for models waited for headers at once`]),
    ...(inAll <= MOST_AWAITING_HEADERS.inAll
      ? []
      : [`I14: ${inAll} requests in all waited for headers at once`]),
  ];
}

/**
 * I15: after a cancel or an erase is acknowledged (`at`: Unix ms, `null` if neither was) no request
 * begins, and open ones are closed soon. Exceptions are cancel messages to tool servers, and the
 * listening request that stays open as long as the connection.
 */
export function requestsAfterEnd(
  requests: readonly (RecordedRequest | ToolRequest)[],
  at: number | null,
): string[] {
  if (at === null) return [];
  const late = requests.filter((one) => one.startedAt > at + UNDER_WAY_MS && !isLeaving(one));
  const open = requests.filter(
    (one) => (one.endedAt === null || one.endedAt > at + CLOSED_WITHIN_MS) && !isListening(one),
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

const isLeaving = (request: object): boolean =>
  "purpose" in request && request.purpose === "leaving";
const isListening = (request: object): boolean =>
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
  const reply = cancelledOf(answer);
  if (reply === null) return [`I2: a cancel was answered ${JSON.stringify(answer.slice(0, 300))}`];
  return [
    ...(reply.session_id === session
      ? []
      : [`I2: a cancel of ${session} was answered for ${reply.session_id}`]),
    ...cancelStatusProblems(reply, log),
  ];
}

function cancelledOf(answer: string): z.infer<typeof CancelledSchema> | null {
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

/** How a turn ended; `null` if it did not, or does not exist. */
export const statusIn = (log: readonly WireEvent[], turn: number): string | null =>
  log.find((event) => event.turn === turn && isTerminal(event.type))?.type.slice("turn.".length) ??
  null;

/** The length of the log at each death of the process. */
const deathsIn = (events: readonly WireEvent[], killedAt: readonly number[]): number[] =>
  killedAt.map((death) => events.findLastIndex(({ at }) => at <= death) + 1);

/** I17: no frame contains a key. The service's output is checked for all runs together. */
const keyLeaks = (log: readonly Buffer[], canary: string): string[] =>
  log.some((frame) => frame.includes(canary)) ? ["I17: the agents' key is in an event"] : [];

/**
 * I21: labels reveal authors and order, so no request contains one. Distinctive names are checked
 * elsewhere.
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
    : [`I2: ${session} is listed as ${JSON.stringify(listed)}`];
