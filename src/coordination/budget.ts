import type { Purpose, Usage } from "../protocol/events";
import type { AgentRules, Price } from "../protocol/team";
import { FAIR_OUTPUT_TOKENS, MIN_OUTPUT_TOKENS, PRESENTATION_OUTPUT_TOKENS, PRESENTATION_OVERHEAD_TOKENS } from "./limits";
import { candidates, type TurnState } from "./state";

/**
 * What a turn may still spend. Every call reserves its input bound plus its output cap before it is sent, so the sum of what
 * was settled and what is reserved never passes the cap.
 */
type Amount = { tokens: number; usd: number };

type Reservation = { maxOutputTokens: number; tokens: number; costUsd: number };

const PER_MILLION = 1_000_000;
/** No UTF-16 code unit takes more bytes than this. */
const BYTES_PER_UNIT = 3;

/** US dollars for a usage; 0 where the price is unknown. */
export function costOf(price: Price | null, usage: Usage): number {
  if (!price) return 0;
  const fresh = Math.max(0, usage.input_tokens - usage.cached_tokens);
  return (fresh * price.input + usage.cached_tokens * price.cached_input + usage.output_tokens * price.output) / PER_MILLION;
}

/** Cap less what is settled and reserved; Infinity where nothing is capped. */
function remaining(turn: TurnState): Amount {
  let { spentTokens: tokens, spentUsd: usd } = turn;
  for (const entry of Object.values(turn.inFlight)) {
    if (entry.type !== "model_call") continue;
    tokens += entry.reservedTokens;
    usd += entry.reservedUsd;
  }
  return {
    tokens: (turn.budget.max_tokens ?? Number.POSITIVE_INFINITY) - tokens,
    usd: (turn.budget.max_cost_usd ?? Number.POSITIVE_INFINITY) - usd,
  };
}

type Wanted = { agent: AgentRules; purpose: Purpose; inputTokens: number; sharers: number };

/**
 * What a call may reserve, with the output cap lowered to fit; null if not even a short reply can be paid, or if nobody knows
 * what it costs where money is capped. While `sharers` calls are due, one call takes more than its share only if the share would
 * be too little to write anything useful.
 */
export function reserve(turn: TurnState, wanted: Wanted): Reservation | null {
  if (wanted.agent.price === null && turn.budget.max_cost_usd !== undefined) return null;
  const left = remaining(turn);
  const kept = isCoordinating(wanted.purpose) ? presentationReserve(turn) : { tokens: 0, usd: 0 };
  const free = { tokens: left.tokens - kept.tokens, usd: left.usd - kept.usd };
  const share = { tokens: free.tokens / wanted.sharers, usd: free.usd / wanted.sharers };
  const fair = outputThatFits(share, wanted);
  const output = fair >= FAIR_OUTPUT_TOKENS ? fair : Math.min(outputThatFits(free, wanted), FAIR_OUTPUT_TOKENS);
  if (output < Math.min(MIN_OUTPUT_TOKENS, wanted.agent.max_output_tokens)) return null;
  const tokens = wanted.inputTokens + output;
  return { maxOutputTokens: output, tokens, costUsd: bound(wanted.agent.price, wanted.inputTokens, output) };
}

const isCoordinating = (purpose: Purpose): boolean => purpose === "coordination" || purpose === "personas";

function outputThatFits(amount: Amount, { agent, inputTokens }: Wanted): number {
  const byTokens = amount.tokens - inputTokens;
  const byCost = agent.price ? outputForCost(agent.price, amount.usd, inputTokens) : Number.POSITIVE_INFINITY;
  return Math.floor(Math.min(agent.max_output_tokens, byTokens, byCost));
}

function outputForCost(price: Price, usd: number, inputTokens: number): number {
  const forOutput = usd - bound(price, inputTokens, 0);
  if (forOutput < 0) return 0;
  if (price.output === 0) return Number.POSITIVE_INFINITY;
  const output = Math.floor((forOutput * PER_MILLION) / price.output);
  // The division may round up by a hair, and the cap holds to the last digit.
  return bound(price, inputTokens, output) > usd ? output - 1 : output;
}

/** No usage within these tokens can cost more. */
function bound(price: Price | null, inputTokens: number, outputTokens: number): number {
  if (!price) return 0;
  return (inputTokens * Math.max(price.input, price.cached_input) + outputTokens * price.output) / PER_MILLION;
}

/** What the dearest candidate's presentation may cost; nothing while there is nothing to present. */
function presentationReserve(turn: TurnState): Amount {
  const answers = candidates(turn.attempt);
  if (answers.length === 0) return { tokens: 0, usd: 0 };
  const texts = answers.reduce((sum, { bytes }) => sum + bytes, turn.questionBytes);
  const reasons = turn.attempt.agents.reduce((sum, { vote }) => sum + (vote?.reason.length ?? 0) * BYTES_PER_UNIT, 0);
  const input = PRESENTATION_OVERHEAD_TOKENS + texts + reasons;
  const costs = answers.map((answer) => {
    const agent = turn.rules.agents[answer.agent];
    return agent ? bound(agent.price, input, Math.min(agent.max_output_tokens, PRESENTATION_OUTPUT_TOKENS)) : 0;
  });
  return { tokens: input + PRESENTATION_OUTPUT_TOKENS, usd: Math.max(...costs) };
}
