import type { Purpose, Usage } from "../../protocol/events";
import { isPriced, type Cost } from "../../protocol/cost";
import type { AgentRules, HostedToolRule, Price } from "../../protocol/team";
import {
  USEFUL_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
  LIMITS,
} from "../limits";
import { type HostedGrant, type HostedUses, fittingUses } from "./hosted-tools";
import { candidates, type TurnState, isLive } from "../state";

/** A part of a turn's budget. */
type Amount = { tokens: number; usd: number };

/** What a call reserves. `tokens` is the sum of input, results of hosted tools, and output. */
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
  const usd = hosted.reduce((sum, cost) => sum + cost, price ? costOfTokens(price, usage) : 0);
  return { usd, isComplete: isPriced(agent, usage) };
}

function costOfTokens(price: Price, usage: Usage): number {
  const rates = ratesFor(price, usage.input_tokens);
  const cacheWrites = usage.cache_write_tokens ?? 0;
  const uncached = Math.max(0, usage.input_tokens - usage.cached_tokens - cacheWrites);
  const input =
    uncached * rates.input +
    usage.cached_tokens * rates.cached_input +
    cacheWrites * (rates.cache_write ?? rates.input);
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

/** The rest of the budget for a summary. At least half is left for the work on the question. */
function forSummary(turn: TurnState): Amount {
  const { tokens, usd } = remaining(turn);
  return turn.kind === "compact" ? { tokens, usd } : { tokens: tokens / 2, usd: usd / 2 };
}

/**
 * `usable` are the hosted tools that the call may use. `dueCalls` is the number of calls, including
 * this one, that wait to be sent now and therefore share the budget.
 */
type ReservationRequest = {
  agent: AgentRules;
  purpose: Purpose;
  usable: readonly HostedToolRule[];
  inputTokens: number;
  dueCalls: number;
};

/**
 * Computes what a call reserves before it is sent: its input bound, its uses of hosted tools and
 * its output cap. Charges plus reservations therefore never exceed the turn's budget. To fit, the
 * uses of hosted tools are lowered first, then the output cap. Returns `null` if not even a short
 * reply fits, or if the budget has a limit in US dollars and the agent's price is unknown.
 *
 * Each due call gets an equal share of the budget. A call may exceed its share only if the share is
 * too small for a useful output.
 */
export function reserve(
  turn: TurnState,
  { agent, purpose, usable, inputTokens, dueCalls }: ReservationRequest,
): Reservation | null {
  if (agent.price === null && turn.budget.max_cost_usd !== undefined) return null;
  const unspent = purpose === "summary" ? forSummary(turn) : remaining(turn);
  const forPresentation = isCoordinating(purpose)
    ? presentationReserve(turn)
    : { tokens: 0, usd: 0 };
  const available = {
    tokens: unspent.tokens - forPresentation.tokens,
    usd: unspent.usd - forPresentation.usd,
  };
  const share = { tokens: available.tokens / dueCalls, usd: available.usd / dueCalls };
  const usefulOutput = Math.min(USEFUL_OUTPUT_TOKENS, agent.max_output_tokens);
  const uses = fittingUses(
    usable,
    (tried) => outputThatFits(share, agent, inputUsageOf(inputTokens, tried)) >= usefulOutput,
  );
  const input = inputUsageOf(inputTokens, uses);
  const outputOfShare = outputThatFits(share, agent, input);
  const output =
    outputOfShare >= USEFUL_OUTPUT_TOKENS
      ? outputOfShare
      : Math.min(outputThatFits(available, agent, input), USEFUL_OUTPUT_TOKENS);
  if (output < Math.min(MIN_OUTPUT_TOKENS, agent.max_output_tokens)) return null;
  const hostedTools = uses.map(({ tool, count }) => ({ name: tool.name, max_uses: count }));
  const isComplete = agent.price !== null && uses.every(({ tool }) => tool.usd_per_use !== null);
  const cost = { usd: maxCost(agent.price, input, output), isComplete };
  return { maxOutputTokens: output, hostedTools, tokens: input.tokens + output, cost };
}

/**
 * US dollars that the cheapest agent needs for a first call on this question. The call has a prompt
 * of usual length and the shortest useful reply. An agent without a known price counts as free.
 *
 * `questionTokens`: an upper bound, including attachments.
 */
export function minCallUsd(agents: readonly AgentRules[], questionTokens: number): number {
  const tokens = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const costs = agents.map(({ price, max_output_tokens }) =>
    maxCost(price, { tokens, toolsUsd: 0 }, Math.min(MIN_OUTPUT_TOKENS, max_output_tokens)),
  );
  return Math.min(...costs);
}

const isCoordinating = (purpose: Purpose): boolean =>
  purpose === "coordination" || purpose === "personas" || purpose === "summary";

/**
 * Upper bound of a call's usage without its output. `tokens`: the input with the results of hosted
 * tools. `toolsUsd`: the price of all uses of hosted tools.
 */
type InputUsage = { tokens: number; toolsUsd: number };

/**
 * Some providers have one cap for the uses of all tools, so a call may spend all its uses on one
 * tool. Each use therefore counts with the highest price and the most tokens of any tool.
 */
function inputUsageOf(inputTokens: number, uses: readonly HostedUses[]): InputUsage {
  const totalUses = uses.reduce((sum, { count }) => sum + count, 0);
  return {
    tokens: inputTokens + totalUses * Math.max(0, ...uses.map(({ tool }) => tool.tokens_per_use)),
    toolsUsd: totalUses * Math.max(0, ...uses.map(({ tool }) => tool.usd_per_use ?? 0)),
  };
}

function outputThatFits(amount: Amount, agent: AgentRules, input: InputUsage): number {
  const byTokens = amount.tokens - input.tokens;
  const byCost = outputForCost(agent.price, amount.usd, input);
  return Math.floor(Math.min(agent.max_output_tokens, byTokens, byCost));
}

function outputForCost(price: Price | null, usd: number, input: InputUsage): number {
  const forOutput = usd - maxCost(price, input, 0);
  if (forOutput < 0) return 0;
  const rate = price ? ratesFor(price, input.tokens).output : 0;
  if (rate === 0) return Number.POSITIVE_INFINITY;
  const output = Math.floor((forOutput * PER_MILLION) / rate);
  // The division may round up by one token, and the cap must hold exactly.
  return maxCost(price, input, output) > usd ? output - 1 : output;
}

/** Upper bound of the cost of a call with at most this input usage and output. */
function maxCost(
  price: Price | null,
  { tokens, toolsUsd }: InputUsage,
  outputTokens: number,
): number {
  if (!price) return toolsUsd;
  const rates = ratesFor(price, tokens);
  const highestRate = Math.max(rates.input, rates.cached_input, rates.cache_write ?? 0);
  return (tokens * highestRate + outputTokens * rates.output) / PER_MILLION + toolsUsd;
}

/** Upper bound of an agent's call with these tokens and without hosted tools, in US dollars. */
export const maxCallUsd = (
  { price }: AgentRules,
  inputTokens: number,
  outputTokens: number,
): number => maxCost(price, { tokens: inputTokens, toolsUsd: 0 }, outputTokens);

/**
 * The part of the budget that is reserved for the presentation. It is enough for each agent whose
 * answer is a candidate. It is 0 without candidates, and it includes no uses of hosted tools.
 */
function presentationReserve(turn: TurnState): Amount {
  const answers = candidates(turn.attempt);
  if (answers.length === 0) return { tokens: 0, usd: 0 };
  // Upper bounds: a text never has more tokens than bytes.
  const textTokens = answers.reduce(
    (sum, { bytes }) => sum + bytes,
    turn.questionBytes + (turn.attached?.tokens ?? 0),
  );
  const reasonTokens = turn.attempt.agents.reduce(
    (sum, { vote }) => sum + (vote?.reason.length ?? 0) * BYTES_PER_UNIT,
    0,
  );
  const inputTokens = PRESENTATION_OVERHEAD_TOKENS + textTokens + reasonTokens;
  const costs = answers.map((answer) => {
    const agent = turn.rules.agents[answer.agent];
    return agent
      ? maxCost(
          agent.price,
          { tokens: inputTokens, toolsUsd: 0 },
          Math.min(agent.max_output_tokens, PRESENTATION_OUTPUT_TOKENS),
        )
      : 0;
  });
  return { tokens: inputTokens + PRESENTATION_OUTPUT_TOKENS, usd: Math.max(...costs) };
}

/**
 * Maximum number of effects (model calls and tool calls) that a turn starts before its
 * presentation. The last effects are reserved for decisions: when only these remain, no tool runs,
 * and each call asks only for a decision.
 */
export const effectsPerTurn = ({ rules }: TurnState): number =>
  Math.min(
    LIMITS.effectsMax,
    Math.max(LIMITS.effectsMin, LIMITS.effectsPerAgent * rules.agents.length),
  );

/** Effects that the turn may still start. A requested tool counts even before it starts. */
export function effectsLeft(turn: TurnState): number {
  let owedTools = 0;
  for (const { round } of turn.attempt.agents)
    for (const { status } of round?.tools ?? []) if (status === "owed") owedTools += 1;
  return effectsPerTurn(turn) - turn.effects - owedTools;
}

/** Effects that the turn may still start, without the effects that are reserved for decisions. */
export const workLeft = (turn: TurnState): number =>
  effectsLeft(turn) - LIMITS.decisionCallsPerRound * turn.rules.agents.length;

/**
 * Number of calls with tools that each working agent may still make, if each call runs one tool. At
 * zero, the next call asks only for a decision.
 */
export function callsLeftInTurn(turn: TurnState): number {
  const { agents, settled } = turn.attempt;
  const workingAgents = settled
    ? 1
    : agents.filter((agent) => isLive(agent) && agent.vote === null).length;
  return Math.max(0, Math.ceil(workLeft(turn) / (2 * Math.max(1, workingAgents))));
}
