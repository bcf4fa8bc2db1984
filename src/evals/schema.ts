import * as z from "zod";
import { QuestionSchema } from "../protocol/api";
import {
  DEFAULT_AT_ONCE,
  DEFAULT_TIMEOUT_SECONDS,
  MAX_AT_ONCE,
  MAX_CASE_TIMEOUT_SECONDS,
  MAX_CASE_TOKENS,
  MAX_CASE_USD,
  MAX_CASES,
  MAX_CRON_CHARS,
  MAX_DESCRIPTION_CHARS,
  MAX_EXPECTED_CHARS,
  MAX_NUMBER,
  MAX_TEXTS,
} from "./suite-limits";
import { SUITE_NAME } from "./names";

/** The schema of `configs/evals/*.yaml`. It is strict: unknown keys are refused. */

const ExpectedText = z
  .string()
  .max(MAX_EXPECTED_CHARS)
  .refine((text) => text.trim() !== "", "is blank");

const ExactSchema = z.strictObject({
  type: z.literal("exact"),
  value: ExpectedText,
  ignore_case: z.boolean().default(false),
});

const ContainsSchema = z
  .strictObject({
    type: z.literal("contains"),
    all: z.array(ExpectedText).min(1).max(MAX_TEXTS).optional(),
    any: z.array(ExpectedText).min(1).max(MAX_TEXTS).optional(),
    ignore_case: z.boolean().default(false),
  })
  .refine(
    ({ all, any }) => (all === undefined) !== (any === undefined),
    "must have either `all` or `any`",
  );

const NumberSchema = z.strictObject({
  type: z.literal("number"),
  value: z.number().min(-MAX_NUMBER).max(MAX_NUMBER),
  /** The larger of the two tolerances applies. If both are omitted, the number must be equal. */
  tolerance: z
    .strictObject({
      absolute: z.number().min(0).max(MAX_NUMBER).optional(),
      relative: z.number().min(0).max(1).optional(),
    })
    .optional(),
  /** Which number of the answer is graded. */
  which: z.enum(["last", "first"]).default("last"),
});

const JsonSchema = z.strictObject({
  type: z.literal("json"),
  value: z.unknown().refine(isJson, "is not a JSON value"),
});

export const GraderSchema = z.discriminatedUnion("type", [
  ExactSchema,
  ContainsSchema,
  NumberSchema,
  JsonSchema,
]);
export type Grader = z.infer<typeof GraderSchema>;

/** The result of a grader. `detail` is a short text for users. */
export type Grade = { pass: boolean; detail: string };

const CaseSchema = z.strictObject({
  id: z
    .string()
    .regex(
      /^[a-z0-9][a-z0-9_-]{0,63}$/,
      "must be 1 to 64 lower-case letters, digits, dashes or underscores",
    ),
  question: QuestionSchema,
  grader: GraderSchema,
});
export type SuiteCase = z.infer<typeof CaseSchema>;

const BudgetSchema = z
  .strictObject({
    max_cost_usd: z.number().min(0).max(MAX_CASE_USD).optional(),
    max_tokens: z.int().min(0).max(MAX_CASE_TOKENS).optional(),
  })
  .refine(
    ({ max_cost_usd, max_tokens }) => max_cost_usd !== undefined || max_tokens !== undefined,
    {
      error: "must set max_cost_usd, max_tokens or both, because a suite may run unattended",
    },
  );

export const SuiteSchema = z.strictObject({
  name: z.string().regex(SUITE_NAME, "must be 1 to 40 lower-case letters, digits or dashes"),
  description: z.string().min(1).max(MAX_DESCRIPTION_CHARS),
  /** The name of an included team, or a config. */
  team: z.union(
    [z.string().min(1).max(200), z.record(z.string(), z.unknown())],
    "must be the name of a team, or a config",
  ),
  cron: z.string().max(MAX_CRON_CHARS).optional(),
  at_once: z.int().min(1).max(MAX_AT_ONCE).default(DEFAULT_AT_ONCE),
  /** The budget of each case. */
  budget: BudgetSchema,
  /** The time limit of each case. */
  timeout_seconds: z.number().min(1).max(MAX_CASE_TIMEOUT_SECONDS).default(DEFAULT_TIMEOUT_SECONDS),
  cases: z.array(CaseSchema).min(1).max(MAX_CASES),
});
export type Suite = z.infer<typeof SuiteSchema>;

/** Every key of the schema; used to suggest a key for an unknown one. */
export const SUITE_KEYS: readonly string[] = [
  ...new Set(
    [
      SuiteSchema,
      CaseSchema,
      BudgetSchema,
      ExactSchema,
      ContainsSchema,
      NumberSchema,
      JsonSchema,
      NumberSchema.shape.tolerance.unwrap(),
    ].flatMap(({ shape }) => Object.keys(shape)),
  ),
];

/** Whether a value from YAML exists in JSON: infinities and NaN do not. */
function isJson(value: unknown): boolean {
  if (value === undefined) return false;
  if (typeof value === "number") return Number.isFinite(value);
  if (Array.isArray(value)) return value.every(isJson);
  return typeof value !== "object" || value === null || Object.values(value).every(isJson);
}
