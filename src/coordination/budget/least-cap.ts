import type { AgentRules, Budget, TeamRules } from "../../protocol/team";
import { maxCallUsd } from "./budget";
import {
  USEFUL_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
} from "../limits";

/** First call of the agent at this index; `inputTokens` is an upper bound. */
type FirstCall = { agent: number; inputTokens: number };

/**
 * A cap that is too low for any first call. In units of the cap: `cheapest` is the cheapest first
 * call, `enough` the lowest sensible cap.
 */
export type CapTooSmall = {
  code: "budget_too_small";
  capped: "max_tokens" | "max_cost_usd";
  cap: number;
  cheapest: number;
  enough: number;
};

type CapQuestion = {
  rules: TeamRules;
  budget: Budget;
  calls: readonly FirstCall[];
  questionTokens: number;
};

/**
 * Finds a cap under which the turn could send no first call. `null` if a call fits or if nothing is
 * capped.
 *
 * A sensible cap pays for each agent's first call with a useful reply, and for one presentation.
 */
export function capTooSmall({
  rules,
  budget,
  calls,
  questionTokens,
}: CapQuestion): CapTooSmall | null {
  const inUnits = [
    ["max_tokens", budget.max_tokens, tokensOf],
    ["max_cost_usd", budget.max_cost_usd, maxCallUsd],
  ] as const;
  for (const [capped, cap, measure] of inUnits) {
    if (cap === undefined || calls.length === 0) continue;
    const maxCostOf = ({ agent, inputTokens }: FirstCall, output: number): number => {
      const found = rules.agents[agent];
      return found ? measure(found, inputTokens, Math.min(output, found.max_output_tokens)) : 0;
    };
    const cheapest = Math.min(...calls.map((call) => maxCostOf(call, MIN_OUTPUT_TOKENS)));
    if (cap >= cheapest) continue;
    return {
      code: "budget_too_small",
      capped,
      cap,
      cheapest,
      enough: sensibleCap({ rules, calls, questionTokens }, maxCostOf),
    };
  }
  return null;
}

const tokensOf = (_agent: AgentRules, inputTokens: number, outputTokens: number): number =>
  inputTokens + outputTokens;

type MaxAmount = (call: FirstCall, output: number) => number;

function sensibleCap(
  { rules, calls, questionTokens }: Omit<CapQuestion, "budget">,
  maxCostOf: MaxAmount,
): number {
  if (rules.skip_coordination)
    return Math.max(...calls.map((call) => maxCostOf(call, PRESENTATION_OUTPUT_TOKENS)));
  const answers = calls.length * USEFUL_OUTPUT_TOKENS;
  const usual = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const presentations = calls.map(({ agent, inputTokens }) => {
    // The presenter's request repeats the long parts of its first call: earlier turns, tools,
    // system message.
    const repeated = Math.max(usual, inputTokens);
    return maxCostOf({ agent, inputTokens: repeated + answers }, PRESENTATION_OUTPUT_TOKENS);
  });
  return calls.reduce(
    (sum, call) => sum + maxCostOf(call, USEFUL_OUTPUT_TOKENS),
    Math.max(...presentations),
  );
}
