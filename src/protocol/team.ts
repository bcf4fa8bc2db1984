import { z } from "zod";
import { HostedToolNameSchema } from "./hosted-tools";

/**
 * What the coordination rules need to know about a team, as plain data: it lies in `session.created`, so a log can be folded
 * without anything else. Prompts, keys and addresses are private and live elsewhere (`config/team.ts`).
 */

/** US dollars per million tokens; `cache_write` where writing into the provider's cache has a price of its own. */
const RatesSchema = z.object({
  input: z.number(),
  cached_input: z.number(),
  cache_write: z.number().optional(),
  output: z.number(),
});
const PriceSchema = RatesSchema.extend({
  /** Rates of all tokens of a call whose input is longer than `above` tokens; absent: the length does not matter. */
  long_prompt: RatesSchema.extend({ above: z.number().int() }).optional(),
  /** Input that is sound; absent: it costs what text costs. */
  sound: z.number().optional(),
});
export type Price = z.infer<typeof PriceSchema>;

/** One of an agent's own tools, as far as the rules care. `idempotent` comes from the operator's allow-list, never from a server. */
export const ToolRuleSchema = z.object({
  name: z.string(),
  acts_outside: z.boolean(),
  idempotent: z.boolean(),
  /** Whether the config says that it only reads: it runs in planning mode too, and nothing else follows. Absent: it does not. */
  runs_in_planning: z.boolean().optional(),
});
export type ToolRule = z.infer<typeof ToolRuleSchema>;

/** A hosted tool an agent may use, as far as budgets care. */
const HostedToolRuleSchema = z.object({
  name: HostedToolNameSchema,
  /** Most uses in one call. */
  max_uses: z.number().int(),
  /** US dollars of one use; null: unknown, so that only `max_tokens` can cap a run. */
  usd_per_use: z.number().nullable(),
  /** Input tokens that the results of one use may add to the call. */
  tokens_per_use: z.number().int(),
});
export type HostedToolRule = z.infer<typeof HostedToolRuleSchema>;

const AgentRulesSchema = z.object({
  id: z.string(),
  provider: z.string(),
  model: z.string(),
  /** Tokens the model's window holds, input and output together. */
  context_window: z.number().int(),
  /** Most output tokens one call may ask for. */
  max_output_tokens: z.number().int(),
  /** null: unknown price, so that only `max_tokens` can cap a run. */
  price: PriceSchema.nullable(),
  /** Whether the provider can be told to answer with a tool call. */
  forces_tools: z.boolean(),
  /** Whether the agent has a workspace, so that its answers carry snapshots. */
  workspace: z.boolean(),
  tools: z.array(ToolRuleSchema),
  /** Names of its tool servers. What they have is known when they have been asked (`tools.listed`). Absent: none. */
  tool_servers: z.array(z.string()).optional(),
  /** Absent: none. */
  hosted_tools: z.array(HostedToolRuleSchema).optional(),
  /**
   * Whether its hosted tools run only where no functions are offered, so that each coordination round begins with a research
   * call: hosted tools, no functions, no decision. Absent: they run beside functions.
   */
  hosted_alone: z.boolean().optional(),
});
export type AgentRules = z.infer<typeof AgentRulesSchema>;

const NoveltySchema = z.enum(["lenient", "balanced", "strict"]);

export const TeamRulesSchema = z.object({
  agents: z.array(AgentRulesSchema),
  max_new_answers_per_agent: z.number().int(),
  max_new_answers_global: z.number().int().nullable(),
  /** null: no lead limit. */
  fairness_lead_cap_answers: z.number().int().nullable(),
  answer_novelty_requirement: NoveltySchema,
  max_midstream_injections_per_round: z.number().int(),
  defer_voting_until_all_answered: z.boolean(),
  /** Absent or false: agents are shown newer answers while they work. True: only where a vote needs them, or was voided. */
  disable_injection: z.boolean().optional(),
  /** Whether the winning answer is the final text, so that nobody is called for one. Absent: not. */
  reuse_winning_answer: z.boolean().optional(),
  /** Straight to the presentation: one agent without the full protocol, or `skip_coordination_rounds`. */
  skip_coordination: z.boolean(),
  max_orchestration_restarts: z.number().int(),
  planning_mode: z.boolean(),
  personas: z.boolean(),
  orchestrator_timeout_ms: z.number().int(),
  /** Most calls of one round; then only its decision is asked for. Absent: 50. */
  max_calls_per_round: z.number().int().optional(),
  /** Time for a first answer; null: no limit. */
  initial_round_timeout_ms: z.number().int().nullable(),
  /** Time of each later round; null or absent: no limit. */
  subsequent_round_timeout_ms: z.number().int().nullable().optional(),
  /** How long after either of the two an agent may still use its tools; absent: 0. */
  round_timeout_grace_ms: z.number().int().optional(),
});
export type TeamRules = z.infer<typeof TeamRulesSchema>;

/** What a turn may spend; an absent field is no limit. Tokens are input plus output, over all calls of the turn. */
export const BudgetSchema = z.object({
  max_cost_usd: z.number().optional(),
  max_tokens: z.number().int().optional(),
});
export type Budget = z.infer<typeof BudgetSchema>;

/** Ids of agents whose model or hosted tool has no known price: a cap in dollars cannot hold them. */
export const unpricedAgents = (rules: TeamRules): string[] =>
  rules.agents
    .filter((agent) => agent.price === null || agent.hosted_tools?.some(isUnpriced))
    .map(({ id }) => id);

const isUnpriced = ({ usd_per_use }: HostedToolRule): boolean => usd_per_use === null;
