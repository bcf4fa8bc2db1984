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

/** Runs of suites on simulated models, started at their objects. */

export const records = new EvalRecords(env.DB);

const AT = Date.parse("2026-11-30T06:00:00Z");
const NUMBER_42 = { type: "number", value: 42 };

/**
 * A run of a suite of this name, with a team of these models. Without `more` it has three cases
 * that expect 42.
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
  const written = {
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
    id: scheduledRunId(AT),
    origin: "cron" as const,
    scheduledAt: AT,
  };
  return { ...place, suite: SuiteSchema.parse(written), team: parsed.team, problem: null };
}

export const stubOf = ({ tenant, suite, id }: EvalRunStart) =>
  env.EVALS.get(env.EVALS.idFromName(evalRunName(tenant, suite.name, id)));

/** The possible sessions of the run's cases, in order. */
export const sessionsOf = ({ suite, id, scheduledAt }: EvalRunStart): string[] =>
  suite.cases.map(({ id: caseId }) =>
    evalSessionId({ suite: suite.name, run: id, caseId, scheduledAt }),
  );

/** The run in D1, once it meets the condition. */
export async function until(
  run: EvalRunStart,
  wanted: (page: EvalRunPage) => boolean,
): Promise<EvalRunPage> {
  for (let tries = 0; tries < 500; tries += 1) {
    const page = await records.run(run.tenant, run.suite.name, run.id);
    if (page && wanted(page)) return page;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the run did not come so far");
}

export const isDone = ({ status }: EvalRunPage): boolean => status === "completed";

/** The cases in the run's object. */
export const casesOf = (run: EvalRunStart): Promise<string[]> =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    storage.sql
      .exec<{ status: string }>("SELECT state ->> '$.status' AS status FROM cases ORDER BY nth")
      .toArray()
      .map(({ status }) => status),
  );
