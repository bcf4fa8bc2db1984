import { z } from "zod";
import { agent, inAttempt, label, ofAgent, ofRound } from "./fields";
import { HandedFilesSchema, LeftOutSchema } from "./file";

const LabelledVoteSchema = z.object({ agent, label });

/** Events of answers and votes. */
export const ANSWER_EVENTS = [
  z.object({
    type: z.literal("answer.submitted"),
    ...ofAgent,
    label,
    revision: z.number().int(),
    content: z.string(),
    /** `partial`: taken from a reply that was cut, because time, tries or calls ran out. */
    origin: z.enum(["tool", "partial"]),
    /** The call of `new_answer`. Absent: there was none, or the log is from before this field. */
    tool_call: z.string().optional(),
    /**
     * Whose files go with it: by its own label its own; else, as its author changed none, the label of the author's earlier snapshot,
     * or `base` for what the turn began with. null: the agent has no files.
     */
    snapshot: z.string().nullable(),
    /** Absent: the agent has no files, or the log is from before this field. */
    files: HandedFilesSchema.optional(),
    /** How many files stay, if its author changed none. Absent: it did, or the log is from before this field. */
    kept_files: z.number().int().optional(),
    /** Absent: none. */
    left_out: LeftOutSchema.optional(),
  }),
  z.object({
    type: z.literal("answer.refused"),
    ...ofRound,
    tool_call: z.string(),
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    type: z.literal("votes.cleared"),
    ...inAttempt,
    by: label,
    votes: z.array(LabelledVoteSchema),
  }),
  z.object({
    type: z.literal("vote.cast"),
    ...ofRound,
    tool_call: z.string(),
    label,
    revision: z.number().int(),
    reason: z.string(),
  }),
  z.object({
    type: z.literal("vote.stale"),
    ...ofRound,
    tool_call: z.string(),
    label,
    missing: z.array(label),
  }),
  z.object({
    type: z.literal("vote.refused"),
    ...ofRound,
    tool_call: z.string(),
    code: z.string(),
    message: z.string(),
  }),
] as const;
