import type { SessionEvent } from "../protocol/events";
import { byteLength } from "./byte-length";
import { LOG_VERSION } from "../protocol/log-version";
import { NO_USAGE } from "../protocol/usage";
import { evolveAgent } from "./attempt/evolve-agent";
import { assignPersonas, firstAttempt, nextAttempt, settleAttempt } from "./attempt/evolve-attempt";
import { evolveCall } from "./call/evolve-call";
import { pricedWith } from "./budget/audio-pricing";
import type { SessionState, TurnState } from "./state";
import { coordinationEnd } from "./turn/timers";
import { listedNow } from "./tool/tool-listings";

/**
 * Folds one fact into the state. Total over everything `decide` writes; deltas change nothing and need not be given.
 * Understands the version of a turn's facts before this one, too (`log_version` of its `turn.started`). Throws on a later one, and
 * on a log that no version of the rules could have written.
 */
export function evolve(state: SessionState, event: SessionEvent): SessionState {
  const next = { ...state, lastAt: Math.max(state.lastAt, event.at) };
  switch (event.type) {
    case "stream.delta":
      return state;
    case "session.created":
      return { ...next, rules: event.rules };
    case "turn.started":
      return { ...next, turns: event.turn, turn: startedTurn(next, event) };
    default:
      if (!next.turn) throw new Error(`${event.type} outside a turn`);
      return { ...next, turn: evolveTurn(next.turn, event) };
  }
}

type TurnStarted = Extract<SessionEvent, { type: "turn.started" }>;
type WithinTurn = Exclude<
  SessionEvent,
  { type: "stream.delta" | "session.created" | "turn.started" }
>;

function startedTurn({ rules: team }: SessionState, event: TurnStarted): TurnState {
  if (!team) throw new Error("a turn without a team");
  const rules = pricedWith(team, event.attachments ?? []);
  const version = event.log_version ?? 1;
  if (version > LOG_VERSION)
    throw new Error(`a turn told in version ${version}; this service knows ${LOG_VERSION}`);
  return {
    number: event.turn,
    rules,
    question: event.question,
    questionBytes: byteLength(event.question),
    ...(event.attachments && {
      attached: { attachments: event.attachments, tokens: event.attachment_tokens ?? 0 },
    }),
    startedAt: event.at,
    deadlineAt: event.deadline_at,
    coordinationEndsAt: coordinationEnd(event.at, event.deadline_at),
    aliases: rules.agents.map(({ id }) => event.aliases[id] ?? ""),
    ...(event.contexts && { contexts: event.contexts }),
    budget: event.budget,
    spentTokens: 0,
    spentUsd: 0,
    usage: NO_USAGE,
    effects: 0,
    inFlight: {},
    attempt: firstAttempt(rules, event.at),
    rejected: null,
    done: false,
  };
}

function evolveTurn(turn: TurnState, event: WithinTurn): TurnState {
  switch (event.type) {
    case "attempt.started":
      return { ...turn, attempt: nextAttempt(turn.rules, event) };
    case "personas.assigned":
      return { ...turn, attempt: assignPersonas(turn, event) };
    case "attempt.settled":
      return { ...turn, attempt: settleAttempt(turn, event) };
    case "attempt.restarted":
      return { ...turn, rejected: turn.attempt.final };
    case "turn.completed":
    case "turn.failed":
    case "turn.cancelled":
      return { ...turn, done: true, inFlight: {} };
    case "call.started":
    case "call.deferred":
    case "call.waiting":
    case "conversation.compacted":
    case "call.completed":
    case "call.failed":
    case "tool.started":
    case "tool.progressed":
    case "tool.input_required":
    case "tool.completed":
    case "tool.interrupted":
    case "tool.unknown":
      return evolveCall(turn, event);
    case "tools.listed":
      return { ...turn, listings: listedNow(turn, event) };
    case "hosted_tool.completed":
    case "citations.added":
    case "files.accessed":
      return turn; // for people; no rule asks
    default:
      return { ...turn, attempt: evolveAgent(turn, event) };
  }
}
