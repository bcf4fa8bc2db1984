import * as z from "zod";
import type { RequestContext } from "./problem";
import { type Answer, callService, readAnswer, request } from "./call-service";
import { costFacts, parseJson } from "./schema";
import { EVALS_PATH, evalRunPath, evalRunsPath } from "../../src/protocol/paths";

/** Requests about evaluations. Every function throws CliError. */

const CountsSchema = z.object({
  id: z.string(),
  status: z.enum(["running", "completed"]),
  scheduled_at: z.number(),
  started_at: z.number(),
  ended_at: z.number().nullable(),
  cases: z.number(),
  passed: z.number(),
  failed: z.number(),
  errored: z.number(),
  ...costFacts,
});
export type Counts = z.infer<typeof CountsSchema>;

const ResultSchema = z.object({
  case: z.string(),
  outcome: z.string(),
  detail: z.string(),
  session_id: z.string(),
  ...costFacts,
  duration_ms: z.number(),
});
const RunSchema = CountsSchema.extend({ results: z.array(ResultSchema) });
export type Run = z.infer<typeof RunSchema>;

const SuiteSchema = z.object({
  name: z.string(),
  description: z.string().default(""),
  cases: z.number(),
  cron: z.string().nullish(),
  last_run: CountsSchema.nullish(),
});
const SuiteListSchema = z.object({ data: z.array(SuiteSchema) });
export type Suites = z.infer<typeof SuiteListSchema>;

export const listSuites = (context: RequestContext): Promise<Answer<Suites>> =>
  request({ method: "GET", path: EVALS_PATH }, SuiteListSchema, context);

/** Starts a run; returns its id. A repeated request with the same key starts no second run. */
export async function startSuite(
  suite: string,
  idempotencyKey: string,
  context: RequestContext,
  signal: AbortSignal,
): Promise<string> {
  const call = {
    method: "POST",
    path: evalRunsPath(suite),
    json: {},
    idempotencyKey,
    retry: "start",
    signal,
  } as const;
  return (await request(call, z.object({ id: z.string() }), context)).data.id;
}

/** Reads the current state of a run; `null` until the service knows the run. */
export async function readRun(
  { suite, id }: { suite: string; id: string },
  context: RequestContext,
  signal: AbortSignal,
): Promise<Answer<Run> | null> {
  const call = { method: "GET", path: evalRunPath(suite, id), signal } as const;
  const answer = await callService(context, (client) => client.receive(call));
  if (answer.status === 404) return null;
  return readAnswer(context, RunSchema, async (client) => {
    if (answer.status !== 200) throw client.errorFrom(answer);
    return parseJson(new TextDecoder().decode(answer.bytes));
  });
}
