import { z } from "zod";
import { EndedBySchema } from "../events";
import { HostedToolNameSchema } from "../hosted-tools";

/** Fields that the status of a session and its turns share. */

export const seconds = z.number().describe("Unix time in seconds");

export const TurnStatusSchema = z.enum(["running", "completed", "failed", "cancelled"]);

export const FinishReasonSchema = z
  .enum([...EndedBySchema.options, "error", "in_progress"])
  .describe(
    "`in_progress` while the turn runs, `error` if it failed. `consensus`: every agent that did not drop out has voted; `vote_result` says whether they agree",
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
    "`error`: it failed, or the attempt ended or the turn was cancelled before it took part. `timeout`: time ran out first",
  );

/** How often tools that the provider runs were used, by tool; those never used are left out. */
export const HostedUsesSchema = z.partialRecord(HostedToolNameSchema, z.int());

/** How far the winning answer won. `null` before the attempt is settled and where no answer won. */
export const VoteResultSchema = z
  .object({
    /** Votes for the winning answer. */
    votes: z.int(),
    /** All votes that were counted. */
    of: z.int(),
    /** Agents whose vote was counted. */
    voters: z.array(z.string()),
    /** Whether every agent of the team voted, all for the winning answer. `finish_reason` is `consensus` also where they disagree. */
    unanimous: z.boolean(),
  })
  .meta({ id: "VoteResult" });

export const tokenFields = {
  tokens: z.int().describe("Input and output: `reported_tokens` and `reserved_tokens` together"),
  reported_tokens: z.int().describe("As providers reported them"),
  reserved_tokens: z
    .int()
    .describe(
      "Of calls that reported no usage: what they had reserved, the most they can have taken",
    ),
};

export const costFields = {
  cost_usd: z.number().nullable().describe("null if any part has no known price"),
  cost_usd_known: z.number().describe("The sum of the parts with a known price"),
};
