import * as z from "zod";
import { costFields } from "./figures";
import { IdSchema } from "./ids";
import { listOf } from "./listing";
import { seconds } from "./time";

/** Responses of the routes for evaluations. Later versions may add fields. */

export const EvalRunSchema = z
  .object({
    id: z.string().describe("Id of the run. Ids sort by time"),
    suite: z.string().describe("Name of the suite"),
    status: z.enum(["running", "completed"]).describe("`completed`: every case has a result"),
    origin: z
      .enum(["cron", "manual"])
      .describe("`cron`: started by schedule. `manual`: started by a request"),
    scheduled_at: seconds.describe("Scheduled minute, or the time of the request, in Unix seconds"),
    started_at: seconds.describe("Time of the start in Unix seconds"),
    ended_at: seconds
      .nullable()
      .describe("Time of the end in Unix seconds; `null` while the run is running"),
    cases: z.int().describe("Number of cases"),
    passed: z.int().describe("Number of cases with a correct answer"),
    failed: z.int().describe("Number of cases with a wrong answer"),
    errored: z.int().describe("Number of cases without an answer"),
    ...costFields,
  })
  .meta({ id: "EvalRun" });
export type EvalRun = z.infer<typeof EvalRunSchema>;

export const EvalCaseResultSchema = z
  .object({
    case: z.string().describe("Name of the case"),
    question: z.string().describe("Start of the question"),
    session_id: IdSchema.describe(
      "Id of the case's session. If the case could not start, no session has this id",
    ),
    outcome: z
      .enum(["passed", "failed", "errored"])
      .describe("`failed`: the answer is wrong. `errored`: there is no answer"),
    pass: z.boolean().describe("Whether `outcome` is `passed`"),
    detail: z.string().describe("Reason for the outcome"),
    answer: z.string().nullable().describe("Start of the answer; `null` if there is none"),
    answer_is_cut: z.boolean().describe("Whether `answer` is only the start of the answer"),
    erased: z
      .boolean()
      .describe("Whether the session was erased since; then answer and reason are erased too"),
    ...costFields,
    duration_ms: z.number().describe("Duration of the case in milliseconds"),
    ended_at: seconds.describe("Time of the end in Unix seconds"),
  })
  .meta({ id: "EvalCaseResult" });
export type EvalCaseResult = z.infer<typeof EvalCaseResultSchema>;

/** A run with the results of its cases. */
export const EvalRunPageSchema = EvalRunSchema.extend({
  results: z
    .array(EvalCaseResultSchema)
    .describe("Results of the cases that have ended, in the order of the suite"),
}).meta({ id: "EvalRunPage" });
export type EvalRunPage = z.infer<typeof EvalRunPageSchema>;

export const EvalSuiteSchema = z
  .object({
    name: z.string().describe("Name of the suite"),
    description: z.string().describe("Description of the suite, for people"),
    cases: z.int().describe("Number of cases"),
    at_once: z.int().describe("Maximum number of cases that run at a time"),
    cron: z
      .string()
      .nullable()
      .describe("Schedule as a cron expression in UTC; `null` if runs start only by request"),
    next_run_at: seconds
      .nullable()
      .describe("Time of the next scheduled run in Unix seconds; `null` without a schedule"),
    last_run: z
      .union([EvalRunSchema, z.null()])
      .describe("The latest run; `null` if there is none"),
  })
  .meta({ id: "EvalSuite" });
export type EvalSuite = z.infer<typeof EvalSuiteSchema>;

export const EvalSuiteListSchema = listOf(EvalSuiteSchema, z.string()).meta({
  id: "EvalSuiteList",
});
export const EvalRunListSchema = listOf(EvalRunSchema, z.string()).meta({ id: "EvalRunList" });

export const EvalStartedSchema = z
  .object({
    id: z.string().describe("Id of the run"),
    suite: z.string().describe("Name of the suite"),
    status: z.literal("running").describe("Always `running`"),
    links: z
      .object({ run: z.string().describe("Path of the run") })
      .describe("Paths on the same host"),
  })
  .meta({ id: "EvalStarted" });
export type EvalStarted = z.infer<typeof EvalStartedSchema>;
