import { z } from "zod";
import { agent, inAttempt, label, ofAgent, ofRound } from "./fields";
import { HandedFilesSchema } from "./file";

export const EndedBySchema = z.enum([
  "consensus",
  "deadline",
  "budget",
  "no_agents",
  "cancelled",
  "skipped",
]);
export type EndedBy = z.infer<typeof EndedBySchema>;

/** Events of an attempt and of its agents' part in it. */
export const ATTEMPT_EVENTS = [
  z.object({
    type: z.literal("attempt.started"),
    ...inAttempt,
    /** Why the previous attempt's final answer was rejected; null in the first attempt. */
    feedback: z.object({ reason: z.string(), instructions: z.string() }).nullable(),
  }),
  z.object({
    type: z.literal("personas.assigned"),
    ...inAttempt,
    personas: z.record(z.string(), z.string()),
  }),
  z.object({ type: z.literal("agent.failed"), ...ofAgent, code: z.string(), message: z.string() }),
  z.object({
    type: z.literal("agent.abstained"),
    ...ofAgent,
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    type: z.literal("attempt.settled"),
    ...inAttempt,
    winner: agent.nullable(),
    label: label.nullable(),
    tally: z.record(z.string(), z.number().int()),
    tie: z.boolean(),
    ended_by: EndedBySchema,
  }),
  z.object({
    type: z.literal("attempt.restarted"),
    ...ofAgent,
    reason: z.string(),
    instructions: z.string(),
  }),
] as const;

/** Events of the final text. */
export const PRESENTATION_EVENTS = [
  z.object({
    type: z.literal("presentation.started"),
    ...ofRound,
    label: label.nullable(),
    workspace: z.string().nullable(),
  }),
  z.object({
    type: z.literal("presentation.completed"),
    ...ofAgent,
    label,
    content: z.string(),
    source: z.enum(["presentation", "answer", "partial"]),
    /** Why it is not the presenter's own text; null if it is. */
    fallback: z.string().nullable(),
    /** Tools the presenter executed, which a fallen or rejected presentation cannot take back. */
    tools: z.array(z.string()),
    /**
     * Whose files go with it: by its own label its own; else what the presenter began with, as it changed none: the label of the
     * winning answer's snapshot, or `base` for what the turn began with. null: the presenter has no files; absent: not told.
     */
    snapshot: z.string().nullable().optional(),
    /** Absent: the presenter has no files, or the log is from before this field. */
    files: HandedFilesSchema.optional(),
    /** The file of `snapshot` that holds the whole text, of which `content` is only the beginning. Absent: there is none. */
    text_file: z.string().optional(),
    /** How many files, those of contexts too, its presenter had changed when it was cut off; they go with it. Absent: none. */
    changed_files: z.number().int().optional(),
  }),
] as const;

/** What a call is for: a round's work, the final text, the presenter's verdict on it, or writing the personas. */
export const PurposeSchema = z.enum(["coordination", "presentation", "judgement", "personas"]);
export type Purpose = z.infer<typeof PurposeSchema>;

/**
 * A round's limits that are near or reached, as a call says so to its agent: calls left, this one included, and seconds left. At 0
 * the call offers no tools and asks for the decision, or the final text, alone.
 */
export const RoundLimitSchema = z.object({
  calls_left: z.number().int().optional(),
  seconds_left: z.number().int().optional(),
});
export type RoundLimit = z.infer<typeof RoundLimitSchema>;

/** Events of an agent's rounds. */
export const ROUND_EVENTS = [
  z.object({
    type: z.literal("round.started"),
    ...ofRound,
    purpose: PurposeSchema,
    /** The answers shown, in the order shown. */
    labels: z.array(label),
    cause: z.enum(["first", "answered", "failed", "context_full"]),
    /** The tree the round starts from; a presenter starts from its winning snapshot, null where agents have no files. */
    workspace: z.string().nullable(),
    /** The failed round whose file changes this one keeps; absent: the round starts without changes. */
    carries: z.number().int().optional(),
  }),
  z.object({ type: z.literal("round.failed"), ...ofRound, code: z.string(), message: z.string() }),
  z.object({ type: z.literal("round.nudged"), ...ofRound, nudge: z.number().int() }),
  z.object({
    type: z.literal("answers.injected"),
    ...ofRound,
    labels: z.array(label),
    via: z.enum(["tool_result", "message", "reopened"]),
  }),
] as const;
