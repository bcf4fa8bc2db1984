import { z } from "zod";
import { AttachmentSchema } from "../attachments";
import { COST_FIELDS } from "../cost";
import { BudgetSchema, TeamRulesSchema } from "../team";
import { UsageSchema } from "../usage";
import { EndedBySchema } from "./attempt";
import { agent, base, label } from "./fields";

/**
 * Version of a turn's facts, stored in its `turn.started` (absent there: 1). Raise it when the fold of an older log would give
 * another state; `evolve` then keeps the fold of the older version.
 *
 * 1: turns without this field. 2: turns with it.
 */
export const LOG_VERSION = 2;

/** A context as it was uploaded when the turn began: what is uploaded later changes nothing for the turn. */
const PinnedContextSchema = z.object({
  name: z.string(),
  version: z.string(),
  /** agent id → what it may do; `write`: once it presents. Agents that are not named do not see it. */
  permissions: z.record(z.string(), z.enum(["read", "write"])),
});
export type PinnedContext = z.infer<typeof PinnedContextSchema>;

/** Events of a session and of its turns. */
export const TURN_EVENTS = [
  z.object({ type: z.literal("session.created"), ...base, rules: TeamRulesSchema }),
  z.object({
    type: z.literal("turn.started"),
    ...base,
    question: z.string(),
    /** Images and files that came with the question; absent: none. */
    attachments: z.array(AttachmentSchema).optional(),
    /** No agent of the team reads more input tokens for the attachments in one call; absent: 0. */
    attachment_tokens: z.number().int().optional(),
    parent_turn: z.number().int().nullable(),
    /** agent id → alias, drawn once per turn. */
    aliases: z.record(z.string(), z.string()),
    budget: BudgetSchema,
    /** Unix ms; the whole turn, presentation included, ends by then. */
    deadline_at: z.number(),
    /** What the user uploaded and the agents see; absent: nothing. */
    contexts: z.array(PinnedContextSchema).optional(),
    /** `LOG_VERSION` when the turn began. Absent: 1. */
    log_version: z.number().int().optional(),
  }),
  z.object({
    type: z.literal("turn.completed"),
    ...base,
    winner: agent,
    label,
    attempt: z.number().int(),
    answer: z.string(),
    finish_reason: EndedBySchema,
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
  z.object({
    type: z.literal("turn.failed"),
    ...base,
    code: z.string(),
    message: z.string(),
    agents: z.array(z.object({ agent, code: z.string(), message: z.string() })),
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
  z.object({
    type: z.literal("turn.cancelled"),
    ...base,
    partial: z.object({
      winner: agent.nullable(),
      answer: z.string().nullable(),
      text: z.string().nullable(),
    }),
    usage: UsageSchema,
    ...COST_FIELDS,
  }),
] as const;

const TERMINAL = new Set<string>(["turn.completed", "turn.failed", "turn.cancelled"]);
/** Whether nothing more is logged for the turn after an event of this type. */
export const isTerminal = (type: string): boolean => TERMINAL.has(type);
