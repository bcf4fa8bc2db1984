import { z } from "zod";
import { AttachmentSchema } from "../attachments";
import { EndedBySchema } from "../events";
import { HandedFilesSchema, LeftOutSchema } from "../events/file";
import { CitationSchema } from "../hosted-tools";
import { UsageSchema } from "../usage";
import {
  AgentStatusSchema,
  costFields,
  FinishReasonSchema,
  HostedUsesSchema,
  seconds,
  tokenFields,
  TurnStatusSchema,
  VoteResultSchema,
} from "./figures";

export const TurnSummarySchema = z
  .object({
    turn: z.int(),
    parent_turn: z.int().nullable(),
    status: TurnStatusSchema,
    question_preview: z.string(),
    started_at: seconds,
    ended_at: seconds.nullable(),
    finish_reason: FinishReasonSchema,
    usage: UsageSchema,
    ...tokenFields,
    ...costFields,
    unreported_cost_usd: z
      .number()
      .nullable()
      .describe(
        "The part of the cost that calls without a report had reserved, the most they can have cost; null if one of them has no known price",
      ),
  })
  .meta({ id: "TurnSummary" });

export const VoteSchema = z
  .object({
    agent: z.string(),
    label: z.string(),
    voted_for_agent: z.string(),
    reason: z.string(),
    valid: z.boolean(),
    voided_by: z.string().nullable(),
  })
  .meta({ id: "Vote" });

/** How an agent stands in an attempt. It took part if it has an accepted answer or a valid vote there. */
export const ParticipantSchema = z
  .object({
    agent: z.string(),
    status: AgentStatusSchema,
    took_part: z.boolean(),
    /** Why it dropped out or has no part; `null` if it stayed to the end. */
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  })
  .meta({ id: "Participant" });

export const AnswerSummarySchema = z
  .object({
    agent: z.string(),
    label: z.string(),
    revision: z.int(),
    origin: z.enum(["tool", "partial"]),
    /** Whose files go with the answer, as in `answer.submitted`; absent: its author has no files. */
    files: HandedFilesSchema.optional(),
    /** Files of its author's previous answer that are missing and that were not deleted; absent: none. */
    left_out: LeftOutSchema.optional(),
  })
  .meta({ id: "AnswerSummary" });

export const AttemptSchema = z
  .object({
    attempt: z.int(),
    /** All agents of the team, in the config's order. */
    agents: z.array(ParticipantSchema),
    winner: z.string().nullable(),
    label: z.string().nullable(),
    tally: z.record(z.string(), z.int()),
    tie: z.boolean(),
    vote_result: VoteResultSchema.nullable(),
    finish_reason: EndedBySchema.nullable(),
    answers: z.array(AnswerSummarySchema),
    votes: z.array(VoteSchema),
    presentation: z
      .object({
        agent: z.string(),
        label: z.string(),
        source: z.enum(["presentation", "answer", "partial"]),
        fallback: z.string().nullable(),
        /** How many files the presenter had changed when it was cut off; they are handed over. Absent: none. */
        changed_files: z.int().optional(),
      })
      .nullable(),
    restart: z
      .object({ agent: z.string(), reason: z.string(), instructions: z.string() })
      .nullable(),
  })
  .meta({ id: "Attempt" });

export const TurnResponseSchema = TurnSummarySchema.omit({ question_preview: true })
  .extend({
    session_id: z.string(),
    question: z.string(),
    /** Images and files that came with the question; absent: none. */
    attachments: z.array(AttachmentSchema).optional(),
    /** The final answer; null while there is none. */
    answer: z.string().nullable(),
    winner: z.string().nullable(),
    label: z.string().nullable(),
    /** Sources of the final answer, each address once; none where an answer stands in for its presentation. */
    citations: z.array(CitationSchema),
    /** All agents of the team, as the latest attempt left them. */
    agents: z.array(
      ParticipantSchema.extend({ provider: z.string(), model: z.string() }).meta({
        id: "TurnAgent",
      }),
    ),
    /** By agent. */
    hosted_uses: z.record(z.string(), HostedUsesSchema),
    /** Of the latest attempt, voided ones among them. */
    votes: z.array(VoteSchema),
    attempts: z.array(AttemptSchema),
    error: z
      .object({
        code: z.string(),
        message: z.string(),
        agents: z.array(z.object({ agent: z.string(), code: z.string(), message: z.string() })),
      })
      .nullable(),
    /** What a cancelled turn leaves. */
    partial: z
      .object({
        winner: z.string().nullable(),
        answer: z.string().nullable(),
        text: z.string().nullable(),
      })
      .nullable(),
  })
  .meta({ id: "Turn" });
export type TurnResponse = z.infer<typeof TurnResponseSchema>;
