import * as z from "zod";
import { AttachmentSchema } from "../attachments";
import { COST_FIELDS } from "../cost";
import { AgentRulesSchema, BudgetSchema, TeamRulesSchema, ToolRuleSchema } from "../team";
import { OverridesSchema } from "../turn-team";
import { UsageSchema } from "../usage";
import { EndedBySchema } from "./attempt";
import { agent, base, count, label, reasonFields } from "./fields";
import { HistoryPlanSchema } from "./history";

/**
 * Version of a turn's events. Each turn stores its version as `log_version` in `turn.started`; a
 * turn without that field has version 1. Increase the version if the fold of an older log would
 * give another state. `evolve` must then keep the fold of the older version.
 */
export const LOG_VERSION = 2;

/**
 * A version of a context. The start of the turn fixes the version, so later uploads do not change
 * the turn.
 */
const PinnedContextSchema = z.object({
  name: z.string().describe("Name of the context"),
  version: z.string().describe("Id of the version"),
  permissions: z
    .record(z.string(), z.enum(["read", "write"]))
    .describe(
      "Access by agent id. `write`: the agent may change files when it presents; until then it may only read. Other agents do not see the context",
    ),
});
export type PinnedContext = z.infer<typeof PinnedContextSchema>;

/** A context that a request has granted to all agents. */
const GrantSchema = z.object({
  name: z.string().describe("Name of the context"),
  permission: z.enum(["read", "write"]).describe("Access of all agents"),
});

/** What the request of a refused turn named, and the turn does not have. */
const RefusedRequestSchema = z.object({
  contexts: z
    .array(GrantSchema)
    .optional()
    .describe("The contexts that the request named; empty for none. Omitted if it named no list"),
  overrides: OverridesSchema.optional().describe(
    "The overrides that do not fit the team. Omitted if none",
  ),
});

/** An agent that has a workspace only because of contexts that a request has granted. */
const GrantedWorkspaceSchema = z.object({
  agent,
  tools: z.array(ToolRuleSchema).describe("The agent's own tools in this turn"),
});
export type GrantedWorkspace = z.infer<typeof GrantedWorkspaceSchema>;

/** Why an agent failed. The API shows this unchanged. */
export const AgentFailureSchema = z.object({ agent, ...reasonFields });
/** Result of a cancelled turn. The API shows this unchanged. */
export const PartialResultSchema = z.object({
  winner: agent
    .nullable()
    .describe("Id of the agent whose answer was leading; `null` if there is none"),
  answer: z.string().nullable().describe("Text of the leading answer; `null` if there is none"),
  text: z
    .string()
    .nullable()
    .describe(
      "The final text so far; before the first answer, the longest unfinished text. `null` if there is none",
    ),
});

const spendingFields = {
  usage: UsageSchema.describe("Tokens that the turn used"),
  ...COST_FIELDS,
};

/** Events of a session and of its turns. */
export const TURN_EVENTS = [
  z.object({
    type: z.literal("session.created"),
    ...base,
    rules: TeamRulesSchema.describe("The team, as far as the coordination rules use it"),
  }),
  z.object({
    type: z.literal("turn.started"),
    ...base,
    kind: z
      .literal("compact")
      .optional()
      .describe(
        "`compact`: the turn only summarises the conversation so far. It is no part of any history and does not move the head. Omitted: a question",
      ),
    question: z.string().describe("The user's text; empty if the turn has a `kind`"),
    attachments: z
      .array(AttachmentSchema)
      .optional()
      .describe("Images and files of the question. Omitted if none"),
    attachment_tokens: count
      .optional()
      .describe(
        "Upper bound of the input tokens that one call of any agent needs for the attachments. Omitted: 0",
      ),
    parent_turn: count
      .nullable()
      .describe(
        "Number of the turn that this one follows; `null` for the first turn, and for its repetitions",
      ),
    aliases: z
      .record(z.string(), z.string())
      .describe("Alias by agent id. Aliases are drawn once per turn"),
    budget: BudgetSchema.describe("Limits of what the turn may spend"),
    deadline_at: z
      .number()
      .describe("Time limit of the whole turn, presentation included, in Unix milliseconds"),
    contexts: z
      .array(PinnedContextSchema)
      .optional()
      .describe("Uploaded contexts that the agents see. Omitted if none"),
    grants: z
      .array(GrantSchema)
      .optional()
      .describe(
        "Contexts that the request of this turn, or of an earlier turn that it continues, has granted to all agents. Omitted if none",
      ),
    granted_workspaces: z
      .array(GrantedWorkspaceSchema)
      .optional()
      .describe(
        "Agents that have a workspace only because of `grants`. In this turn they have these tools in place of those in `session.created`. Omitted if none",
      ),
    history: HistoryPlanSchema.optional().describe(
      "How much of the earlier turns the agents see. Omitted: all of it in full",
    ),
    rules: TeamRulesSchema.optional().describe(
      "The turn's team, which the turns that continue it use too. Omitted: that of `session.created`",
    ),
    overrides: OverridesSchema.optional().describe(
      "Changes of the team that apply to this turn only. Omitted if none",
    ),
    overridden_agents: z
      .array(AgentRulesSchema)
      .optional()
      .describe(
        "The agents whose rules `overrides` changes: those with another model, or with other hosted tools. Omitted if none",
      ),
    queue_id: z
      .string()
      .optional()
      .describe("Id of the request in the queue of the session. Omitted if it was not queued"),
    requested: RefusedRequestSchema.optional().describe(
      "What the request of a turn that fails at its start named, and the turn does not have: the turns that continue it must not inherit what was refused. A repetition of the turn asks for it again. Omitted if there is nothing",
    ),
    log_version: count
      .optional()
      .describe("Version of the log format at the start of the turn. Omitted: 1"),
  }),
  z.object({
    type: z.literal("head.moved"),
    ...base,
    head: count.describe("Number of the turn that the next turn continues unless it names another"),
  }),
  z.object({
    type: z.literal("turn.completed"),
    ...base,
    winner: agent.describe("Id of the agent whose answer won"),
    label: label.describe("Label of the final text, such as `agent2.final`"),
    attempt: count.describe("Number of the attempt that the final text is from"),
    answer: z.string().describe("The final answer"),
    finish_reason: EndedBySchema,
    ...spendingFields,
  }),
  z.object({
    type: z.literal("turn.failed"),
    ...base,
    ...reasonFields,
    agents: z.array(AgentFailureSchema).describe("The reason for each agent"),
    ...spendingFields,
  }),
  z.object({
    type: z.literal("turn.cancelled"),
    ...base,
    partial: PartialResultSchema.describe("The leading answer and the unfinished text"),
    ...spendingFields,
  }),
] as const;

const TERMINAL = new Set<string>(["turn.completed", "turn.failed", "turn.cancelled"]);
/** Whether an event of this type is the last event of its turn. */
export const isTerminal = (type: string): boolean => TERMINAL.has(type);
