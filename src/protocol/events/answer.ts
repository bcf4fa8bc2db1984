import * as z from "zod";
import { agent, count, inAttempt, label, ofAgent, ofRound, reasonFields } from "./fields";
import { HandedFilesSchema, LeftOutSchema } from "./file";

const LabelledVoteSchema = z.object({
  agent: agent.describe("Id of the voter"),
  label: label.describe("Label of the answer that the vote was for"),
});
const tool_call = z.string().describe("Id of the tool call with the decision");

/** Events of answers and votes. */
export const ANSWER_EVENTS = [
  z.object({
    type: z.literal("answer.submitted"),
    ...ofAgent,
    label,
    revision: count.describe("Number of the answer in the attempt, over all agents, from 1"),
    content: z.string().describe("Text of the answer"),
    origin: z
      .enum(["tool", "partial"])
      .describe(
        "`tool`: a call of `new_answer`. `partial`: text of a reply that was cut, because time, tries or calls ran out",
      ),
    tool_call: z
      .string()
      .optional()
      .describe("Id of the `new_answer` call. Omitted for a partial answer and in older logs"),
    snapshot: z
      .string()
      .nullable()
      .describe(
        "Label of the snapshot with the answer's files. If the author changed no file, the label of its earlier snapshot, or `base` for the files at the start of the turn. `null` if the agent has no workspace",
      ),
    files: HandedFilesSchema.optional().describe(
      "Which files belong to the answer. Omitted if the agent has no workspace, and in older logs",
    ),
    kept_files: count
      .optional()
      .describe(
        "Number of earlier files that stay, if the author changed none. Omitted otherwise, and in older logs",
      ),
    left_out: LeftOutSchema.optional().describe(
      "Files of the author's previous answer that this answer lacks and that were not deleted. Omitted if none",
    ),
  }),
  z.object({ type: z.literal("answer.refused"), ...ofRound, tool_call, ...reasonFields }),
  z.object({
    type: z.literal("votes.cleared"),
    ...inAttempt,
    by: label.describe("Label of the new answer that voids the votes"),
    votes: z.array(LabelledVoteSchema).describe("The votes that no longer count"),
  }),
  z.object({
    type: z.literal("vote.cast"),
    ...ofRound,
    tool_call,
    label,
    revision: count.describe("Number of the answer in the attempt, over all agents"),
    reason: z.string().describe("The reason that the agent gave"),
  }),
  z.object({
    type: z.literal("vote.stale"),
    ...ofRound,
    tool_call,
    label,
    missing: z.array(label).describe("Labels of the answers that the voter had not seen"),
  }),
  z.object({ type: z.literal("vote.refused"), ...ofRound, tool_call, ...reasonFields }),
] as const;
