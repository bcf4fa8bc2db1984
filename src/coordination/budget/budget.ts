import type { Purpose, Usage } from "../../protocol/events";
import { isPriced, type Cost } from "../../protocol/cost";
import type { AgentRules, HostedToolRule, Price } from "../../protocol/team";
import {
  FAIR_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
  LIMITS,
} from "../limits";
import { type HostedGrant, type HostedUses, fittingUses } from "./hosted-tools";
import { candidates, type TurnState, isLive } from "../state";

/**
 * What a turn may still spend. Before a call is sent it reserves its input bound, its granted uses
 * of hosted tools and its output cap. Charges plus reservations therefore never exceed the cap.
 */
type Amount = { tokens: number; usd: number };

type Reservation = {
  maxOutputTokens: number;
  hostedTools: HostedGrant[];
  tokens: number;
  cost: Cost;
};

const PER_MILLION = 1_000_000;
/** Maximum UTF-8 bytes of one UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

/** Cost of a usage at the agent's prices. */
export function costOf(agent: AgentRules, usage: Usage): Cost {
  const { price, hosted_tools = [] } = agent;
  const hosted = hosted_tools.map(
    ({ name, usd_per_use }) => (usage.hosted_uses?.[name] ?? 0) * (usd_per_use ?? 0),
  );
  const usd = hosted.reduce((sum, one) => sum + one, price ? costOfTokens(price, usage) : 0);
  return { usd, isWhole: isPriced(agent, usage) };
}

function costOfTokens(price: Price, usage: Usage): number {
  const rates = ratesFor(price, usage.input_tokens);
  const written = usage.cache_write_tokens ?? 0;
  const fresh = Math.max(0, usage.input_tokens - usage.cached_tokens - written);
  const input =
    fresh * rates.input +
    usage.cached_tokens * rates.cached_input +
    written * (rates.cache_write ?? rates.input);
  return (input + usage.output_tokens * rates.output) / PER_MILLION;
}

/** Prices per million tokens for a call with this many input tokens. */
const ratesFor = (price: Price, inputTokens: number): Omit<Price, "long_prompt"> =>
  price.long_prompt && inputTokens > price.long_prompt.above ? price.long_prompt : price;

/** The cap minus charges and reservations; `Infinity` if there is no cap. */
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

/**
 * `usable`: hosted tools that the call may be granted. `dueCalls`: number of due calls that share
 * the budget, including this one.
 */
type ReservationRequest = {
  agent: AgentRules;
  purpose: Purpose;
  usable: readonly HostedToolRule[];
  inputTokens: number;
  dueCalls: number;
};

/**
 * What a call reserves; uses of hosted tools, then the output cap, are lowered to fit. `null` if
 * not even a short reply fits, or if money is capped and the price is unknown.
 *
 * While `dueCalls` calls are due, a call gets more than its share only if its share is too small
 * for useful output.
 */
export function reserve(
  turn: TurnState,
  { agent, purpose, usable, inputTokens, dueCalls }: ReservationRequest,
): Reservation | null {
  if (agent.price === null && turn.budget.max_cost_usd !== undefined) return null;
  const left = remaining(turn);
  const kept = isCoordinating(purpose) ? presentationReserve(turn) : { tokens: 0, usd: 0 };
  const free = { tokens: left.tokens - kept.tokens, usd: left.usd - kept.usd };
  const share = { tokens: free.tokens / dueCalls, usd: free.usd / dueCalls };
  const useful = Math.min(FAIR_OUTPUT_TOKENS, agent.max_output_tokens);
  const uses = fittingUses(
    usable,
    (each) => outputThatFits(share, agent, intakeOf(inputTokens, each)) >= useful,
  );
  const intake = intakeOf(inputTokens, uses);
  const fair = outputThatFits(share, agent, intake);
  const output =
    fair >= FAIR_OUTPUT_TOKENS
      ? fair
      : Math.min(outputThatFits(free, agent, intake), FAIR_OUTPUT_TOKENS);
  if (output < Math.min(MIN_OUTPUT_TOKENS, agent.max_output_tokens)) return null;
  const hostedTools = uses.map(({ tool, count }) => ({ name: tool.name, max_uses: count }));
  const isWhole = agent.price !== null && uses.every(({ tool }) => tool.usd_per_use !== null);
  const cost = { usd: maxCost(agent.price, intake, output), isWhole };
  return { maxOutputTokens: output, hostedTools, tokens: intake.tokens + output, cost };
}

/**
 * US dollars that the cheapest agent needs for a first call on this question: a prompt of usual
 * length and the shortest useful reply. Agents without a known price count as free.
 *
 * `questionTokens`: an upper bound, including attachments.
 */
export function minCallUsd(agents: readonly AgentRules[], questionTokens: number): number {
  const tokens = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const costs = agents.map(({ price, max_output_tokens }) =>
    maxCost(price, { tokens, usesUsd: 0 }, Math.min(MIN_OUTPUT_TOKENS, max_output_tokens)),
  );
  return Math.min(...costs);
}

const isCoordinating = (purpose: Purpose): boolean =>
  purpose === "coordination" || purpose === "personas";

/** Tokens and cost of a call without its output: the input, and each use of a hosted tool. */
type Intake = { tokens: number; usesUsd: number };

/**
 * Some providers cap the uses of all tools together. So each use counts as a use of the most
 * expensive tool and of the tool with the most tokens.
 */
function intakeOf(inputTokens: number, uses: readonly HostedUses[]): Intake {
  const all = uses.reduce((sum, { count }) => sum + count, 0);
  return {
    tokens: inputTokens + all * Math.max(0, ...uses.map(({ tool }) => tool.tokens_per_use)),
    usesUsd: all * Math.max(0, ...uses.map(({ tool }) => tool.usd_per_use ?? 0)),
  };
}

function outputThatFits(amount: Amount, agent: AgentRules, intake: Intake): number {
  const byTokens = amount.tokens - intake.tokens;
  const byCost = outputForCost(agent.price, amount.usd, intake);
  return Math.floor(Math.min(agent.max_output_tokens, byTokens, byCost));
}

function outputForCost(price: Price | null, usd: number, intake: Intake): number {
  const forOutput = usd - maxCost(price, intake, 0);
  if (forOutput < 0) return 0;
  const rate = price ? ratesFor(price, intake.tokens).output : 0;
  if (rate === 0) return Number.POSITIVE_INFINITY;
  const output = Math.floor((forOutput * PER_MILLION) / rate);
  // The division may round up by one token, and the cap must hold exactly.
  return maxCost(price, intake, output) > usd ? output - 1 : output;
}

/** Upper bound of the cost of any usage within these tokens and uses. */
function maxCost(price: Price | null, { tokens, usesUsd }: Intake, outputTokens: number): number {
  if (!price) return usesUsd;
  const rates = ratesFor(price, tokens);
  const highestRate = Math.max(rates.input, rates.cached_input, rates.cache_write ?? 0);
  return (tokens * highestRate + outputTokens * rates.output) / PER_MILLION + usesUsd;
}

/** Upper bound of an agent's call with these tokens and without hosted tools, in US dollars. */
export const maxCallUsd = (
  { price }: AgentRules,
  inputTokens: number,
  outputTokens: number,
): number => maxCost(price, { tokens: inputTokens, usesUsd: 0 }, outputTokens);

/**
 * What the most expensive candidate's presentation may cost; 0 without candidates. Uses of hosted
 * tools are not reserved: the presenter gets what is left.
 */
function presentationReserve(turn: TurnState): Amount {
  const answers = candidates(turn.attempt);
  if (answers.length === 0) return { tokens: 0, usd: 0 };
  const texts = answers.reduce(
    (sum, { bytes }) => sum + bytes,
    turn.questionBytes + (turn.attached?.tokens ?? 0),
  );
  const reasons = turn.attempt.agents.reduce(
    (sum, { vote }) => sum + (vote?.reason.length ?? 0) * BYTES_PER_UNIT,
    0,
  );
  const input = PRESENTATION_OVERHEAD_TOKENS + texts + reasons;
  const costs = answers.map((answer) => {
    const agent = turn.rules.agents[answer.agent];
    return agent
      ? maxCost(
          agent.price,
          { tokens: input, usesUsd: 0 },
          Math.min(agent.max_output_tokens, PRESENTATION_OUTPUT_TOKENS),
        )
      : 0;
  });
  return { tokens: input + PRESENTATION_OUTPUT_TOKENS, usd: Math.max(...costs) };
}

/**
 * Calls and tools that a turn may start before its presentation. The last ones are reserved for
 * decisions: no tool runs on them, and a call that uses them asks only for a decision.
 */
export const effectsPerTurn = ({ rules }: TurnState): number =>
  Math.min(
    LIMITS.effectsMax,
    Math.max(LIMITS.effectsMin, LIMITS.effectsPerAgent * rules.agents.length),
  );

/** Effects that the turn may still start after the tools that are owed. */
export function effectsLeft(turn: TurnState): number {
  const tools = turn.attempt.agents.flatMap(
    ({ round }) => round?.tools.filter(({ status }) => status === "owed") ?? [],
  );
  return effectsPerTurn(turn) - turn.effects - tools.length;
}

/** As `effectsLeft`, without the effects reserved for decisions. */
export const workLeft = (turn: TurnState): number =>
  effectsLeft(turn) - LIMITS.decisionCallsPerRound * turn.rules.agents.length;

/**
 * Calls with tools that each working agent may still make, if each call runs one tool. At 0 calls
 * ask only for a decision.
 */
export function callsLeftInTurn(turn: TurnState): number {
  const { agents, settled } = turn.attempt;
  const working = settled
    ? 1
    : agents.filter((agent) => isLive(agent) && agent.vote === null).length;
  return Math.max(0, Math.ceil(workLeft(turn) / (2 * Math.max(1, working))));
}
