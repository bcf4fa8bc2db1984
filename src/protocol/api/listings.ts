import { z } from "zod";
import { ATTACHMENT_LIMITS } from "../attachments";
import { TurnStatusSchema } from "./figures";
import { IdSchema } from "./ids";
import { FaultSchema } from "./problem";
import { ConfigObjectSchema } from "./run";
import { WireEventSchema } from "../events";
import { HandedFilesSchema, LeftOutSchema } from "../events/file";

/** Responses beside those of runs: lists, single answers, teams on offer. What goes out may gain fields. */

/** A page of anything; `after=last_id` asks for the next one. */
const listOf = <Item extends z.ZodType, Key extends z.ZodType>(item: Item, key: Key) =>
  z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: key.nullable(),
    last_id: key.nullable(),
    has_more: z.boolean(),
  });

/** A session in a list. How it stands is asked of the session itself. */
export const SessionEntrySchema = z
  .object({
    id: IdSchema,
    created_at: z.number().describe("Unix time in seconds"),
    question_preview: z.string().describe("The start of its first question"),
    links: z.object({ session: z.string(), events: z.string() }),
  })
  .meta({ id: "SessionEntry" });
export const SessionListSchema = listOf(SessionEntrySchema, IdSchema).meta({ id: "SessionList" });
export type SessionList = z.infer<typeof SessionListSchema>;

export const EventListSchema = listOf(WireEventSchema.meta({ id: "Event" }), z.int()).meta({
  id: "EventList",
});
export type EventList = z.infer<typeof EventListSchema>;

export const CancelledSchema = z
  .object({ session_id: IdSchema, turn: z.int().min(1), status: TurnStatusSchema })
  .meta({ id: "Cancelled" });
export type Cancelled = z.infer<typeof CancelledSchema>;

export const AnswerSchema = z
  .object({
    label: z.string(),
    attempt: z.int(),
    agent: z.string(),
    revision: z.int().nullable(),
    content: z.string(),
    origin: z.enum(["tool", "partial", "presentation", "answer"]),
    at: z.number().describe("Unix time in milliseconds"),
    files: z
      .string()
      .nullable()
      .describe("Where the list of its files is; null: its author has none"),
    handed_files: HandedFilesSchema.optional().describe(
      "Whose files go with it, as `files` of its event",
    ),
    left_out: LeftOutSchema.optional().describe(
      "Files of its author's previous answer that it lacks and that were not deleted",
    ),
  })
  .meta({ id: "Answer" });
export type Answer = z.infer<typeof AnswerSchema>;

export const HealthSchema = z
  .object({
    status: z.literal("ok"),
    version: z.string().describe("Of the service's code"),
    deployment: z
      .string()
      .nullable()
      .describe("The platform's id of what is deployed; null where it gives none"),
  })
  .meta({ id: "Health" });

/** What would keep a config from running, or run otherwise than its author may think. */
export const ConfigCheckSchema = z
  .object({
    runnable: z.boolean(),
    errors: z.array(FaultSchema).describe("What is wrong"),
    refusals: z.array(FaultSchema).describe("What is right, but not served here, with the way out"),
    warnings: z.array(FaultSchema).describe("What runs, but not as its author may think"),
  })
  .meta({ id: "ConfigCheck" });
export type ConfigCheck = z.infer<typeof ConfigCheckSchema>;

export const ConfigCheckRequestSchema = z
  .strictObject({
    config: z
      .union([z.string().min(1).max(200), ConfigObjectSchema])
      .optional()
      .describe("The name of a team on offer or of a model, or a team's config as an object"),
    config_yaml: z
      .string()
      .min(1)
      .optional()
      .describe("The same as YAML text: what is found then has line and column"),
    attached: z
      .array(z.string().min(1).max(ATTACHMENT_LIMITS.nameChars))
      .max(ATTACHMENT_LIMITS.count)
      .optional()
      .describe(
        "Names of the images and files that are to come with the question, which a config may name in `upload_files`",
      ),
  })
  .refine(({ config, config_yaml }) => (config === undefined) !== (config_yaml === undefined), {
    message: "takes one of config and config_yaml",
  })
  .meta({ id: "ConfigCheckRequest" });

/** A team on offer. */
export const ConfigEntrySchema = z
  .object({
    name: z.string(),
    title: z.string(),
    agents: z.array(
      z.object({ id: z.string(), type: z.string(), provider: z.string(), model: z.string() }),
    ),
    keys: z
      .array(z.object({ names: z.array(z.string()), set: z.boolean() }))
      .describe(
        "Keys it needs, each by the names it may have, and whether the operator has set one of them",
      ),
    default: z.boolean().describe("Whether it is asked where a run names no team"),
    runnable: z.boolean(),
    missing: z.array(FaultSchema).describe("What keeps it from running here"),
    links: z.object({ config: z.string() }),
  })
  .meta({ id: "ConfigEntry" });
export const ConfigListSchema = listOf(ConfigEntrySchema, z.string()).meta({ id: "ConfigList" });
export type ConfigList = z.infer<typeof ConfigListSchema>;
