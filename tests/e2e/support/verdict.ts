import { isDeepStrictEqual } from "node:util";
import { charges, type RecordedRequest } from "../../../simulated/providers/ledger";
import { knownUsd } from "../../../src/protocol/cost";
import type { SessionStatus } from "../../../src/protocol/api";
import { emptySession, evolve, owed, runningTurn } from "../../../src/coordination";
import { isTerminal, type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import type { AgentRules } from "../../../src/protocol/team";
import { toStatus } from "../../../src/protocol/view/status";
import { apply, emptyView } from "../../../src/protocol/view";
import { check, rulesByTurn } from "../../../checker";
import type { Outside } from "../../../checker/types";

/** Facts about a finished run. */
export type Evidence = {
  /** The whole log as a new client receives it, one frame per event. */
  frames: readonly Buffer[];
  status: SessionStatus;
  /** The requests that reached the providers for this session. */
  requests: readonly RecordedRequest[];
};

/** All errors of a finished run, as sentences. */
export function judge({ frames, status, requests }: Evidence): string[] {
  const log = frames.map(toEvent);
  return [
    ...misnumbered(log),
    ...endings(log),
    ...broken(log),
    ...misfolded(log, status),
    ...undercharged(log, requests),
  ];
}

/** The event in a frame. Throws if the frame is invalid. */
export function toEvent(frame: Buffer): WireEvent {
  const [type, id, data] = frame.toString().split("\n");
  const event = WireEventSchema.parse(JSON.parse(data?.slice("data: ".length) ?? ""));
  if (type !== `event: ${event.type}` || id !== `id: ${event.sequence_number}`)
    throw new Error(`a frame contradicts itself: ${frame}`);
  return event;
}

/** I2: the events have the numbers 1, 2, 3 and so on. */
export function misnumbered(log: readonly WireEvent[]): string[] {
  const wrong = log.findIndex(({ sequence_number }, index) => sequence_number !== index + 1);
  return wrong < 0
    ? []
    : [`event ${wrong + 1} of the log has number ${log[wrong]?.sequence_number}`];
}

/** I3 and I4: the log has one terminal event and one final text, and both have the same text. */
function endings(log: readonly WireEvent[]): string[] {
  const ends = log.filter(({ type }) => isTerminal(type));
  const finals = log.filter((event) => event.type === "presentation.completed");
  const [end] = ends;
  const problems: string[] = [];
  if (ends.length !== 1) problems.push(`the log has ${ends.length} terminal events`);
  if (log.at(-1) !== end) problems.push("something is logged after the end");
  if (finals.length !== 1) problems.push(`the log has ${finals.length} final texts`);
  if (end?.type !== "turn.completed") problems.push(`the turn ended with ${JSON.stringify(end)}`);
  else if (end.answer !== finals[0]?.content)
    problems.push("the turn's answer is not the final text");
  return problems;
}

/**
 * Violations of the coordination rules, found by an independent checker. `outside`: facts that the
 * log does not contain. By default, the checker expects that the run has finished.
 */
export const broken = (log: readonly WireEvent[], outside: Outside = {}): string[] =>
  check(log, { finished: true, ...outside }).map(
    ({ invariant, sequence_number, sentence }) =>
      `${invariant} at #${sequence_number}: ${sentence}`,
  );

/**
 * I19: after the log is folded, the service has nothing left to do, and the status that a client
 * folds from the log equals the status that the service returns.
 */
export function misfolded(log: readonly WireEvent[], live: SessionStatus): string[] {
  const state = log.reduce(evolve, emptySession);
  const folded = toStatus(log.reduce(apply, emptyView()), { now: live.meta.last_updated * 1000 });
  const isAtRest = runningTurn(state) === null && owed(state).length === 0;
  return [
    ...(isAtRest ? [] : ["the folded log still requires effects"]),
    ...(isDeepStrictEqual(folded, live)
      ? []
      : [`the service says ${JSON.stringify(live)}, its log says ${JSON.stringify(folded)}`]),
  ];
}

/**
 * I11: the log contains every request that a provider received, and at least the charges of the
 * provider. The comparison is by model, because a request does not name its agent. An agent may
 * have another model in each turn.
 */
export function undercharged(
  log: readonly WireEvent[],
  requests: readonly RecordedRequest[],
): string[] {
  const teams = rulesByTurn(log);
  const modelIn = ({ turn, agent }: { turn: number; agent: string }) =>
    teams.get(turn)?.agents.find(({ id }) => id === agent)?.model;
  const agents = [...teams.values()].flatMap((rules) => rules.agents);
  return [...Map.groupBy(agents, ({ model }) => model)].flatMap(([model, [agent]]) => {
    if (!agent) return [];
    const reached = requests.filter((request) => request.model === model);
    const calls = log.filter(isCall).filter((event) => modelIn(event) === model);
    const started = calls.filter(({ type }) => type === "call.started").length;
    const logged = chargedByLog(calls);
    const charged = chargedByProvider(reached, agent);
    return [
      ...(reached.length <= started
        ? []
        : [`I11: ${reached.length} requests for ${model} arrived, the log started ${started}`]),
      ...(reached.some(({ outcome }) => outcome === "open")
        ? [`I15: a request for ${model} is still open`]
        : []),
      ...(charged.tokens <= logged.tokens
        ? []
        : [`I11: ${model} charged ${charged.tokens} tokens, the log says ${logged.tokens}`]),
      ...(charged.usd <= logged.usd + 1e-9
        ? []
        : [`I11: ${model} charged $${charged.usd}, the log says $${logged.usd}`]),
    ];
  });
}

type CallEvent = Extract<
  WireEvent,
  { type: "call.started" } | { type: "call.completed" } | { type: "call.failed" }
>;

const isCall = (event: WireEvent): event is CallEvent =>
  event.type === "call.started" || event.type === "call.completed" || event.type === "call.failed";

function chargedByLog(calls: readonly CallEvent[]): { tokens: number; usd: number } {
  let [tokens, usd] = [0, 0];
  for (const event of calls) {
    if (event.type === "call.started") continue;
    tokens +=
      event.type === "call.failed"
        ? event.tokens
        : event.usage.input_tokens + event.usage.output_tokens;
    usd += knownUsd(event);
  }
  return { tokens, usd };
}

function chargedByProvider(
  requests: readonly RecordedRequest[],
  { price }: AgentRules,
): { tokens: number; usd: number } {
  let [tokens, usd] = [0, 0];
  for (const { inputTokens, outputTokens } of charges(requests)) {
    tokens += inputTokens + outputTokens;
    usd += (inputTokens * (price?.input ?? 0) + outputTokens * (price?.output ?? 0)) / 1_000_000;
  }
  return { tokens, usd };
}
