import { z } from "zod";
import { InputRequiredSchema } from "../events/tool";
import { UsageSchema } from "../usage";
import {
  AgentStatusSchema,
  costFields,
  FinishReasonSchema,
  HostedUsesSchema,
  seconds,
  tokenFields,
  VoteResultSchema,
} from "./figures";
import { TurnSummarySchema } from "./turn";

const PhaseSchema = z.enum(["initial_answer", "enforcement", "presentation", "done"]);

export const AgentStateSchema = z
  .object({
    status: AgentStatusSchema,
    answer_count: z.int(),
    latest_answer_label: z.string().nullable(),
    /** How many files the latest answer leaves out of the agent's answer before; see `left_out` of `answer.submitted`. */
    left_out: z.int(),
    vote_cast: z
      .object({
        voted_for_agent: z.string(),
        voted_for_label: z.string(),
        reason_preview: z.string(),
      })
      .nullable(),
    times_restarted: z.int(),
    last_activity: seconds,
    error: z.object({ type: z.string(), message: z.string(), timestamp: seconds }).nullable(),
    /** What one of its tool servers wanted of a person, the latest; nobody has answered it. */
    input_required: InputRequiredSchema.extend({ tool: z.string(), timestamp: seconds }).nullable(),
    provider: z.string(),
    model: z.string(),
    round: z.int(),
    stale_votes: z.int(),
    ...tokenFields,
    ...costFields,
    hosted_uses: HostedUsesSchema,
  })
  .meta({ id: "AgentState" });

/** MassGen's `status.json` of the latest turn, with the session's turns, usage and cost. */
export const SessionStatusSchema = z
  .object({
    meta: z.object({
      session_id: z.string(),
      turn: z.int(),
      question: z.string(),
      start_time: seconds,
      last_updated: seconds,
      elapsed_seconds: z.number(),
      last_sequence: z.int(),
    }),
    coordination: z.object({
      phase: PhaseSchema,
      attempt: z.int(),
      active_agent: z.string().nullable(),
      completion_percentage: z.int(),
      is_final_presentation: z.boolean(),
    }),
    agents: z.record(z.string(), AgentStateSchema),
    results: z.object({
      votes: z.record(z.string(), z.int()),
      vote_result: VoteResultSchema.nullable(),
      winner: z.string().nullable(),
      final_answer_preview: z.string().nullable(),
      finish_reason: FinishReasonSchema,
    }),
    turns: z.array(TurnSummarySchema),
    usage: UsageSchema,
    ...tokenFields,
    ...costFields,
  })
  .meta({ id: "SessionStatus" });
export type SessionStatus = z.infer<typeof SessionStatusSchema>;
