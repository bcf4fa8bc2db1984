import type { AgentRules, Budget, TeamRules } from "../../protocol/team";
import { mostUsd } from "./budget";
import {
  FAIR_OUTPUT_TOKENS,
  MIN_OUTPUT_TOKENS,
  PRESENTATION_OUTPUT_TOKENS,
  PRESENTATION_OVERHEAD_TOKENS,
} from "../limits";

/** A first call of an agent, by its index; `inputTokens`: a bound. */
type FirstCall = { agent: number; inputTokens: number };

/** A cap that no first call fits into. In the cap's unit, `cheapest`: the cheapest first call; `enough`: the least sensible cap. */
export type CapTooSmall = {
  code: "budget_too_small";
  capped: "max_tokens" | "max_cost_usd";
  cap: number;
  cheapest: number;
  enough: number;
};

type Asked = {
  rules: TeamRules;
  budget: Budget;
  calls: readonly FirstCall[];
  questionTokens: number;
};

/**
 * Whether the turn could send no first call at all, so that it would fail at once. A sensible cap pays for every agent's first call with
 * a reply of some length, and for one presentation. Null if a call fits, or if nothing is capped.
 */
export function capTooSmall({ rules, budget, calls, questionTokens }: Asked): CapTooSmall | null {
  const inUnits = [
    ["max_tokens", budget.max_tokens, tokensOf],
    ["max_cost_usd", budget.max_cost_usd, mostUsd],
  ] as const;
  for (const [capped, cap, measure] of inUnits) {
    if (cap === undefined || calls.length === 0) continue;
    const most = ({ agent, inputTokens }: FirstCall, output: number): number => {
      const found = rules.agents[agent];
      return found ? measure(found, inputTokens, Math.min(output, found.max_output_tokens)) : 0;
    };
    const cheapest = Math.min(...calls.map((call) => most(call, MIN_OUTPUT_TOKENS)));
    if (cap >= cheapest) continue;
    return {
      code: "budget_too_small",
      capped,
      cap,
      cheapest,
      enough: enoughFor({ rules, calls, questionTokens }, most),
    };
  }
  return null;
}

const tokensOf = (_agent: AgentRules, inputTokens: number, outputTokens: number): number =>
  inputTokens + outputTokens;

type Most = (call: FirstCall, output: number) => number;

function enoughFor({ rules, calls, questionTokens }: Omit<Asked, "budget">, most: Most): number {
  if (rules.skip_coordination)
    return Math.max(...calls.map((call) => most(call, PRESENTATION_OUTPUT_TOKENS)));
  const answers = calls.length * FAIR_OUTPUT_TOKENS;
  const usual = PRESENTATION_OVERHEAD_TOKENS + questionTokens;
  const presentations = calls.map(({ agent, inputTokens }) => {
    // The presenter is sent again what made its first call long: earlier turns, its tools, its system message.
    const repeated = Math.max(usual, inputTokens);
    return most({ agent, inputTokens: repeated + answers }, PRESENTATION_OUTPUT_TOKENS);
  });
  return calls.reduce(
    (sum, call) => sum + most(call, FAIR_OUTPUT_TOKENS),
    Math.max(...presentations),
  );
}
