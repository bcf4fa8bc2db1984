import { type EventOf, LOG_VERSION } from "../../protocol/events";
import { addCosts, type Cost, FREE, toCostFields } from "../../protocol/cost";
import { type Budget, type TeamRules, unpricedAgents } from "../../protocol/team";
import { jsonBytes, jsonPrefix } from "../byte-length";
import { rulesOfTurn } from "../../protocol/turn-team";
import { cancelEffects } from "../call/calls";
import { Draft, type Step } from "../draft";
import { LIMITS } from "../limits";
import {
  type Problem,
  reservedCost,
  runningTurn,
  type SessionState,
  spentCost,
  type TurnState,
} from "../state";
import { EMPTY_WORLD } from "../world";
import { turnTotals } from "./totals";
import { turnTeam } from "./turn-team";
import { type HistoryPlan, planCompact, planHistory } from "../history/plan";
import { tallyVotes } from "../decision/vote";
import type { InputBody } from "../inputs";
import { shuffle } from "../random";

/**
 * Starts and ends turns. The effects in flight are settled before a turn's last event. After this
 * event, nothing is logged for the turn.
 */

type TurnRequestInput = Extract<InputBody, { type: "turn_requested" }>;

/** Why the rules refuse a further turn of a session. */
type TurnRefusal =
  /** `turn` is the number of the running turn. */
  | { ok: false; code: "turn_running"; turn: number }
  /** The turn to continue does not exist. */
  | { ok: false; code: "turn_not_found" };

/** The budget is in dollars, and the price of these agents is unknown. */
type PriceRefusal = { ok: false; code: "price_unknown"; agents: readonly string[] };

/** Why a further turn may not start, whatever its team is; `null` if it may. */
export function turnRefusal(
  state: SessionState,
  { parentTurn }: Pick<TurnRequestInput, "parentTurn">,
): TurnRefusal | null {
  const running = runningTurn(state);
  if (running) return { ok: false, code: "turn_running", turn: running.number };
  return (parentTurn ?? 0) > state.turns ? { ok: false, code: "turn_not_found" } : null;
}

/** Why a turn with this budget may not start with this team; `null` if it may. */
export function priceRefusal(rules: TeamRules, budget: Budget): PriceRefusal | null {
  const unpriced = budget.max_cost_usd === undefined ? [] : unpricedAgents(rules);
  return unpriced.length > 0 ? { ok: false, code: "price_unknown", agents: unpriced } : null;
}

/**
 * Starts a turn unless one runs: records the team in the first turn and where it differs from the
 * session's, draws aliases and sets the deadline. A refused turn fails at once.
 */
export function startTurn(draft: Draft, input: TurnRequestInput): void {
  if (draft.running) return;
  const session = draft.state.rules ?? input.rules;
  if (!session) throw new Error("the first turn of a session brings its team");
  if (!draft.state.rules)
    draft.add({ type: "session.created", at: draft.at, turn: 0, rules: session });
  const team = turnTeam(session, input);
  const rules = rulesOfTurn(session, team);
  const history = historyFields(rules, input);
  // A summary of nothing is no work.
  if (input.kind === "compact" && !history.history) return;
  const numbers = shuffle(
    rules.agents.map((_, index) => index + 1),
    draft.random,
  );
  draft.add({
    type: "turn.started",
    at: draft.at,
    turn: draft.state.turns + 1,
    ...(input.kind && { kind: input.kind }),
    question: input.question,
    ...(input.attached && {
      attachments: [...input.attached.attachments],
      attachment_tokens: input.attached.tokens,
    }),
    parent_turn: input.parentTurn,
    aliases: Object.fromEntries(
      rules.agents.map(({ id }, index) => [id, `agent${numbers[index]}`]),
    ),
    budget: input.budget,
    deadline_at: draft.at + (input.timeoutMs ?? rules.orchestrator_timeout_ms),
    ...(input.contexts?.length ? { contexts: [...input.contexts] } : {}),
    ...(input.grants?.length ? { grants: input.grants } : {}),
    ...(input.grantedWorkspaces?.length
      ? { granted_workspaces: [...input.grantedWorkspaces] }
      : {}),
    ...history,
    ...team,
    ...(input.queueId !== undefined && { queue_id: input.queueId }),
    ...(input.refused && input.requested && { requested: input.requested }),
    log_version: LOG_VERSION,
  });
  if (input.refused) return failRefused(draft, input.refused);
  draft.add({
    type: "attempt.started",
    at: draft.at,
    turn: draft.turn.number,
    attempt: 1,
    feedback: null,
  });
}

/** Ends a turn that was refused when it was to start. No call was made. */
const failRefused = (draft: Draft, { code, message }: Problem): void =>
  draft.add({
    type: "turn.failed",
    at: draft.at,
    turn: draft.turn.number,
    code,
    message,
    agents: [],
    ...turnTotals(draft),
  });

/** How much of the earlier turns the agents see. Empty if they see all of it in full. */
function historyFields(
  { agents }: TeamRules,
  { kind, history = null }: TurnRequestInput,
): Pick<EventOf<"turn.started">, "history"> {
  const plan = kind === "compact" ? planCompact(agents, history) : planHistory(agents, history);
  return plan ? { history: toEventFields(agents, plan) } : {};
}

const toEventFields = (
  agents: TeamRules["agents"],
  { bytes, summary, summarises, windows }: HistoryPlan,
) => ({
  bytes,
  ...(summary !== null && { summary }),
  ...(summarises && {
    summarises: { turns: [...summarises.turns], agent: agents[summarises.agent]?.id ?? "" },
  }),
  ...(windows.length > 0 && { windows: [...windows] }),
});

/**
 * Ends the turn with this attempt's final text. If this attempt has no final text, ends the turn
 * with the rejected final text of an earlier attempt.
 */
export function completeTurn(draft: Draft): void {
  const final = draft.attempt.final ?? draft.turn.rejected;
  if (!final) throw new Error("a turn cannot complete without a final text");
  cancelEffects(draft, null, "turn_ended");
  draft.add({
    type: "turn.completed",
    at: draft.at,
    turn: draft.turn.number,
    winner: draft.agent(final.agent).id,
    label: final.label,
    attempt: final.attempt,
    answer: final.content,
    finish_reason: final.endedBy,
    ...turnTotals(draft),
  });
}

export function failTurn(draft: Draft, agents: EventOf<"turn.failed">["agents"]): void {
  cancelEffects(draft, null, "turn_ended");
  const message = "No agent produced an answer.";
  draft.add({
    type: "turn.failed",
    at: draft.at,
    turn: draft.turn.number,
    code: "no_answer",
    message,
    agents,
    ...turnTotals(draft),
  });
}

/** Ends the turn because the user cancelled it. The event contains the best result so far. */
export function cancelTurn(draft: Draft): void {
  const text = textSoFar(draft);
  cancelEffects(draft, null, "cancelled");
  if (!draft.attempt.settled) settleAttempt(draft, "cancelled");
  const winner = draft.attempt.settled?.winner ?? draft.turn.rejected?.agent ?? null;
  const revision = draft.attempt.settled?.revision ?? null;
  const winning = revision === null ? undefined : draft.attempt.answers[revision - 1];
  const answer = winning?.content ?? draft.turn.rejected?.content ?? null;
  draft.add({
    type: "turn.cancelled",
    at: draft.at,
    turn: draft.turn.number,
    partial: {
      winner: winner === null ? null : draft.agent(winner).id,
      answer,
      text: text && jsonPrefix(LIMITS.cancelledJsonBytes - jsonBytes(answer ?? ""), text),
    },
    ...turnTotals(draft),
  });
}

/** The presenter's text so far. If no agent has an answer yet, the longest partial text. */
function textSoFar(draft: Draft): string | null {
  const { presenter, final, answers } = draft.attempt;
  if (presenter !== null) return final?.content ?? draft.partial(presenter);
  return answers.length === 0 ? (longestPartial(draft)?.text ?? null) : null;
}

/** The longest partial text of all agents; the first one if several are equally long. */
function longestPartial(draft: Draft): { index: number; text: string } | null {
  const texts = draft.attempt.agents.map(({ index }) => ({
    index,
    text: draft.partial(index) ?? "",
  }));
  const longest = texts.reduce((best, other) =>
    other.text.length > best.text.length ? other : best,
  );
  return longest.text === "" ? null : longest;
}

/** Ends coordination with the current tally. */
export function settleAttempt(draft: Draft, endedBy: EventOf<"attempt.settled">["ended_by"]): void {
  cancelEffects(draft, null, endedBy);
  const { winner, votes, tie } = tallyVotes(draft.attempt);
  draft.add({
    type: "attempt.settled",
    ...draft.attemptFields(),
    winner: winner ? draft.agent(winner.agent).id : null,
    label: winner?.label ?? null,
    tally: votes,
    tie,
    ended_by: endedBy,
  });
}

/** Ends a running turn after an internal error. Returns no steps if no turn runs. Never throws. */
export function failInternally(state: SessionState, at: number): Step[] {
  const turn = runningTurn(state);
  if (!turn) return [];
  const { draft, cost } = settledInFlight(state, at);
  draft.add({
    type: "turn.failed",
    at: draft.at,
    turn: turn.number,
    code: "internal",
    message: "Internal error. The answers so far are stored. Start the turn again.",
    agents: [],
    usage: turn.usage,
    ...toCostFields(cost),
  });
  return draft.steps;
}

/** A draft in which nothing is in flight, and the cost of the turn so far. */
function settledInFlight(state: SessionState, at: number): { draft: Draft; cost: Cost } {
  const draft = new Draft(state, { at, seed: 0 }, EMPTY_WORLD);
  try {
    cancelEffects(draft, null, "internal");
    return { draft, cost: spentCost(draft.turn) };
  } catch {
    // The state itself is invalid. The turn must still end, so all its reservations are charged.
    const cost = addCosts(spentCost(draft.turn), reservedCosts(draft.turn));
    return { draft: new Draft(state, { at, seed: 0 }, EMPTY_WORLD), cost };
  }
}

const reservedCosts = ({ inFlight }: TurnState): Cost =>
  Object.values(inFlight).reduce(
    (sum, entry) => (entry.type === "model_call" ? addCosts(sum, reservedCost(entry)) : sum),
    FREE,
  );
