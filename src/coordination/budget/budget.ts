import type { Purpose, Usage } from "../../protocol/events";
import { isPriced } from "../../protocol/charged-cost";
import type { Cost } from "../../protocol/cost";
import type { AgentRules, HostedToolRule, Price } from "../../protocol/team";
import {
  FAIR_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
} from "../limits";
import { type HostedGrant, type HostedUses, mostUses } from "./hosted-tools";
import { candidates, type TurnState } from "../state";

/**
 * What a turn may still spend. Every call reserves its input bound, the uses of hosted tools it is granted and its output cap
 * before it is sent, so the sum of what was settled and what is reserved never passes the cap.
 */
type Amount = { tokens: number; usd: number };

type Reservation = {
  maxOutputTokens: number;
  hostedTools: HostedGrant[];
  tokens: number;
  cost: Cost;
};

const PER_MILLION = 1_000_000;
/** No UTF-16 code unit takes more bytes than this. */
const BYTES_PER_UNIT = 3;

/** What a usage costs at an agent's prices. */
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

/** What each token of a call with so much input costs. */
const ratesFor = (price: Price, inputTokens: number): Omit<Price, "long_prompt"> =>
  price.long_prompt && inputTokens > price.long_prompt.above ? price.long_prompt : price;

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

/** `usable`: the hosted tools it may be granted. Without a single use it can be paid if it can be paid with some. */
type Wanted = {
  agent: AgentRules;
  purpose: Purpose;
  usable: readonly HostedToolRule[];
  inputTokens: number;
  sharers: number;
};

/**
 * What a call may reserve, with the uses of hosted tools and then the output cap lowered to fit; null if not even a short reply
 * can be paid, or if nobody knows what it costs where money is capped. While `sharers` calls are due, one call takes more than
 * its share only if the share would be too little to write anything useful.
 */
export function reserve(
  turn: TurnState,
  { agent, purpose, usable, inputTokens, sharers }: Wanted,
): Reservation | null {
  if (agent.price === null && turn.budget.max_cost_usd !== undefined) return null;
  const left = remaining(turn);
  const kept = isCoordinating(purpose) ? presentationReserve(turn) : { tokens: 0, usd: 0 };
  const free = { tokens: left.tokens - kept.tokens, usd: left.usd - kept.usd };
  const share = { tokens: free.tokens / sharers, usd: free.usd / sharers };
  const useful = Math.min(FAIR_OUTPUT_TOKENS, agent.max_output_tokens);
  const uses = mostUses(
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
  const cost = { usd: bound(agent.price, intake, output), isWhole };
  return { maxOutputTokens: output, hostedTools, tokens: intake.tokens + output, cost };
}

/**
 * The dollars that an agent of the team needs for a first call on such a question: with a prompt of the usual length, and a reply that
 * is just worth starting. Agents without a known price count as free. `questionTokens`: a bound, with all that came with it.
 */
export function leastCallUsd(agents: readonly AgentRules[], questionTokens: number): number {
  const tokens = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const costs = agents.map(({ price, max_output_tokens }) =>
    bound(price, { tokens, usesUsd: 0 }, Math.min(MIN_OUTPUT_TOKENS, max_output_tokens)),
  );
  return Math.min(...costs);
}

const isCoordinating = (purpose: Purpose): boolean =>
  purpose === "coordination" || purpose === "personas";

/** What a call takes besides its output: input tokens, and the price of each use of a hosted tool. */
type Intake = { tokens: number; usesUsd: number };

/** Some providers limit the uses of all tools together, so each use may be of the dearest tool, and of the one with most to read. */
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
  const forOutput = usd - bound(price, intake, 0);
  if (forOutput < 0) return 0;
  const rate = price ? ratesFor(price, intake.tokens).output : 0;
  if (rate === 0) return Number.POSITIVE_INFINITY;
  const output = Math.floor((forOutput * PER_MILLION) / rate);
  // The division may round up by a hair, and the cap holds to the last digit.
  return bound(price, intake, output) > usd ? output - 1 : output;
}

/** No usage within these tokens and uses can cost more. */
function bound(price: Price | null, { tokens, usesUsd }: Intake, outputTokens: number): number {
  if (!price) return usesUsd;
  const rates = ratesFor(price, tokens);
  const dearest = Math.max(rates.input, rates.cached_input, rates.cache_write ?? 0);
  return (tokens * dearest + outputTokens * rates.output) / PER_MILLION + usesUsd;
}

/** The most that a call of an agent can cost with so many tokens and without uses of hosted tools, in US dollars. */
export const mostUsd = ({ price }: AgentRules, inputTokens: number, outputTokens: number): number =>
  bound(price, { tokens: inputTokens, usesUsd: 0 }, outputTokens);

/**
 * What the dearest candidate's presentation may cost; nothing while there is nothing to present. Uses of hosted tools are not
 * kept room for: the presenter gets them if there is some left.
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
      ? bound(
          agent.price,
          { tokens: input, usesUsd: 0 },
          Math.min(agent.max_output_tokens, PRESENTATION_OUTPUT_TOKENS),
        )
      : 0;
  });
  return { tokens: input + PRESENTATION_OUTPUT_TOKENS, usd: Math.max(...costs) };
}
