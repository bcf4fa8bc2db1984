import type { AgentRules, Budget, TeamRules } from "../../protocol/team";
import { maxCallUsd } from "./budget";
import {
  USEFUL_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
} from "../limits";

/** The first call of the agent at index `agent`. `inputTokens` is an upper bound. */
type FirstCall = { agent: number; inputTokens: number };

/**
 * A cap that is too low for every first call. `cap`, `cheapest` and `enough` have the unit of the
 * cap: tokens or US dollars. `cheapest` is the upper bound of the cheapest first call, and `enough`
 * is the lowest sensible cap.
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
 * Finds a cap of the budget under which the turn could send no first call. `null` if a call fits,
 * or if the budget has no cap.
 *
 * A sensible cap pays for each agent's first call with a useful reply, and for one presentation.
 */
export function capTooSmall({
  rules,
  budget,
  calls,
  questionTokens,
}: CapQuestion): CapTooSmall | null {
  const caps = [
    ["max_tokens", budget.max_tokens, sumTokens],
    ["max_cost_usd", budget.max_cost_usd, maxCallUsd],
  ] as const;
  for (const [capped, cap, measure] of caps) {
    if (cap === undefined || calls.length === 0) continue;
    const maxAmountOf = ({ agent, inputTokens }: FirstCall, output: number): number => {
      const agentRules = rules.agents[agent];
      if (!agentRules) return 0;
      return measure(agentRules, inputTokens, Math.min(output, agentRules.max_output_tokens));
    };
    const cheapest = Math.min(...calls.map((call) => maxAmountOf(call, MIN_OUTPUT_TOKENS)));
    if (cap >= cheapest) continue;
    return {
      code: "budget_too_small",
      capped,
      cap,
      cheapest,
      enough: sensibleCap({ rules, calls, questionTokens }, maxAmountOf),
    };
  }
  return null;
}

const sumTokens = (_agent: AgentRules, inputTokens: number, outputTokens: number): number =>
  inputTokens + outputTokens;

type MaxAmount = (call: FirstCall, output: number) => number;

function sensibleCap(
  { rules, calls, questionTokens }: Omit<CapQuestion, "budget">,
  maxAmountOf: MaxAmount,
): number {
  if (rules.skip_coordination)
    return Math.max(...calls.map((call) => maxAmountOf(call, PRESENTATION_OUTPUT_TOKENS)));
  const answerTokens = calls.length * USEFUL_OUTPUT_TOKENS;
  const usualInput = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const presentations = calls.map(({ agent, inputTokens }) => {
    // The presenter's request repeats the long parts of its first call: earlier turns, tools,
    // system message.
    const ownInput = Math.max(usualInput, inputTokens);
    const presentation = { agent, inputTokens: ownInput + answerTokens };
    return maxAmountOf(presentation, PRESENTATION_OUTPUT_TOKENS);
  });
  return calls.reduce(
    (sum, call) => sum + maxAmountOf(call, USEFUL_OUTPUT_TOKENS),
    Math.max(...presentations),
  );
}
