import * as z from "zod";
import { EndedBySchema } from "../events";
import { HostedToolNameSchema } from "../hosted-tools";

/** Schemas and fields that several responses share. */

export const TurnStatusSchema = z
  .enum(["running", "completed", "failed", "cancelled"])
  .describe("Status of the turn");

export const FinishReasonSchema = z
  .enum([...EndedBySchema.options, "error", "in_progress"])
  .describe(
    "Why the turn ended; `in_progress` while it runs, `error` if it failed. `consensus`: every agent that did not drop out has voted; `vote_result` shows whether they agree",
  );

export const AgentStatusSchema = z
  .enum([
    "waiting",
    "streaming",
    "answered",
    "voted",
    "restarting",
    "error",
    "timeout",
    "completed",
  ])
  .describe(
    "Status of the agent. `error`: it failed, or the attempt or the turn ended before it took part. `timeout`: it reached a time limit",
  );

export const HostedUsesSchema = z
  .partialRecord(HostedToolNameSchema, z.int().describe("Number of uses. Omitted: 0"))
  .describe("Number of uses by hosted tool; unused tools are omitted");

/** How clearly the winning answer won. */
const VoteResultSchema = z
  .object({
    votes: z.int().describe("Number of votes for the winning answer"),
    of: z.int().describe("Number of counted votes"),
    voters: z.array(z.string()).describe("Ids of the agents whose vote was counted"),
    unanimous: z
      .boolean()
      .describe(
        "Whether every agent of the team voted for the winning answer. `finish_reason` is `consensus` also if votes differ",
      ),
  })
  .meta({ id: "VoteResult" });
// A union, because a nullable schema would lose its name in the OpenAPI document.
export const voteResultField = z
  .union([VoteResultSchema, z.null()])
  .describe(
    "How clearly the winning answer won; `null` before the attempt is settled, or if no answer won",
  );

export const tokenFields = {
  tokens: z
    .int()
    .describe("Input and output tokens: sum of `reported_tokens` and `reserved_tokens`"),
  reported_tokens: z.int().describe("Tokens that providers reported"),
  reserved_tokens: z
    .int()
    .describe(
      "Tokens reserved by calls without a usage report: the maximum that they can have used",
    ),
};

export const costFields = {
  cost_usd: z
    .number()
    .nullable()
    .describe("Cost in US dollars; `null` if the price of any part is unknown"),
  cost_usd_known: z.number().describe("Cost in US dollars of the parts with a known price"),
};
