import * as z from "zod";
import { AttachmentSchema } from "../attachments";
import { EndedBySchema } from "../events";
import { reasonFields } from "../events/fields";
import { HandedFilesSchema, LeftOutSchema } from "../events/file";
import { AgentFailureSchema, PartialResultSchema } from "../events/turn";
import { CitationSchema } from "../hosted-tools";
import { OverridesSchema } from "../turn-team";
import { UsageSchema } from "../usage";
import {
  AgentStatusSchema,
  costFields,
  FinishReasonSchema,
  HostedUsesSchema,
  tokenFields,
  TurnStatusSchema,
  voteResultField,
} from "./figures";
import { seconds } from "./time";

const agentId = z.string().describe("Id of the agent");

export const headField = z
  .int()
  .describe("Number of the head: the turn that the next turn follows unless it names another");

const modelFields = {
  provider: z.string().describe("Type of the backend"),
  model: z.string().describe("Name of the model"),
};

const overridesField = OverridesSchema.optional().describe(
  "Changes of the team that apply to this turn only. Omitted if none",
);

/** How much of the earlier turns the agents read. */
export const HistorySchema = z
  .object({
    summary_through: z
      .int()
      .nullable()
      .describe(
        "Number of the last turn that the agents read only as part of a summary; `null` if there is no summary",
      ),
    summary_turns: z
      .int()
      .describe("Number of turns that this turn has summarised; 0 if it wrote no summary"),
    written_by: z
      .string()
      .nullable()
      .describe("Id of the agent that wrote a summary in this turn; `null` if none did"),
    cut: z
      .object(reasonFields)
      .nullable()
      .describe(
        "Why a summary was not written, so that the oldest texts are cut in their middle; `null` if no summary failed",
      ),
  })
  .meta({ id: "TurnHistory" });

export const TurnSummarySchema = z
  .object({
    turn: z.int().describe("Number of the turn, from 1"),
    parent_turn: z
      .int()
      .nullable()
      .describe(
        "Number of the turn that this one follows; `null` for the first turn, and for its repetitions",
      ),
    kind: z
      .literal("compact")
      .optional()
      .describe(
        "`compact`: the turn only summarised the conversation until then. Omitted: a question",
      ),
    status: TurnStatusSchema,
    history: HistorySchema.optional().describe(
      "How much of the earlier turns the agents read. Omitted: all of it in full",
    ),
    question_preview: z.string().describe("Start of the question"),
    team: z
      .array(z.object({ agent: agentId, ...modelFields }).meta({ id: "TeamMember" }))
      .describe("The agents that take part in the turn, in the order of the config"),
    overrides: overridesField,
    started_at: seconds.describe("Time of the start in Unix seconds"),
    ended_at: seconds
      .nullable()
      .describe("Time of the end in Unix seconds; `null` while the turn is running"),
    finish_reason: FinishReasonSchema,
    usage: UsageSchema.describe("Tokens of the turn, as providers reported them"),
    ...tokenFields,
    ...costFields,
    unreported_cost_usd: z
      .number()
      .nullable()
      .describe(
        "Part of the cost in US dollars that calls without a usage report had reserved: the maximum that they can have cost. `null` if the price of any of them is unknown",
      ),
  })
  .meta({ id: "TurnSummary" });
export type TurnSummary = z.infer<typeof TurnSummarySchema>;

export const VoteSchema = z
  .object({
    agent: z.string().describe("Id of the voter"),
    label: z.string().describe("Label of the answer that the vote is for"),
    voted_for_agent: z.string().describe("Id of the author of that answer"),
    reason: z.string().describe("The reason that the voter gave"),
    valid: z.boolean().describe("Whether the vote still counts"),
    voided_by: z
      .string()
      .nullable()
      .describe(
        "Label of the new answer that voided the vote; `null` if it is valid, or if the voter voted again",
      ),
  })
  .meta({ id: "Vote" });

/** An agent in an attempt. */
export const ParticipantSchema = z
  .object({
    agent: agentId,
    status: AgentStatusSchema,
    took_part: z
      .boolean()
      .describe(
        "Whether the agent has an accepted answer or a valid vote in the attempt; without coordination, whether it presents",
      ),
    error: z
      .object(reasonFields)
      .nullable()
      .describe("Why the agent dropped out or did not take part; `null` if it stayed to the end"),
  })
  .meta({ id: "Participant" });

export const AnswerSummarySchema = z
  .object({
    agent: z.string().describe("Id of the author"),
    label: z.string().describe("Label of the answer"),
    revision: z.int().describe("Number of the answer in the attempt, over all agents, from 1"),
    origin: z
      .enum(["tool", "partial"])
      .describe("`tool`: a call of `new_answer`. `partial`: text of a reply that was cut"),
    files: HandedFilesSchema.optional().describe(
      "Which files belong to the answer, as in `answer.submitted`. Omitted if its author has no workspace",
    ),
    left_out: LeftOutSchema.optional().describe(
      "Files of the author's previous answer that this answer lacks and that were not deleted. Omitted if none",
    ),
  })
  .meta({ id: "AnswerSummary" });

export const AttemptSchema = z
  .object({
    attempt: z.int().describe("Number of the attempt in the turn, from 1"),
    agents: z
      .array(ParticipantSchema)
      .describe("All agents of the team, in the order of the config"),
    winner: z
      .string()
      .nullable()
      .describe(
        "Id of the agent whose answer won, or that presents without coordination; `null` before the attempt is settled, or if there is none",
      ),
    label: z
      .string()
      .nullable()
      .describe(
        "Label of the winning answer; `null` before the attempt is settled, or if no answer won",
      ),
    tally: z.record(z.string(), z.int()).describe("Number of counted votes by answer label"),
    tie: z.boolean().describe("Whether several answers had the most votes"),
    vote_result: voteResultField,
    finish_reason: EndedBySchema.nullable().describe(
      "Why coordination ended; `null` before the attempt is settled",
    ),
    answers: z.array(AnswerSummarySchema).describe("All answers, in order, without their texts"),
    votes: z.array(VoteSchema).describe("All votes, in order, voided ones included"),
    presentation: z
      .object({
        agent: z.string().describe("Id of the presenter"),
        label: z.string().describe("Label of the final text"),
        source: z
          .enum(["presentation", "answer", "partial"])
          .describe(
            "`presentation`: written by the presenter. `answer`: the winning answer's text. `partial`: the unfinished text of the presenter",
          ),
        fallback: z
          .string()
          .nullable()
          .describe(
            "Stable code of the reason why the presentation failed; `null` if it did not fail",
          ),
        changed_files: z
          .int()
          .optional()
          .describe(
            "Number of files that the presenter had changed when it was cut off; they are part of the result. Omitted if it was not cut off",
          ),
      })
      .nullable()
      .describe("The final text, without its content; `null` if there is none yet"),
    restart: z
      .object({
        agent: z.string().describe("Id of the presenter"),
        reason: z.string().describe("Why the presenter rejected the final answer"),
        instructions: z.string().describe("What the next attempt should do differently"),
      })
      .nullable()
      .describe("Why another attempt follows; `null` if none does"),
  })
  .meta({ id: "Attempt" });

export const TurnResponseSchema = TurnSummarySchema.omit({ question_preview: true, team: true })
  .extend({
    session_id: z.string().describe("Id of the session"),
    question: z.string().describe("The user's text"),
    attachments: z
      .array(AttachmentSchema)
      .optional()
      .describe("Images and files of the question. Omitted if none"),
    summary: z
      .string()
      .optional()
      .describe("The summary of earlier turns that this turn wrote. Omitted if it wrote none"),
    answer: z.string().nullable().describe("The final answer; `null` if there is none"),
    winner: z
      .string()
      .nullable()
      .describe(
        "Id of the agent whose answer won, or that presents without coordination; `null` if undecided",
      ),
    label: z
      .string()
      .nullable()
      .describe("Label of the final text, such as `agent2.final`; `null` if there is none"),
    citations: z
      .array(CitationSchema)
      .describe(
        "Sources of the final answer, each address once. Empty if the presenter did not write it",
      ),
    agents: z
      .array(ParticipantSchema.extend(modelFields).meta({ id: "TurnAgent" }))
      .describe("All agents that take part in the turn, as of the latest attempt"),
    hosted_uses: z
      .record(z.string(), HostedUsesSchema)
      .describe("Number of uses of hosted tools, by agent id and tool"),
    votes: z.array(VoteSchema).describe("Votes of the latest attempt, voided ones included"),
    attempts: z.array(AttemptSchema).describe("All attempts, the first one first"),
    error: z
      .object({
        ...reasonFields,
        agents: z.array(AgentFailureSchema).describe("The reason for each agent"),
      })
      .nullable()
      .describe("Why the turn failed; `null` if it did not fail"),
    partial: PartialResultSchema.nullable().describe(
      "The leading answer and the unfinished text of a cancelled turn; `null` for other turns",
    ),
  })
  .meta({ id: "Turn" });
export type TurnResponse = z.infer<typeof TurnResponseSchema>;
