import * as z from "zod";
import { agent, count, inAttempt, label, ofAgent, ofRound, reasonFields } from "./fields";
import { HandedFilesSchema } from "./file";

export const EndedBySchema = z
  .enum(["consensus", "deadline", "budget", "no_agents", "cancelled", "skipped"])
  .describe(
    "Why coordination ended. `consensus`: every remaining agent has a valid vote. `no_agents`: every agent failed or abstained. `skipped`: the config skips coordination",
  );
export type EndedBy = z.infer<typeof EndedBySchema>;

const restartFields = {
  reason: z.string().describe("Why the presenter rejected the final answer"),
  instructions: z.string().describe("What the next attempt should do differently"),
};

/** Events of an attempt, and of agents that drop out of it. */
export const ATTEMPT_EVENTS = [
  z.object({
    type: z.literal("attempt.started"),
    ...inAttempt,
    feedback: z
      .object(restartFields)
      .nullable()
      .describe(
        "Why the previous attempt's final answer was rejected; `null` in the first attempt",
      ),
  }),
  z.object({
    type: z.literal("personas.assigned"),
    ...inAttempt,
    personas: z
      .record(z.string(), z.string())
      .describe("Persona by agent id. Empty if none could be written"),
  }),
  z.object({ type: z.literal("agent.failed"), ...ofAgent, ...reasonFields }),
  z.object({ type: z.literal("agent.abstained"), ...ofAgent, ...reasonFields }),
  z.object({
    type: z.literal("attempt.settled"),
    ...inAttempt,
    winner: agent
      .nullable()
      .describe(
        "Id of the agent whose answer won, or that presents without coordination; `null` if there is none",
      ),
    label: label.nullable().describe("Label of the winning answer; `null` if no answer won"),
    tally: z.record(z.string(), count).describe("Number of counted votes by answer label"),
    tie: z.boolean().describe("Whether several answers had the most votes"),
    ended_by: EndedBySchema,
  }),
  z.object({ type: z.literal("attempt.restarted"), ...ofAgent, ...restartFields }),
] as const;

/** Events of the final text. */
export const PRESENTATION_EVENTS = [
  z.object({
    type: z.literal("presentation.started"),
    ...ofRound,
    label: label.nullable().describe("Label of the winning answer; `null` if no answer won"),
    workspace: z
      .string()
      .nullable()
      .describe(
        "Label of the snapshot that the presenter starts from; `base` for the files at the start of the turn. `null` if it has no workspace",
      ),
  }),
  z.object({
    type: z.literal("presentation.completed"),
    ...ofAgent,
    label: label.describe("Label of the final text, such as `agent2.final`"),
    content: z.string().describe("The final text"),
    source: z
      .enum(["presentation", "answer", "partial"])
      .describe(
        "`presentation`: written by the presenter. `answer`: the winning answer's text. `partial`: the unfinished text of the presenter",
      ),
    fallback: z
      .string()
      .nullable()
      .describe(
        "Stable code of the reason why the presentation failed and another text takes its place; `null` if it did not fail",
      ),
    tools: z
      .array(z.string())
      .describe(
        "Names of the tools that the presenter has run. Their effects remain, even if the text is rejected",
      ),
    snapshot: z
      .string()
      .nullable()
      .optional()
      .describe(
        "Label of the snapshot with the final files. If the presenter changed no file, the winning answer's snapshot, or `base` for the files at the start of the turn. `null` if it has no workspace. Omitted in older logs",
      ),
    files: HandedFilesSchema.optional().describe(
      "Which files belong to the final text. Omitted if the presenter has no workspace, and in older logs",
    ),
    text_file: z
      .string()
      .optional()
      .describe(
        "Path in `snapshot` of the file with the whole text, if `content` holds only its start. Omitted otherwise",
      ),
    changed_files: count
      .optional()
      .describe(
        "Number of files, those of contexts included, that the presenter had changed when it was cut off. They are part of the result. Omitted if it was not cut off",
      ),
  }),
] as const;

/** Purpose of a model call. */
export const PurposeSchema = z
  .enum(["coordination", "presentation", "judgement", "personas", "summary"])
  .describe(
    "`coordination`: a round's work. `presentation`: the final text. `judgement`: the presenter's verdict on it. `personas`: writing the personas. `summary`: the summary of earlier turns",
  );
export type Purpose = z.infer<typeof PurposeSchema>;

/**
 * Limits of a round that are near or reached. The call states these limits to its agent. If a value
 * is 0, the call offers no tools and requests only the decision or the final text.
 */
export const RoundLimitSchema = z.object({
  calls_left: count
    .optional()
    .describe("Number of calls left, this call included. Omitted if the limit is not near"),
  seconds_left: count.optional().describe("Seconds left. Omitted if the limit is not near"),
});
export type RoundLimit = z.infer<typeof RoundLimitSchema>;

/** Events of an agent's rounds. */
export const ROUND_EVENTS = [
  z.object({
    type: z.literal("round.started"),
    ...ofRound,
    purpose: PurposeSchema,
    labels: z.array(label).describe("Labels of the answers shown, in the order shown"),
    cause: z
      .enum(["first", "answered", "failed", "context_full"])
      .describe(
        "Why the round began. `first`: the agent's first round. `answered`: after the agent's own answer. `failed`: the previous round failed. `context_full`: new answers did not fit into the conversation",
      ),
    workspace: z
      .string()
      .nullable()
      .describe(
        "Label of the snapshot that the round starts from; `base` for the files at the start of the turn. `null` if the agent has no workspace",
      ),
    carries: count
      .optional()
      .describe(
        "Number of the failed round whose file changes this round keeps. Omitted if the round starts without changes",
      ),
  }),
  z.object({ type: z.literal("round.failed"), ...ofRound, ...reasonFields }),
  z.object({
    type: z.literal("round.nudged"),
    ...ofRound,
    nudge: count.describe("Number of this nudge in the round, from 1"),
  }),
  z.object({
    type: z.literal("answers.injected"),
    ...ofRound,
    labels: z.array(label).describe("Labels of the answers shown, in the order shown"),
    via: z
      .enum(["tool_result", "message", "reopened"])
      .describe(
        "Where the answers were shown. `tool_result`: with the results of tools. `message`: in a message. `reopened`: to an agent whose vote was voided, in its finished conversation",
      ),
  }),
] as const;
