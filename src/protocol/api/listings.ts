import * as z from "zod";
import { ATTACHMENT_LIMITS } from "../attachments";
import { TurnStatusSchema } from "./figures";
import { IdSchema } from "./ids";
import { listOf } from "./listing";
import { FaultSchema } from "./problem";
import { ConfigObjectSchema } from "./run";
import { WireEventSchema } from "../events";
import { HandedFilesSchema, LeftOutSchema } from "../events/file";
import { seconds } from "./time";
import { headField, TurnSummarySchema } from "./turn";

/**
 * Responses with lists, single answers, included teams and checks of configs. Later versions may
 * add fields.
 */

/** A session in a list. The session's status needs a separate request. */
export const SessionEntrySchema = z
  .object({
    id: IdSchema.describe("Id of the session"),
    created_at: seconds.describe("Time of creation in Unix seconds"),
    question_preview: z.string().describe("Start of the first question"),
    links: z
      .object({
        session: z.string().describe("Path of the session's status"),
        events: z.string().describe("Path of the session's events"),
      })
      .describe("Paths on the same host"),
  })
  .meta({ id: "SessionEntry" });
export const SessionListSchema = listOf(SessionEntrySchema, IdSchema).meta({ id: "SessionList" });
export type SessionList = z.infer<typeof SessionListSchema>;

export const EventListSchema = listOf(WireEventSchema.meta({ id: "Event" }), z.int()).meta({
  id: "EventList",
});
export type EventList = z.infer<typeof EventListSchema>;

export const TurnListSchema = listOf(TurnSummarySchema, z.int())
  .extend({ head: headField })
  .meta({ id: "TurnList" });
export type TurnList = z.infer<typeof TurnListSchema>;

export const HeadRequestSchema = z
  .strictObject({ turn: z.int().min(1).describe("Number of the turn that becomes the head") })
  .meta({ id: "HeadRequest" });
export const HeadSchema = z
  .object({ session_id: IdSchema.describe("Id of the session"), head: headField })
  .meta({ id: "Head" });
export type Head = z.infer<typeof HeadSchema>;

export const CancelledSchema = z
  .object({
    session_id: IdSchema.describe("Id of the session"),
    turn: z.int().min(1).describe("Number of the latest turn, from 1"),
    status: TurnStatusSchema,
  })
  .meta({ id: "Cancelled" });
export type CancelledTurn = z.infer<typeof CancelledSchema>;

export const AnswerSchema = z
  .object({
    label: z.string().describe("Label of the answer or of the final text"),
    attempt: z.int().describe("Number of the attempt in the turn, from 1"),
    agent: z.string().describe("Id of the author"),
    revision: z
      .int()
      .nullable()
      .describe("Number of the answer in the attempt, over all agents; `null` for a final text"),
    content: z.string().describe("The whole text"),
    origin: z
      .enum(["tool", "partial", "presentation", "answer"])
      .describe(
        "`tool`: a call of `new_answer`. `partial`: text of a reply that was cut. `presentation`: the final text as the presenter wrote it. `answer`: the winning answer's text in place of a final text",
      ),
    at: z.number().describe("Unix time in milliseconds"),
    files: z
      .string()
      .nullable()
      .describe("Path of the list of files; `null` if the author has no workspace"),
    handed_files: HandedFilesSchema.optional().describe(
      "Which files belong to the text, as in `files` of its event. Omitted if unknown",
    ),
    left_out: LeftOutSchema.optional().describe(
      "Files of the author's previous answer that this answer lacks and that were not deleted. Omitted if none",
    ),
  })
  .meta({ id: "Answer" });
export type Answer = z.infer<typeof AnswerSchema>;

const agentsOfTeam = z.array(
  z.object({
    id: z.string().describe("Id of the agent in the config"),
    type: z.string().describe("Type of the backend"),
    provider: z.string().describe("Name of the provider"),
    model: z.string().describe("Name of the model"),
  }),
);

/** Result of a check of a config. */
export const ConfigCheckSchema = z
  .object({
    runnable: z.boolean().describe("Whether the config can run on this service"),
    errors: z.array(FaultSchema).describe("Errors of the config"),
    refusals: z
      .array(FaultSchema)
      .describe("Valid settings that are not supported here, each with a remedy"),
    warnings: z
      .array(FaultSchema)
      .describe("Settings that have no effect, or another effect than expected"),
    agents: agentsOfTeam
      .optional()
      .describe("The agents of the team. Omitted if the config cannot run"),
  })
  .meta({ id: "ConfigCheck" });
export type ConfigCheck = z.infer<typeof ConfigCheckSchema>;

export const ConfigCheckRequestSchema = z
  .strictObject({
    config: z
      .union([z.string().min(1).max(200), ConfigObjectSchema])
      .optional()
      .describe(
        "Name of an included team or of a model, or a team's config as an object. Required unless `config_yaml` is given",
      ),
    config_yaml: z
      .string()
      .min(1)
      .optional()
      .describe(
        "A team's config as YAML text; findings then have line and column. Replaces `config`",
      ),
    attached: z
      .array(z.string().min(1).max(ATTACHMENT_LIMITS.nameChars))
      .max(ATTACHMENT_LIMITS.count)
      .optional()
      .describe(
        "Names of the question's images and files, to which `upload_files` of a config can refer. Omitted: none",
      ),
  })
  .refine(({ config, config_yaml }) => (config === undefined) !== (config_yaml === undefined), {
    message: "takes one of config and config_yaml",
  })
  .meta({ id: "ConfigCheckRequest" });

/** An included team. */
export const ConfigEntrySchema = z
  .object({
    name: z.string().describe("Name of the team"),
    title: z.string().describe("Description of the team, for people"),
    agents: agentsOfTeam.describe("The agents of the team"),
    keys: z
      .array(
        z.object({
          names: z.array(z.string()).describe("Names of the settings that can hold the key"),
          set: z.boolean().describe("Whether the operator has set one of them"),
        }),
      )
      .describe("Provider keys that the team needs"),
    default: z.boolean().describe("Whether the team is used for a run that names no team"),
    runnable: z.boolean().describe("Whether the team can run on this service"),
    missing: z.array(FaultSchema).describe("Why the team cannot run here. Empty if it can"),
    links: z
      .object({ config: z.string().describe("Path of the team's config as YAML") })
      .describe("Paths on the same host"),
  })
  .meta({ id: "ConfigEntry" });
export const ConfigListSchema = listOf(ConfigEntrySchema, z.string()).meta({ id: "ConfigList" });
export type ConfigList = z.infer<typeof ConfigListSchema>;
