import * as z from "zod";
import { ATTACHMENT_LIMITS, MOST_PARTS, QuestionPartSchema, textOfParts } from "../attachments";
import { ConflictSideSchema, GrantedContextsSchema } from "./contexts";
import { TurnStatusSchema } from "./figures";
import { IdSchema } from "./ids";
import { warningsField } from "./problem";
import { OverridesRequestSchema } from "./overrides";
import { OnBusySchema, QueuedResponseSchema } from "./queue";

export const MAX_QUESTION_CHARS = 200_000;

export const QuestionSchema = z
  .string()
  .min(1, { error: "is empty", abort: true })
  .max(MAX_QUESTION_CHARS, `is over ${MAX_QUESTION_CHARS} characters`)
  .refine((text) => text.trim() !== "", "is blank")
  .refine((text) => text.isWellFormed(), "is not well-formed Unicode");

/** A question as text, or as a list of parts. At least one of the parts is text. */
const QuestionInputSchema = z.union([
  QuestionSchema,
  z
    .array(QuestionPartSchema)
    .min(1, "is empty")
    .max(MOST_PARTS, `has over ${MOST_PARTS} parts`)
    .superRefine((parts, context) => {
      const text = QuestionSchema.safeParse(textOfParts(parts));
      if (!text.success)
        context.addIssue(
          `${text.error.issues[0]?.message ?? "is no question"}: its text parts are the question`,
        );
      const attached = parts.filter(({ type }) => type !== "text").length;
      if (attached > ATTACHMENT_LIMITS.count)
        context.addIssue(`has over ${ATTACHMENT_LIMITS.count} images and files`);
    }),
]);
export type AskedQuestion = z.infer<typeof QuestionInputSchema>;

/** The text of a question, without its attachments. */
export const textOfQuestion = (asked: AskedQuestion): string =>
  typeof asked === "string" ? asked : textOfParts(asked);

/** These limits are far above the cost of any run, and small enough that sums stay exact. */
const MAX_BUDGET_USD = 1_000_000;
const MAX_BUDGET_TOKENS = 1_000_000_000_000;
const MAX_TIMEOUT_SECONDS = 86_400;

const BudgetRequestSchema = z.strictObject({
  max_cost_usd: z
    .number()
    .min(0)
    .max(MAX_BUDGET_USD)
    .optional()
    .describe("Maximum cost of the turn in US dollars. Omitted: no limit"),
  max_tokens: z
    .int()
    .min(0)
    .max(MAX_BUDGET_TOKENS)
    .optional()
    .describe("Maximum number of tokens of the turn, input plus output. Omitted: no limit"),
});

const question = QuestionInputSchema.describe(
  "The question as text, or as parts with images and files",
);
const limitFields = {
  budget: BudgetRequestSchema.optional().describe(
    "Limits of what the turn may spend. A budget below the cheapest first call is refused. Omitted: no limit",
  ),
  timeout_seconds: z
    .number()
    .min(1)
    .max(MAX_TIMEOUT_SECONDS)
    .optional()
    .describe(
      "Time limit of the turn in seconds. Omitted: `orchestrator_timeout_seconds` of the config",
    ),
};

const contextFields = {
  contexts: GrantedContextsSchema.optional().describe(
    "Contexts for all agents, in addition to those of the config; every agent gets a workspace. They hold for later turns of the branch, until a turn has this field again. Omitted: the grants of the parent turn",
  ),
  context_conflicts: ConflictSideSchema.optional().describe(
    "Side that wins where both the parent turn and a newer version changed a file. Omitted: such a file refuses the turn with `context_conflicts`",
  ),
};

/**
 * A config as an object. `z.custom` keeps the parsed object itself. Other schemas copy it key by
 * key and lose the key `__proto__`, which the check of the config must see and refuse.
 */
export const ConfigObjectSchema = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    {
      message: "Invalid input: expected an object",
    },
  )
  .meta({ type: "object", additionalProperties: {} });

/** The fields of a team. `omitted`: the team if neither is given. */
const teamFields = (omitted: string) => ({
  config: z
    .union([z.string().min(1).max(200), ConfigObjectSchema])
    .optional()
    .describe(
      `Name of an included team or of a model, or a team's config as an object. Omitted: \`config_yaml\`, or else ${omitted}`,
    ),
  // `config/source.ts` checks the length.
  config_yaml: z
    .string()
    .min(1)
    .optional()
    .describe("A team's config as YAML text; errors then have line and column. Replaces `config`"),
  overrides: OverridesRequestSchema.optional().describe(
    "Changes of the team for this turn only. The turns that continue it use the team without them. Omitted: none",
  ),
});

/** Whether at most one field names a team. */
const isOneTeam = ({ config, config_yaml }: { config?: unknown; config_yaml?: unknown }) =>
  config === undefined || config_yaml === undefined;
const TWO_TEAMS = { path: ["config_yaml"], message: "cannot be given together with config" };

export const RunRequestSchema = z
  .strictObject({
    ...teamFields("the default team"),
    question,
    ...limitFields,
    ...contextFields,
  })
  .refine(isOneTeam, TWO_TEAMS)
  .meta({ id: "RunRequest" });
export type RunRequest = z.infer<typeof RunRequestSchema>;

export const CompactRequestSchema = z.strictObject(limitFields).meta({ id: "CompactRequest" });
export type CompactRequest = z.infer<typeof CompactRequestSchema>;

/** Fields that a repeated turn takes from the turn that it repeats. */
const REPEATED_FIELDS = [
  "question",
  "parent_turn",
  "contexts",
  "config",
  "config_yaml",
  "overrides",
] as const;

export const TurnRequestSchema = z
  .strictObject({
    question: question.optional(),
    repeat_turn: z
      .int()
      .min(1)
      .optional()
      .describe(
        "Number of a turn whose question is asked again: with the same attachments, contexts, team and overrides, after the same turn. Only limits, `context_conflicts` and `repeat_turn` may be given then",
      ),
    parent_turn: z
      .int()
      .min(1)
      .optional()
      .describe("Number of the turn that this one follows. Omitted: the head of the session"),
    ...teamFields("the team of the parent turn"),
    on_busy: OnBusySchema.optional().describe(
      "What happens if the session is busy: a turn runs, or requests wait for their turns. `reject` (default): the request is refused. `queue`: it waits for its turn. `interrupt`: the running turn is cancelled, and this one runs before those that wait",
    ),
    ...limitFields,
    ...contextFields,
  })
  .superRefine((request, { addIssue }) => {
    if (request.repeat_turn === undefined) {
      if (request.question === undefined)
        addIssue({ code: "custom", path: ["question"], message: "is required" });
      return;
    }
    for (const field of REPEATED_FIELDS)
      if (request[field] !== undefined)
        addIssue({
          code: "custom",
          path: [field],
          message: "cannot be given together with repeat_turn",
        });
  })
  .refine(isOneTeam, TWO_TEAMS)
  .meta({ id: "TurnRequest" });
export type TurnRequest = z.infer<typeof TurnRequestSchema>;

const LinksSchema = z
  .object({
    session: z.string().describe("Path of the session's status"),
    turn: z.string().describe("Path of the turn"),
    events: z.string().describe("Path of the turn's events"),
    cancel: z.string().describe("Path that cancels the running turn"),
  })
  .describe("Paths on the same host");

export const RunResponseSchema = z
  .object({
    session_id: IdSchema.describe("Id of the session"),
    turn: z.int().min(1).describe("Number of the turn, from 1"),
    status: TurnStatusSchema,
    links: LinksSchema,
    warnings: warningsField,
  })
  .meta({ id: "Run" });
export type RunResponse = z.infer<typeof RunResponseSchema>;

/** The response to a request for a turn of a session: the turn, or its place in the queue. */
export const TurnStartSchema = z
  .union([RunResponseSchema, QueuedResponseSchema])
  .meta({ id: "TurnStart" });
