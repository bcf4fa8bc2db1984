import { isDeepStrictEqual } from "node:util";
import { type SessionEvent, SessionEventSchema } from "../../../src/protocol/events";
import { isTerminal } from "../../../src/protocol/events";
import { check, type LedgerEntry, type NumberedEvent, type Violation } from "../../../checker";
import { priceOf } from "../../../checker/price";
import { asStored, witnessFiles } from "./file-witness";
import { MARK } from "./model";
import type { Reached } from "./providers";
import { framesFor, type RunRecord } from "./run-record";
import { idOf, keyOf, modelOf } from "./situation";
import { DIALECTS } from "./wire";

/** Invariants that need more than the log: what clients, providers and the tenant saw. Each gives a sentence per breach. */
export type OutsideCheck = (run: RunRecord) => string[];

/** I1: what a client was given over all its connections is the log of what it asked for, byte for byte. */
export const i1SameBytes: OutsideCheck = ({ clients, rows }) =>
  clients.flatMap((client, nth) => [
    ...client.problems,
    ...(client.received === framesFor(rows, client.wish)
      ? []
      : [`client ${nth + 1} (${JSON.stringify(client.wish)}) holds other bytes than the log`]),
  ]);

/** I2: what was confirmed to a user is in the log, and the turn that was to be cancelled ended as its user was told: the end may come first. */
export const i2Acknowledged: OutsideCheck = ({ acknowledged, cancels, log }) => [
  ...acknowledged
    .filter((turn) => !log.some((event) => event.type === "turn.started" && event.turn === turn))
    .map((turn) => `turn ${turn} was confirmed and is not in the log`),
  ...cancels
    .filter(
      ({ turn, status }) =>
        !log.some(
          (event) =>
            event.type === `turn.${status}` && isTerminal(event.type) && event.turn === turn,
        ),
    )
    .map(
      ({ turn, status }) =>
        `turn ${turn} did not end as ${status}, as whoever cancelled it was told`,
    ),
];

/**
 * I5: a vote that counts was cast by an agent whose provider had been sent the text of that very answer. What calls that start
 * after the vote are sent counts for nothing: the presenter is sent every answer, and a later call is shown what came meanwhile.
 */
export const i5Shown: OutsideCheck = ({ log, platform }) => {
  const problems: string[] = [];
  const answers = new Map<string, string>();
  const started = new Set<string>();
  for (const event of log) {
    if (event.type === "call.started") started.add(event.call);
    if (event.type === "answer.submitted")
      answers.set(`${event.turn} ${event.attempt} ${event.label}`, event.content);
    if (event.type !== "vote.cast") continue;
    const mark = marksIn(answers.get(`${event.turn} ${event.attempt} ${event.label}`) ?? "").at(-1);
    if (!mark) continue;
    const sent = platform.providers.reached.filter(
      ({ call }) => started.has(call) && isOf(call, event),
    );
    const agent = agentIndex(log, event.agent);
    if (!sent.some((request) => request.agent === agent && request.body.includes(mark))) {
      problems.push(`${event.agent} voted for ${event.label}, whose text was never sent to it`);
    }
  }
  return problems;
};

/** I10: every answer and final has the files that its agent had made, in R2, whole, as well as over the API. */
export const i10Stored: OutsideCheck = ({ stored, frozen, stuck, log, platform }) => {
  if (stuck !== null) return [...stored.problems];
  const { trees, problems } = witnessFiles(log, platform.providers.reached);
  const due = asStored(trees);
  const unlike = (where: string, found: typeof due): string[] =>
    isDeepStrictEqual(found, due)
      ? []
      : [`${where} there is ${JSON.stringify(found)}, due is ${JSON.stringify(due)}`];
  return [
    ...stored.problems,
    ...problems,
    ...unlike("in R2", stored.trees),
    ...unlike("over the API", frozen),
  ];
};

/** I11: what providers charged. */
export function ledgerOf({ platform, drawn, log }: RunRecord): LedgerEntry[] {
  const turns = new Map(
    log.flatMap((event) =>
      event.type === "call.started" ? [[event.call, event.turn] as const] : [],
    ),
  );
  return platform.providers.reached.flatMap(({ agent, call, charged, endedAt, sentAt }) => {
    if (!charged) return [];
    const { input, output, cached, searches } = charged;
    const hosted_uses = { web_search: searches };
    const usage = {
      input_tokens: input,
      output_tokens: output,
      reasoning_tokens: 0,
      cached_tokens: cached,
      hosted_uses,
    };
    const usd = priceOf(drawn.team.rules.agents[agent], usage);
    return [
      { at: endedAt ?? sentAt, turn: turns.get(call) ?? 0, call, tokens: input + output, usd },
    ];
  });
}

/** I12: when all is quiet nothing is reserved, noted or left to be told, and the tenant was told of each turn what it has cost. */
export const i12Quiet: OutsideCheck = ({ left, platform, log }) => {
  const ends = log.filter(
    (event) =>
      event.type === "turn.completed" ||
      event.type === "turn.failed" ||
      event.type === "turn.cancelled",
  );
  return [
    ...(left.outbox === 0 ? [] : [`${left.outbox} turns' ends were never told`]),
    ...(left.duties === 0 ? [] : [`${left.duties} things were never done about files`]),
    ...(left.points === 0
      ? []
      : [`${left.points} places of calls are kept although no call is under way`]),
    ...ends.flatMap((end) => {
      const told = platform.tenant.told.filter(({ turn }) => turn === end.turn);
      if (told.length === 0) return [`the tenant was never told of turn ${end.turn}`];
      return told.every(({ costUsd, at }) => costUsd === end.cost_usd && at === end.at)
        ? []
        : [`the tenant was told another cost of turn ${end.turn}`];
    }),
  ];
};

/** Longest that a run may stand still once nothing around it is at fault. */
const STILL_MS = 60_000;

/** I13: every turn ends, and from the last fault on it never stands still for longer than a minute, a retry it waits for left out. */
export const i13Progress: OutsideCheck = ({ stuck, log, faults, startedAt, grew, platform }) => {
  if (stuck !== null) return [stuck];
  const last = Math.max(startedAt, ...faults.struck.map(({ at, until }) => Math.max(at, until)));
  const jumps = faults.struck.filter(({ fault }) => fault.startsWith("clock_")).map(({ at }) => at);
  const underWay = platform.providers.reached.filter(({ sentAt }) => sentAt <= last);
  const from = Math.max(last, ...underWay.map((request) => waitedForUntil(request, jumps)));
  const moments = [
    { at: from, head: grew.findLast(({ at }) => at <= from)?.head ?? 0 },
    ...grew.filter(({ at }) => at > from),
  ];
  return moments.flatMap(({ at, head }, nth) => {
    const stood = (moments[nth + 1]?.at ?? at) - at;
    if (stood <= STILL_MS) return [];
    return stood <= STILL_MS + retryPending(log, head)
      ? []
      : [`nothing happened for ${stood} ms after #${head} and the last fault`];
  });
};

/** How long a model is waited for, by the promise of `robustness.md` §3: for its headers, for its next piece, and altogether. */
const HEADERS_MS = 120_000;
const SILENCE_MS = 90_000;
const WHOLE_CALL_MS = 14 * 60_000;

/**
 * Until when a request that was under way when the last fault struck may still be waited for. A clock that is set anew hides when
 * the last piece came: then it may have come late, and silence lasts for as long again.
 */
function waitedForUntil(
  { sentAt, headersAt, pieceAt, endedAt }: Reached,
  jumps: readonly number[],
): number {
  const end = endedAt ?? sentAt;
  const silenceMs = jumps.some((at) => at >= sentAt && at <= end) ? 2 * SILENCE_MS : SILENCE_MS;
  const silentUntil = headersAt === null ? sentAt + HEADERS_MS : (pieceAt ?? headersAt) + silenceMs;
  return Math.min(end, silentUntil, sentAt + WHOLE_CALL_MS);
}

/** What the rules themselves wait for when the log ends there: the longest retry, or wait for a limit, that is not over, in ms; 0: none. */
function retryPending(log: readonly NumberedEvent[], head: number): number {
  const pending = new Map<string, number>();
  for (const event of log) {
    if (event.sequence_number > head) break;
    if (event.type === "attempt.settled" || isTerminal(event.type)) pending.clear();
    if (event.type === "call.failed" && event.retry_at !== null)
      pending.set(event.agent, event.retry_at - event.at);
    else if (event.type === "call.waiting") pending.set(event.agent, event.until - event.at);
    else if (ENDS_WAIT.has(event.type) && "agent" in event) pending.delete(event.agent);
  }
  return Math.max(0, ...pending.values());
}

const ENDS_WAIT: ReadonlySet<string> = new Set([
  "call.started",
  "round.failed",
  "agent.failed",
  "answer.submitted",
]);

/** What was asked of models and of tools' servers. Nobody waits for a stop to be heard, which may leave in the instant of a cancel. */
const requestsOf = ({ platform: { providers, tools } }: RunRecord) => [
  ...providers.reached.filter(({ asksFor }) => asksFor !== "stop"),
  ...tools.reached.map(({ tool_call, ...times }) => ({ ...times, call: tool_call })),
];

/** I14: at most four requests wait for response headers at a time, those taken up and those of tools among them. */
export const i14Slots: OutsideCheck = (run) => {
  const edges = requestsOf(run).flatMap(({ sentAt, headersAt, endedAt }) => [
    { at: sentAt, step: 1 },
    { at: headersAt ?? endedAt ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  edges.sort((a, b) => a.at - b.at || a.step - b.step);
  let waiting = 0;
  let most = 0;
  for (const { step } of edges) {
    waiting += step;
    most = Math.max(most, waiting);
  }
  return most <= 4 ? [] : [`${most} requests waited for headers at once`];
};

/** Longest that a request may stay open after the user cancelled. */
const CLOSED_MS = 2_000;

/**
 * I15: from the confirmed cancel on nothing is asked for but to stop, what is under way is closed within 2 s, and asking again gives
 * the same answer.
 */
export const i15Cancelled: OutsideCheck = (run) => {
  const { cancels } = run;
  const [first] = cancels;
  if (!first) return [];
  const requests = requestsOf(run);
  const late = requests
    .filter(({ sentAt }) => sentAt > first.at)
    .map(({ call }) => `${call} was sent after the user cancelled`);
  const open = requests
    .filter(
      ({ sentAt, endedAt }) =>
        sentAt <= first.at && (endedAt ?? Number.POSITIVE_INFINITY) > first.at + CLOSED_MS,
    )
    .map(({ call }) => `${call} was still open 2 s after the user cancelled`);
  return [
    ...late,
    ...open,
    ...(new Set(cancels.map(({ status }) => status)).size === 1
      ? []
      : ["cancelling twice gave two answers"]),
  ];
};

/** I19: at every checkpoint the live state is the fold of the log. */
export const i19Fold: OutsideCheck = ({ folds }) => [...folds];

const LABEL = /\bagent\d+\.(?:\d+|final)\b/;

/** I21: no request holds an agent's id, a label, or the model of a peer; and no key but its own, and that only where it belongs. */
export const i21Anonymous: OutsideCheck = ({ platform, drawn }) => {
  const all = drawn.formats.map((_, index) => index);
  const problems: string[] = [];
  for (const { agent, body, headers, call, origin } of platform.providers.reached) {
    const format = drawn.formats[agent] ?? "openai-chat";
    if (origin !== new URL(DIALECTS[format].baseUrl).origin)
      problems.push(`${call} went to ${origin}`);
    if (LABEL.test(body)) problems.push(`${call} held the label ${LABEL.exec(body)?.[0]}`);
    for (const index of all) {
      if (body.includes(idOf(index))) problems.push(`${call} held the id of agent ${index + 1}`);
      if (index !== agent && body.includes(modelOf(index)))
        problems.push(`${call} held the model of agent ${index + 1}`);
      if (body.includes(keyOf(index)) || (index !== agent && headers.includes(keyOf(index))))
        problems.push(`${call} held the key of agent ${index + 1}`);
    }
  }
  return problems;
};

/** I22: an agent that has not answered in this attempt was sent no answer of it. */
export const i22Unseen: OutsideCheck = ({ platform, log }) => {
  const answered = new Set<string>();
  const first = new Map<string, Set<string>>();
  for (const event of log) {
    if (
      event.type === "call.started" &&
      event.purpose === "coordination" &&
      !answered.has(`${event.turn} ${event.attempt} ${event.agent}`)
    ) {
      first.set(event.call, new Set());
    }
    if (event.type === "answer.submitted")
      answered.add(`${event.turn} ${event.attempt} ${event.agent}`);
  }
  return platform.providers.reached.flatMap(({ call, body }) => {
    if (!first.has(call)) return [];
    const [turn, attempt, agent] = call.replace("call_", "").split("_");
    const others = [...body.matchAll(MARK)].filter(
      ([mark, t, a]) =>
        t === turn && a === attempt && !mark.startsWith(`zq${turn}x${attempt}x${agent}x`),
    );
    return others.length === 0
      ? []
      : [`${call} held an answer of its attempt although its agent has none yet`];
  });
};

/** Providers: they refused nothing by their own rules, and were brought back their own words unchanged. */
export const understood: OutsideCheck = ({ platform }) =>
  platform.providers.reached.flatMap(({ call, complaint }) =>
    complaint === null ? [] : [`${call}: ${complaint}`],
  );

/** Alarms a run may set: some for each life of the object, and one for each second. */
const alarmsFor = ({ platform, faults, startedAt, endedAt }: RunRecord): number =>
  50 + 10 * platform.deaths.length + 2 * faults.struck.length + (endedAt - startedAt) / 1_000;

/** Alarms are rows written: they are not set over and over while nothing happens. */
export const fewAlarms: OutsideCheck = (run) =>
  run.platform.disk.alarmsSet <= alarmsFor(run)
    ? []
    : [`${run.platform.disk.alarmsSet} alarms were set`];

/** Nothing escaped to where nobody handles it, and no turn ended for a fault of the service's own: none is simulated. */
export const unhandled: OutsideCheck = ({ platform, log }) => [
  ...platform.faults,
  ...log.flatMap((event) =>
    event.type === "turn.failed" && event.code === "internal"
      ? [`turn ${event.turn} failed for a fault of the service's own`]
      : [],
  ),
];

/** Every event is one of the schema, nothing lost on the way. */
export const wellFormed: OutsideCheck = ({ log }) =>
  log.flatMap((event) => {
    const {
      sequence_number,
      session_id: _,
      ...bare
    } = event as NumberedEvent & { session_id?: string };
    const parsed = SessionEventSchema.safeParse(bare);
    if (!parsed.success)
      return [`#${sequence_number} is no event of the schema: ${parsed.error.message}`];
    return isDeepStrictEqual(parsed.data, bare satisfies SessionEvent)
      ? []
      : [`#${sequence_number} does not survive the schema unchanged`];
  });

/** The rules that can be read from the log alone, by the checker's ids. */
export const ofLog = (run: RunRecord): Violation[] => {
  const asked = run.cancels[0];
  const { platform } = run;
  return check(run.log, {
    ledger: ledgerOf(run),
    tools: platform.tools.reached,
    files: witnessFiles(run.log, platform.providers.reached).workspaces,
    cancelsAsked: run.cancelsAsked,
    waitsAsked: new Map(
      platform.providers.reached.map(({ call, asksToWaitMs }) => [call, asksToWaitMs]),
    ),
    diedAfter: platform.deaths.map(({ head }) => head),
    finished: true,
    ...(asked ? { cancelAskedAfter: asked.head } : {}),
  });
};

const marksIn = (text: string): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);
const isOf = (call: string, { turn, attempt }: { turn: number; attempt: number }): boolean =>
  call.startsWith(`call_${turn}_${attempt}_`);
const agentIndex = (log: readonly NumberedEvent[], id: string): number => {
  const [created] = log;
  return created?.type === "session.created"
    ? created.rules.agents.findIndex((agent) => agent.id === id)
    : -1;
};
