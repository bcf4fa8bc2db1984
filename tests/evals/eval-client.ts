import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { evalRunName, type EvalRunStart } from "../../durable-objects/eval-run/eval-run-api";
import { EvalRecords } from "../../d1/eval-records";
import { evalSessionId } from "../../d1/eval-session-id";
import { parseTeam } from "../../src/config/parse-team";
import { scheduledRunId } from "../../src/evals/cron";
import type { EvalRunPage } from "../../src/protocol/api/evals";
import { SuiteSchema } from "../../src/evals/schema";
import { teamOf } from "../durable-objects/session/session-client";

/** Helpers to start runs of suites directly at their objects, with simulated models. */

export const records = new EvalRecords(env.DB);

const SCHEDULED_AT = Date.parse("2026-11-30T06:00:00Z");
const NUMBER_42 = { type: "number", value: 42 };

/**
 * A run of a suite with this name and a team of these models. `more`: settings of the suite; by
 * default it has three cases that expect the number 42.
 */
export function runOf(
  name: string,
  models: readonly string[],
  more: Record<string, unknown> = {},
): EvalRunStart {
  const cases = ["a", "b", "c"].map((id) => ({
    id,
    question: "What is six times seven?",
    grader: NUMBER_42,
  }));
  const suite = {
    name,
    description: name,
    team: "none",
    budget: { max_tokens: 1_000_000 },
    cases,
    ...more,
  };
  const parsed = parseTeam(teamOf(models), {
    storedKeys: [],
    allowedOrigins: ["http://127.0.0.1:*"],
    variables: {},
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.errors));
  const place = {
    tenant: "local",
    id: scheduledRunId(SCHEDULED_AT),
    origin: "cron" as const,
    scheduledAt: SCHEDULED_AT,
  };
  return { ...place, suite: SuiteSchema.parse(suite), team: parsed.team, problem: null };
}

/** The object of the run. */
export const stubOf = ({ tenant, suite, id }: EvalRunStart) =>
  env.EVALS.get(env.EVALS.idFromName(evalRunName(tenant, suite.name, id)));

/** The session ids of the run's cases, in order; a case may have no session. */
export const sessionsOf = ({ suite, id, scheduledAt }: EvalRunStart): string[] =>
  suite.cases.map(({ id: caseId }) =>
    evalSessionId({ suite: suite.name, run: id, caseId, scheduledAt }),
  );

/** Waits until the run in D1 meets the condition, and returns it. */
export async function until(
  run: EvalRunStart,
  condition: (page: EvalRunPage) => boolean,
): Promise<EvalRunPage> {
  for (let tries = 0; tries < 500; tries += 1) {
    const page = await records.run(run.tenant, run.suite.name, run.id);
    if (page && condition(page)) return page;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the run did not meet the condition in time");
}

export const isDone = ({ status }: EvalRunPage): boolean => status === "completed";

/** The statuses of the cases in the run's object, in order. */
export const casesOf = (run: EvalRunStart): Promise<string[]> =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    storage.sql
      .exec<{ status: string }>("SELECT state ->> '$.status' AS status FROM cases ORDER BY nth")
      .toArray()
      .map(({ status }) => status),
  );
