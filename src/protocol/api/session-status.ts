import * as z from "zod";
import { InputRequiredSchema } from "../events/tool";
import { UsageSchema } from "../usage";
import {
  AgentStatusSchema,
  costFields,
  FinishReasonSchema,
  HostedUsesSchema,
  tokenFields,
  voteResultField,
} from "./figures";
import { QueueSchema } from "./queue";
import { headField, TurnSummarySchema } from "./turn";
import { seconds } from "./time";

const PhaseSchema = z
  .enum(["initial_answer", "enforcement", "presentation", "done"])
  .describe(
    "Phase of the turn. `initial_answer`: first answers. `enforcement`: voting and improved answers. `presentation`: the final text",
  );

export const AgentStateSchema = z
  .object({
    status: AgentStatusSchema,
    answer_count: z.int().describe("Number of answers in the latest attempt"),
    latest_answer_label: z
      .string()
      .nullable()
      .describe("Label of the latest answer; `null` if the agent has not answered"),
    left_out: z
      .int()
      .describe(
        "Number of files of the previous answer that the latest answer lacks; see `left_out` of `answer.submitted`",
      ),
    vote_cast: z
      .object({
        voted_for_agent: z.string().describe("Id of the agent whose answer the vote is for"),
        voted_for_label: z.string().describe("Label of the answer that the vote is for"),
        reason_preview: z.string().describe("Start of the reason"),
      })
      .nullable()
      .describe("The vote that counts now; `null` if there is none"),
    times_restarted: z
      .int()
      .describe("Number of times that the agent was shown newer answers or began another round"),
    last_activity: seconds.describe("Time of the agent's latest event in Unix seconds"),
    error: z
      .object({
        type: z.string().describe("Stable code of the error"),
        message: z.string().describe("The error, for people"),
        timestamp: seconds.describe("Time of the error in Unix seconds"),
      })
      .nullable()
      .describe("The latest error; `null` if there is none"),
    input_required: InputRequiredSchema.extend({
      tool: z.string().describe("Name of the tool"),
      timestamp: seconds.describe("Time of the request in Unix seconds"),
    })
      .nullable()
      .describe(
        "Latest request of one of the agent's tool servers for input by a person; the service does not answer it. `null` if there is none",
      ),
    provider: z.string().describe("Type of the backend; empty until known"),
    model: z.string().describe("Name of the model; empty until known"),
    round: z.int().describe("Number of the agent's round, from 1; 0 before the first"),
    stale_votes: z
      .int()
      .describe("Number of votes that did not count, because the voter had not seen newer answers"),
    ...tokenFields,
    ...costFields,
    hosted_uses: HostedUsesSchema,
  })
  .meta({ id: "AgentState" });

/**
 * Status of a session: the fields of MassGen's `status.json` for the latest turn, plus the turns,
 * usage and cost of the session.
 */
export const SessionStatusSchema = z
  .object({
    meta: z
      .object({
        session_id: z.string().describe("Id of the session"),
        turn: z.int().describe("Number of the latest turn, from 1"),
        question: z.string().describe("Question of the latest turn"),
        start_time: seconds.describe("Start of the latest turn in Unix seconds"),
        last_updated: seconds.describe("Time of the latest event in Unix seconds"),
        elapsed_seconds: z.number().describe("Duration of the latest turn so far in seconds"),
        last_sequence: z.int().describe("Number of the latest event"),
      })
      .describe("The session and its latest turn"),
    coordination: z
      .object({
        phase: PhaseSchema,
        attempt: z.int().describe("Number of the latest attempt, from 1"),
        active_agent: z
          .string()
          .nullable()
          .describe("Id of the first agent that is streaming; `null` if none is"),
        completion_percentage: z
          .int()
          .describe("Rough progress from 0 to 100: answers and votes are half each"),
        is_final_presentation: z.boolean().describe("Whether the phase is `presentation`"),
      })
      .describe("Progress of the latest turn"),
    agents: z
      .record(z.string(), AgentStateSchema)
      .describe("State of each agent in the latest attempt, by agent id"),
    results: z
      .object({
        votes: z
          .record(z.string(), z.int())
          .describe("Number of counted votes by answer label, in the latest attempt"),
        vote_result: voteResultField,
        winner: z
          .string()
          .nullable()
          .describe(
            "Id of the agent whose answer won, or that presents without coordination; `null` if undecided",
          ),
        final_answer_preview: z
          .string()
          .nullable()
          .describe("Start of the final answer; `null` if there is none"),
        finish_reason: FinishReasonSchema,
      })
      .describe("Results of the latest turn"),
    turns: z.array(TurnSummarySchema).describe("All turns, the first one first"),
    head: headField,
    queue: QueueSchema.omit({ session_id: true })
      .optional()
      .describe("Requests that wait for their turns. Omitted if none"),
    usage: UsageSchema.describe("Tokens of all turns, as providers reported them"),
    ...tokenFields,
    ...costFields,
  })
  .meta({ id: "SessionStatus" });
export type SessionStatus = z.infer<typeof SessionStatusSchema>;
