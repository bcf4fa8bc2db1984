import { z } from "zod";
import { IdSchema } from "./ids";

/** What the service says of evaluations. Times are Unix seconds. What goes out may gain fields. */

const seconds = z.number().describe("Unix time in seconds");

export const EvalRunSchema = z
  .object({
    id: z.string().describe("Sorts by time"),
    suite: z.string(),
    status: z.enum(["running", "completed"]),
    origin: z.enum(["cron", "manual"]).describe("Who started it"),
    scheduled_at: seconds.describe("The minute its cron named, or when it was asked for"),
    started_at: seconds,
    ended_at: seconds.nullable(),
    cases: z.int(),
    passed: z.int(),
    failed: z.int().describe("Answered, but not rightly"),
    errored: z.int().describe("Not answered"),
    cost_usd: z.number().nullable().describe("null if any part has no known price"),
    cost_usd_known: z.number().describe("The sum of the parts with a known price"),
  })
  .meta({ id: "EvalRun" });
export type EvalRun = z.infer<typeof EvalRunSchema>;

export const EvalCaseResultSchema = z
  .object({
    case: z.string(),
    question: z.string().describe("Its beginning"),
    session_id: IdSchema.describe(
      "The session it ran in; of a case that could not start there is none",
    ),
    outcome: z.enum(["passed", "failed", "errored"]),
    pass: z.boolean(),
    detail: z.string().describe("Why"),
    answer: z.string().nullable().describe("Its beginning; null without one"),
    answer_is_cut: z.boolean(),
    erased: z
      .boolean()
      .describe(
        "Its session has been erased since, and with it the answer and what was said of it",
      ),
    cost_usd: z.number().nullable().describe("null if any part has no known price"),
    cost_usd_known: z.number().describe("The sum of the parts with a known price"),
    duration_ms: z.number(),
    ended_at: seconds,
  })
  .meta({ id: "EvalCaseResult" });
export type EvalCaseResult = z.infer<typeof EvalCaseResultSchema>;

/** A run with the results there are so far, in the order of the suite. */
export const EvalRunPageSchema = EvalRunSchema.extend({
  results: z.array(EvalCaseResultSchema),
}).meta({ id: "EvalRunPage" });
export type EvalRunPage = z.infer<typeof EvalRunPageSchema>;

export const EvalSuiteSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    cases: z.int(),
    at_once: z.int().describe("Cases under way at a time"),
    cron: z.string().nullable().describe("When it runs by itself, UTC; null: by hand only"),
    next_run_at: seconds.nullable(),
    last_run: EvalRunSchema.nullable(),
  })
  .meta({ id: "EvalSuite" });
export type EvalSuite = z.infer<typeof EvalSuiteSchema>;

const listOf = <Item extends z.ZodType>(item: Item) =>
  z.object({
    object: z.literal("list"),
    data: z.array(item),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  });
export const EvalSuiteListSchema = listOf(EvalSuiteSchema).meta({ id: "EvalSuiteList" });
export const EvalRunListSchema = listOf(EvalRunSchema).meta({ id: "EvalRunList" });

export const EvalStartedSchema = z
  .object({
    id: z.string(),
    suite: z.string(),
    status: z.literal("running"),
    links: z.object({ run: z.string() }),
  })
  .meta({ id: "EvalStarted" });
export type EvalStarted = z.infer<typeof EvalStartedSchema>;
