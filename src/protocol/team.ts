import * as z from "zod";
import { HostedToolNameSchema } from "./hosted-tools";

/**
 * The data about a team that the coordination rules need. `session.created` stores this data, so
 * that a log can be folded without the config. Prompts, keys and addresses are private and are not
 * stored there: see `config/team.ts`.
 */

const usdPerMillion = (what: string) => z.number().describe(`US dollars per million ${what}`);
const int = z.number().int();

const RatesSchema = z.object({
  input: usdPerMillion("input tokens"),
  cached_input: usdPerMillion("input tokens read from the provider's cache"),
  cache_write: usdPerMillion("input tokens written to the provider's cache")
    .optional()
    .describe(
      "US dollars per million input tokens written to the provider's cache. Omitted: the price of `input`",
    ),
  output: usdPerMillion("output tokens"),
});
const PriceSchema = RatesSchema.extend({
  long_prompt: RatesSchema.extend({
    above: int.describe("Number of input tokens above which these prices apply"),
  })
    .optional()
    .describe(
      "Prices of all tokens of a call with a long input. Omitted: the prices do not depend on the length",
    ),
  sound: z
    .number()
    .optional()
    .describe("US dollars per million input tokens of audio. Omitted: the price of `input`"),
});
export type Price = z.infer<typeof PriceSchema>;

/** Properties of an agent's own tool that the coordination rules use. */
export const ToolRuleSchema = z.object({
  name: z.string().describe("Name of the tool, as the agent calls it"),
  acts_outside: z.boolean().describe("Whether the tool can act outside the session"),
  idempotent: z
    .boolean()
    .describe(
      "Whether the tool is safe to repeat. Set by the operator's allow-list, never by a tool server",
    ),
  runs_in_planning: z
    .boolean()
    .optional()
    .describe(
      "Whether the config declares that the tool only reads, so that it also runs in planning mode. Omitted: `false`",
    ),
});
export type ToolRule = z.infer<typeof ToolRuleSchema>;

/** Properties of a hosted tool that budgets use. The agent may use this tool. */
const HostedToolRuleSchema = z.object({
  name: HostedToolNameSchema.describe("Name of the hosted tool"),
  max_uses: int.describe("Maximum number of uses in one call"),
  usd_per_use: z
    .number()
    .nullable()
    .describe("US dollars per use; `null` if unknown: then only `max_tokens` can limit a run"),
  tokens_per_use: int.describe(
    "Maximum number of input tokens that the results of one use add to the call",
  ),
});
export type HostedToolRule = z.infer<typeof HostedToolRuleSchema>;

export const AgentRulesSchema = z.object({
  id: z.string().describe("Id of the agent in the config"),
  number: int
    .optional()
    .describe("Number of the agent in labels. Omitted: its position in the team, from 1"),
  provider: z.string().describe("Type of the backend"),
  model: z.string().describe("Name of the model"),
  context_window: int.describe("Size of the model's window in tokens, input and output together"),
  max_output_tokens: int.describe("Maximum number of output tokens of one call"),
  price: PriceSchema.nullable().describe(
    "Prices of the model; `null` if unknown: then only `max_tokens` can limit a run",
  ),
  forces_tools: z.boolean().describe("Whether the provider can force a tool call"),
  workspace: z
    .boolean()
    .describe("Whether the agent has a workspace, so that its answers have snapshots"),
  tools: z.array(ToolRuleSchema).describe("The agent's own tools"),
  tool_servers: z
    .array(z.string())
    .optional()
    .describe("Names of the agent's tool servers; `tools.listed` has their tools. Omitted: none"),
  hosted_tools: z
    .array(HostedToolRuleSchema)
    .optional()
    .describe("Hosted tools that the agent may use. Omitted: none"),
  hosted_alone: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider runs hosted tools only in calls without functions. Then each coordination round begins with a research call: hosted tools, no functions, no decision. Omitted: `false`",
    ),
});
export type AgentRules = z.infer<typeof AgentRulesSchema>;

const NoveltySchema = z
  .enum(["lenient", "balanced", "strict"])
  .describe("How much a new answer must differ from the earlier answers");

export const TeamRulesSchema = z.object({
  agents: z.array(AgentRulesSchema).describe("The agents, in the order of the config"),
  max_new_answers_per_agent: int.describe("Maximum number of answers per agent and attempt"),
  max_new_answers_global: int
    .nullable()
    .describe(
      "Maximum number of answers per attempt, over all agents; first answers are always accepted. `null`: no limit",
    ),
  fairness_lead_cap_answers: int
    .nullable()
    .describe(
      "Maximum number of answers by which an agent may be ahead of other working agents; `null`: no limit",
    ),
  answer_novelty_requirement: NoveltySchema,
  max_midstream_injections_per_round: int.describe(
    "Maximum number of times that a round shows newer answers with tool results",
  ),
  defer_voting_until_all_answered: z
    .boolean()
    .describe("Whether agents may vote only after every agent has answered"),
  disable_injection: z
    .boolean()
    .optional()
    .describe(
      "Whether newer answers are shown only if a vote needs them or was voided. Omitted or `false`: they are also shown while an agent works",
    ),
  reuse_winning_answer: z
    .boolean()
    .optional()
    .describe(
      "Whether the winning answer is the final text, without a presentation call. Omitted: `false`",
    ),
  skip_coordination: z
    .boolean()
    .describe(
      "Whether the turn starts with the presentation: one agent without the full protocol, or `skip_coordination_rounds`",
    ),
  max_orchestration_restarts: int.describe("Maximum number of further attempts per turn"),
  planning_mode: z
    .boolean()
    .describe("Whether tools that act outside run only in the presentation"),
  personas: z.boolean().describe("Whether each agent gets a generated persona"),
  orchestrator_timeout_ms: int.describe(
    "Time limit of a whole turn in milliseconds, if its request sets none",
  ),
  max_calls_per_round: int
    .optional()
    .describe(
      "Maximum number of calls per round; the last call requests only the decision. Omitted: 50",
    ),
  initial_round_timeout_ms: int
    .nullable()
    .describe("Time limit of a first answer in milliseconds; `null`: no limit"),
  subsequent_round_timeout_ms: int
    .nullable()
    .optional()
    .describe("Time limit of each later round in milliseconds; `null` or omitted: no limit"),
  round_timeout_grace_ms: int
    .optional()
    .describe(
      "Milliseconds after a round's time limit during which the agent may still use tools. Omitted: 0",
    ),
  failing_member_grace_ms: int
    .optional()
    .describe(
      "Milliseconds that the team waits for a member whose calls fail, once all others have decided. Omitted: no limit",
    ),
  paced_grace_agents: int
    .optional()
    .describe(
      "Number of agents from which the wait for first answers follows the pace of the team's answers. Omitted: never",
    ),
});
export type TeamRules = z.infer<typeof TeamRulesSchema>;

/** Limits on the spending of a turn, over all its calls. */
export const BudgetSchema = z.object({
  max_cost_usd: z.number().optional().describe("Maximum cost in US dollars. Omitted: no limit"),
  max_tokens: int
    .optional()
    .describe("Maximum number of tokens, input plus output. Omitted: no limit"),
});
export type Budget = z.infer<typeof BudgetSchema>;

/**
 * Ids of the agents whose model, or one of whose hosted tools, has no known price. A cost cap
 * cannot limit these agents.
 */
export const unpricedAgents = (rules: TeamRules): string[] =>
  rules.agents
    .filter((agent) => agent.price === null || agent.hosted_tools?.some(isUnpriced))
    .map(({ id }) => id);

const isUnpriced = ({ usd_per_use }: HostedToolRule): boolean => usd_per_use === null;
