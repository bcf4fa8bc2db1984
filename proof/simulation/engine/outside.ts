import { isDeepStrictEqual } from "node:util";
import { type SessionEvent, SessionEventSchema } from "../../../src/protocol/events";
import { isTerminal } from "../../../src/protocol/events";
import { check, type LedgerEntry, type NumberedEvent, type Violation } from "../../../checker";
import { priceOf } from "../../../checker/price";
import { toStoredTrees, expectedFilesOf } from "./expected-files";
import { MARK } from "./model";
import { framesFor, type RunRecord } from "./run-record";
import { idOf, keyOf, modelOf } from "./engine-situation";
import { DIALECTS } from "./wire";

/**
 * Checks an invariant that needs more than the log: records of clients, providers and the tenant.
 * Returns a sentence for each breach.
 */
export type OutsideCheck = (run: RunRecord) => string[];

/**
 * I1: the bytes that a client received over all its connections are equal to the frames of its
 * subscription.
 */
export const i1SameBytes: OutsideCheck = ({ clients, rows }) =>
  clients.flatMap((client, nth) => [
    ...client.problems,
    ...(client.received === framesFor(rows, client.subscription)
      ? []
      : [
          `client ${nth + 1} (${JSON.stringify(client.subscription)}) received other bytes than the log`,
        ]),
  ]);

/**
 * I2: confirmed turns are in the log, and turns end with the status with which a cancel was
 * confirmed. This status may be other than "cancelled", because a turn may end before the cancel.
 */
export const i2Acknowledged: OutsideCheck = ({ acknowledged, cancels, log }) => [
  ...acknowledged
    .filter((turn) => !log.some((event) => event.type === "turn.started" && event.turn === turn))
    .map((turn) => `turn ${turn} was confirmed but is not in the log`),
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
        `turn ${turn} did not end as ${status}, but the cancel was confirmed with that status`,
    ),
];

/**
 * I5: a vote counts only if the voter's provider received the text of the chosen answer. Calls that
 * start after the vote are ignored, because presenters receive every answer and later calls receive
 * newer answers.
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
    const requests = platform.providers.received.filter(
      ({ call }) => started.has(call) && belongsTo(call, event),
    );
    const agent = agentIndex(log, event.agent);
    if (!requests.some((request) => request.agent === agent && request.body.includes(mark))) {
      problems.push(`${event.agent} voted for ${event.label}, whose text was never sent to it`);
    }
  }
  return problems;
};

/**
 * I10: every answer and final text has exactly the files that its agent made, both in R2 and over
 * the API.
 */
export const i10Stored: OutsideCheck = ({ stored, frozen, stuck, log, platform }) => {
  if (stuck !== null) return [...stored.problems];
  const { trees, problems } = expectedFilesOf(log, platform.providers.received);
  const expected = toStoredTrees(trees);
  const differences = (where: string, found: typeof expected): string[] =>
    isDeepStrictEqual(found, expected)
      ? []
      : [`${where}: found ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
  return [
    ...stored.problems,
    ...problems,
    ...differences("in R2", stored.trees),
    ...differences("over the API", frozen),
  ];
};

/** The charges that the providers recorded, for I11. */
export function ledgerOf({ platform, setup, log }: RunRecord): LedgerEntry[] {
  const turns = new Map(
    log.flatMap((event) =>
      event.type === "call.started" ? [[event.call, event.turn] as const] : [],
    ),
  );
  return platform.providers.received.flatMap(({ agent, call, charged, endedAt, sentAt }) => {
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
    const usd = priceOf(setup.team.rules.agents[agent], usage);
    return [
      { at: endedAt ?? sentAt, turn: turns.get(call) ?? 0, call, tokens: input + output, usd },
    ];
  });
}

/**
 * I12: at the end, no settlement, file job or resume point is pending, and the tenant received the
 * cost of each turn.
 */
export const i12Settled: OutsideCheck = ({ left, platform, log }) => {
  const ends = log.filter(
    (event) =>
      event.type === "turn.completed" ||
      event.type === "turn.failed" ||
      event.type === "turn.cancelled",
  );
  return [
    ...(left.outbox === 0 ? [] : [`${left.outbox} turns were never settled`]),
    ...(left.duties === 0 ? [] : [`${left.duties} file jobs were never done`]),
    ...(left.points === 0
      ? []
      : [`${left.points} resume points remain although no call is in progress`]),
    ...ends.flatMap((end) => {
      const settlements = platform.tenant.settlements.filter(({ turn }) => turn === end.turn);
      if (settlements.length === 0) return [`turn ${end.turn} was never settled with the tenant`];
      return settlements.every(({ costUsd, at }) => costUsd === end.cost_usd && at === end.at)
        ? []
        : [`turn ${end.turn} was settled with another cost`];
    }),
  ];
};

/**
 * The requests to models and tool servers. Requests that stop a reply are excluded, because they
 * may be sent at the moment of a cancel.
 */
const requestsOf = ({ platform: { providers, tools } }: RunRecord) => [
  ...providers.received.filter(({ kind }) => kind !== "stop"),
  ...tools.received.map(({ tool_call, ...times }) => ({ ...times, call: tool_call })),
];

/**
 * I14: at most four requests of a relay wait for response headers at the same time. Resumed calls
 * and tool calls count, too.
 */
export const i14Slots: OutsideCheck = (run) =>
  [...Map.groupBy(requestsOf(run), ({ relay }) => relay)].flatMap(([relay, requests]) => {
    const most = mostWaiting(requests);
    return most <= 4
      ? []
      : [`${most} requests of relay ${relay} waited for headers at the same time`];
  });

/** Maximum number of requests that wait for headers at the same time. */
function mostWaiting(requests: ReturnType<typeof requestsOf>): number {
  const edges = requests.flatMap(({ sentAt, headersAt, endedAt }) => [
    { at: sentAt, step: 1 },
    { at: headersAt ?? endedAt ?? Number.POSITIVE_INFINITY, step: -1 },
  ]);
  edges.sort((a, b) => a.at - b.at || a.step - b.step);
  let [waiting, most] = [0, 0];
  for (const { step } of edges) {
    waiting += step;
    most = Math.max(most, waiting);
  }
  return most;
}

/**
 * A call that ended because its relay was lost is an interrupted call: neither a failure of its
 * provider nor a complete reply. Only a loss at the moment of the call's end counts: the connection
 * of a call may outlive the call, and a resumed call may fail before its next request is sent.
 */
export const lostRelaysInterrupt: OutsideCheck = ({ log, platform }) => {
  const requests = platform.providers.received.filter(({ kind }) => kind !== "stop");
  const lastRequests = new Map(requests.map((request) => [request.call, request]));
  return log.flatMap((event) =>
    event.type === "call.failed" &&
    lastRequests.get(event.call)?.relayLostAt === event.at &&
    !isInterruption(event.class)
      ? [`${event.call}, whose relay was lost, failed as ${event.class}`]
      : [],
  );
};

/** A call may also have been cancelled before the loss was noticed. */
const isInterruption = (failure: string): boolean =>
  failure === "interrupted" || failure === "cancelled";

/** Time limit for the close of open requests after the user cancelled. */
export const CLOSED_WITHIN_MS = 2_000;

/**
 * I15: after a confirmed cancel, only requests that stop a reply are sent. Open requests close
 * within 2 s, and repeated cancels return the same status.
 */
export const i15Cancelled: OutsideCheck = (run) =>
  [...Map.groupBy(run.cancels, ({ turn }) => turn).values()].flatMap((cancels) =>
    cancelledTurn(run, cancels),
  );

/** The same for the cancels of one turn. The requests of the next turn are sent later. */
function cancelledTurn(run: RunRecord, cancels: RunRecord["cancels"]): string[] {
  const [first] = cancels;
  if (!first) return [];
  const until = run.requestedAt.get(first.turn + 1) ?? Number.POSITIVE_INFINITY;
  const requests = requestsOf(run).filter(({ sentAt }) => sentAt < until);
  const late = requests
    .filter(({ sentAt }) => sentAt > first.at)
    .map(({ call }) => `${call} was sent after the user cancelled`);
  const open = requests
    .filter(
      ({ sentAt, endedAt }) =>
        sentAt <= first.at && (endedAt ?? Number.POSITIVE_INFINITY) > first.at + CLOSED_WITHIN_MS,
    )
    .map(({ call }) => `${call} was still open 2 s after the user cancelled`);
  return [
    ...late,
    ...open,
    ...(new Set(cancels.map(({ status }) => status)).size === 1
      ? []
      : ["two cancels returned different statuses"]),
  ];
}

/** I19: at every checkpoint, the state in memory is equal to the fold of the log. */
export const i19Fold: OutsideCheck = ({ folds }) => [...folds];

const LABEL = /\bagent\d+\.(?:\d+|final)\b/;

/**
 * I21: no request contains an agent's id, an answer label, or another agent's model or key. The
 * agent's own key is sent only in headers, and only to the agent's own provider.
 */
export const i21Anonymous: OutsideCheck = ({ platform, setup }) => {
  const all = setup.formats.map((_, index) => index);
  const problems: string[] = [];
  for (const { agent, body, headers, call, origin } of platform.providers.received) {
    const format = setup.formats[agent] ?? "openai-chat";
    if (origin !== new URL(DIALECTS[format].baseUrl).origin)
      problems.push(`${call} was sent to ${origin}`);
    if (LABEL.test(body)) problems.push(`${call} contained the label ${LABEL.exec(body)?.[0]}`);
    for (const index of all) {
      if (body.includes(idOf(index)))
        problems.push(`${call} contained the id of agent ${index + 1}`);
      if (index !== agent && body.includes(modelOf(index)))
        problems.push(`${call} contained the model of agent ${index + 1}`);
      if (body.includes(keyOf(index)) || (index !== agent && headers.includes(keyOf(index))))
        problems.push(`${call} contained the key of agent ${index + 1}`);
    }
  }
  return problems;
};

/** I22: an agent that has not answered in this attempt receives no answer of this attempt. */
export const i22Unseen: OutsideCheck = ({ platform, log }) => {
  const answered = new Set<string>();
  /** Calls of agents that had not answered yet. */
  const firstCalls = new Set<string>();
  for (const event of log) {
    if (
      event.type === "call.started" &&
      event.purpose === "coordination" &&
      !answered.has(`${event.turn} ${event.attempt} ${event.agent}`)
    ) {
      firstCalls.add(event.call);
    }
    if (event.type === "answer.submitted")
      answered.add(`${event.turn} ${event.attempt} ${event.agent}`);
  }
  return platform.providers.received.flatMap(({ call, body }) => {
    if (!firstCalls.has(call)) return [];
    const [turn, attempt, agent] = call.replace("call_", "").split("_");
    const others = [...body.matchAll(MARK)].filter(
      ([mark, markTurn, markAttempt]) =>
        markTurn === turn &&
        markAttempt === attempt &&
        !mark.startsWith(`zq${turn}x${attempt}x${agent}x`),
    );
    return others.length === 0
      ? []
      : [`${call} contained an answer of its attempt although its agent has none yet`];
  });
};

/**
 * Every request follows the rules of its provider, and contains the provider's own output
 * unchanged.
 */
export const understood: OutsideCheck = ({ platform }) =>
  platform.providers.received.flatMap(({ call, rejection }) =>
    rejection === null ? [] : [`${call}: ${rejection}`],
  );

/**
 * Number of alarms that a run may set: some for the start and for each crash and strike, and one
 * per second.
 */
const maxAlarms = ({ platform, faults, startedAt, endedAt }: RunRecord): number =>
  50 + 10 * platform.deaths.length + 2 * faults.struck.length + (endedAt - startedAt) / 1_000;

/** A run does not set alarms repeatedly while nothing happens, because each alarm costs a row. */
export const limitsAlarms: OutsideCheck = (run) =>
  run.platform.disk.alarmsSet <= maxAlarms(run)
    ? []
    : [`${run.platform.disk.alarmsSet} alarms were set`];

/**
 * There is no unhandled error, and no turn ends with an internal error, because the simulation
 * injects no such errors.
 */
export const unhandled: OutsideCheck = ({ platform, log }) => [
  ...platform.faults,
  ...log.flatMap((event) =>
    event.type === "turn.failed" && event.code === "internal"
      ? [`turn ${event.turn} failed with an internal error`]
      : [],
  ),
];

/** Every event matches the schema, and parsing does not change it. */
export const wellFormed: OutsideCheck = ({ log }) =>
  log.flatMap((event) => {
    const logged: NumberedEvent & { session_id?: string } = event;
    const { sequence_number, session_id: _, ...bare } = logged;
    const parsed = SessionEventSchema.safeParse(bare);
    if (!parsed.success)
      return [`#${sequence_number} does not match the schema: ${parsed.error.message}`];
    return isDeepStrictEqual(parsed.data, bare satisfies SessionEvent)
      ? []
      : [`#${sequence_number} is changed by parsing it with the schema`];
  });

/** The violations that the independent checker finds in the log. */
export const violationsInLog = (run: RunRecord): Violation[] => {
  const firstCancel = run.cancels.find(({ turn }) => turn === run.acknowledged.at(-1));
  const { platform } = run;
  return check(run.log, {
    ledger: ledgerOf(run),
    tools: platform.tools.received,
    files: expectedFilesOf(run.log, platform.providers.received).workspaces,
    cancelsAsked: run.cancelsAsked,
    waitsAsked: new Map(
      platform.providers.received.map(({ call, retryAfterMs }) => [call, retryAfterMs]),
    ),
    diedAfter: platform.deaths.map(({ head }) => head),
    finished: true,
    ...(firstCancel ? { cancelAskedAfter: firstCancel.head } : {}),
  });
};

const marksIn = (text: string): string[] => [...text.matchAll(MARK)].map(([mark]) => mark);
const belongsTo = (call: string, { turn, attempt }: { turn: number; attempt: number }): boolean =>
  call.startsWith(`call_${turn}_${attempt}_`);
const agentIndex = (log: readonly NumberedEvent[], id: string): number => {
  const [created] = log;
  return created?.type === "session.created"
    ? created.rules.agents.findIndex((agent) => agent.id === id)
    : -1;
};
