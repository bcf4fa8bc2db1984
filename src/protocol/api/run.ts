import { z } from "zod";
import { ATTACHMENT_LIMITS, MOST_PARTS, QuestionPartSchema, textOfParts } from "../attachments";
import { TurnStatusSchema } from "./figures";
import { IdSchema } from "./ids";
import { FaultSchema } from "./problem";

export const MAX_QUESTION_CHARS = 200_000;

export const QuestionSchema = z
  .string()
  .min(1, { error: "is empty", abort: true })
  .max(MAX_QUESTION_CHARS, `is over ${MAX_QUESTION_CHARS} characters`)
  .refine((text) => text.trim() !== "", "is blank")
  .refine((text) => text.isWellFormed(), "is not well-formed Unicode");

/** A question as text, or in parts of which at least one says something. */
const AskedSchema = z.union([
  QuestionSchema,
  z
    .array(QuestionPartSchema)
    .min(1, "is empty")
    .max(MOST_PARTS, `has over ${MOST_PARTS} parts`)
    .superRefine((parts, context) => {
      const text = QuestionSchema.safeParse(textOfParts(parts));
      if (!text.success)
        context.addIssue(
          `${text.error.issues[0]?.message ?? "is no question"}: its text parts are what is asked`,
        );
      const attached = parts.filter(({ type }) => type !== "text").length;
      if (attached > ATTACHMENT_LIMITS.count)
        context.addIssue(`has over ${ATTACHMENT_LIMITS.count} images and files`);
    }),
]);
export type AskedQuestion = z.infer<typeof AskedSchema>;

/** What a question says, whatever comes with it. */
export const textOfQuestion = (asked: AskedQuestion): string =>
  typeof asked === "string" ? asked : textOfParts(asked);

/** Far beyond any run, near enough that sums stay exact. */
const MAX_BUDGET_USD = 1_000_000;
const MAX_BUDGET_TOKENS = 1_000_000_000_000;
const MAX_TIMEOUT_SECONDS = 86_400;

/** A budget below the cheapest first call is refused; so is 0, unless a call costs nothing. */
const BudgetRequestSchema = z.strictObject({
  max_cost_usd: z.number().min(0).max(MAX_BUDGET_USD).optional(),
  max_tokens: z.int().min(0).max(MAX_BUDGET_TOKENS).optional(),
});

const limits = {
  budget: BudgetRequestSchema.optional(),
  timeout_seconds: z.number().min(1).max(MAX_TIMEOUT_SECONDS).optional(),
};

/** As it was sent: a copy made key by key would lose `__proto__`, which the config check refuses. */
export const ConfigObjectSchema = z
  .custom<Record<string, unknown>>(
    (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    {
      message: "Invalid input: expected an object",
    },
  )
  .meta({ type: "object", additionalProperties: {} });

export const RunRequestSchema = z
  .strictObject({
    /** The name of a team on offer or of a model, or a team's config as an object. */
    config: z.union([z.string().min(1).max(200), ConfigObjectSchema]).optional(),
    /** A team's config as YAML text: errors then carry line and column. How long it may be is for who reads configs to say. */
    config_yaml: z.string().min(1).optional(),
    question: AskedSchema,
    ...limits,
  })
  .refine(({ config, config_yaml }) => config === undefined || config_yaml === undefined, {
    path: ["config_yaml"],
    message: "cannot be given together with config",
  })
  .meta({ id: "RunRequest" });
export type RunRequest = z.infer<typeof RunRequestSchema>;

export const TurnRequestSchema = z
  .strictObject({
    question: AskedSchema,
    /** The turn this one follows; absent: the latest. */
    parent_turn: z.int().min(1).optional(),
    ...limits,
  })
  .meta({ id: "TurnRequest" });
export type TurnRequest = z.infer<typeof TurnRequestSchema>;

/** Paths on the same host. */
const LinksSchema = z.object({
  session: z.string(),
  turn: z.string(),
  events: z.string(),
  cancel: z.string(),
});

export const RunResponseSchema = z
  .object({
    session_id: IdSchema,
    turn: z.int().min(1),
    status: TurnStatusSchema,
    links: LinksSchema,
    /** What in the config runs, but not as its author may think. */
    warnings: z.array(FaultSchema).optional(),
  })
  .meta({ id: "Run" });
export type RunResponse = z.infer<typeof RunResponseSchema>;
