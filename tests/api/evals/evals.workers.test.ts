import { createExecutionContext, createScheduledController } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import simulated from "../../../configs/evals/simulated.yaml";
import { evalRunName } from "../../../durable-objects/eval-run/eval-run-api";
import { startDue } from "../../../src/api/evals/eval-runs";
import type { EvalServices } from "../../../src/api/services";
import type { EvalRun, EvalRunPage, EvalStarted, EvalSuite } from "../../../src/protocol/api/evals";
import worker from "../../../src/worker";
import { post, request, teamOf } from "../../durable-objects/session/session-client";
import { records } from "../../evals/eval-client";
import { noSecrets } from "../../builders/no-secrets";

type List<T> = {
  object: "list";
  data: T[];
  first_id: string | null;
  last_id: string | null;
  has_more: boolean;
};

const get = async <T>(path: string): Promise<T> => (await request(path)).json<T>();

async function ended(path: string): Promise<EvalRunPage> {
  for (let tries = 0; tries < 400; tries += 1) {
    const response = await request(path);
    if (response.ok) {
      const page = await response.json<EvalRunPage>();
      if (page.status === "completed") return page;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the run did not end");
}

describe("POST /api/evals/{suite}/runs", () => {
  it("starts the suite now and returns its results, each with a session that the tenant can read", async () => {
    const response = await post("/api/evals/simulated/runs");
    const started = await response.json<EvalStarted>();
    expect([response.status, response.headers.get("location")]).toEqual([202, started.links.run]);
    const page = await ended(started.links.run);
    expect(page).toMatchObject({
      suite: "simulated",
      origin: "manual",
      cases: 3,
      passed: 2,
      failed: 1,
      errored: 0,
    });
    expect(page.results.map(({ case: id, pass }) => [id, pass])).toEqual([
      ["number", true],
      ["words", true],
      ["wrong", false],
    ]);
    for (const { session_id } of page.results)
      expect((await request(`/api/sessions/${session_id}`)).status).toBe(200);
    const { data } = await get<List<EvalSuite>>("/api/evals");
    expect(data.find(({ name }) => name === "simulated")?.last_run).toMatchObject({
      id: started.id,
      passed: 2,
    });
  });

  it("starts another run at each request", async () => {
    const ids = await Promise.all(
      [1, 2].map(
        async () => (await (await post("/api/evals/simulated/runs")).json<EvalStarted>()).id,
      ),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) await ended(`/api/evals/simulated/runs/${id}`);
    const first = await get<List<EvalRun>>("/api/evals/simulated/runs?limit=1");
    expect([first.data.length, first.has_more]).toEqual([1, true]);
    const next = await get<List<EvalRun>>(
      `/api/evals/simulated/runs?limit=1&after=${first.last_id}`,
    );
    expect([first.last_id, next.last_id].sort()).toEqual(ids.sort());
  });
});

describe("an idempotency key", () => {
  const begin = async (key: string, suite = "simulated") =>
    (await post(`/api/evals/${suite}/runs`, {}, { "idempotency-key": key })).json<
      EvalStarted & { code: string }
    >();

  it("starts one run, however often and concurrently it is sent", async () => {
    const started = await Promise.all(Array.from({ length: 5 }, () => begin("together")));
    const [first] = new Set(started.map(({ id }) => id));
    expect(started.every(({ id }) => id === first)).toBe(true);
    await ended(`/api/evals/simulated/runs/${first}`);
    expect((await begin("together")).id).toBe(first);
    const { results } = await env.DB.prepare("SELECT * FROM start_claims WHERE session_id = ?")
      .bind(first)
      .all();
    expect([results.length, JSON.stringify(results).includes("together")]).toEqual([1, false]);
  });

  it("that is invalid is refused", async () => {
    expect((await begin("x".repeat(256))).code).toBe("bad_idempotency_key");
  });

  it("of another request is refused", async () => {
    const run = await post(
      "/api/runs",
      { question: "Q?", config: teamOf(["quick"]) },
      { "idempotency-key": "another" },
    );
    expect(run.status).toBe(202);
    expect((await begin("another")).code).toBe("idempotency_key_reused");
  });
});

describe("GET /api/evals", () => {
  it("lists the suites with their schedule", async () => {
    const { object, data } = await get<List<EvalSuite>>("/api/evals");
    expect([object, data.map(({ name, cron }) => [name, cron])]).toEqual([
      "list",
      [
        ["smoke", "0 6 * * MON"],
        ["simulated", null],
      ],
    ]);
    expect(data[0]?.next_run_at).toBeGreaterThan(Date.now() / 1000);
    expect(data[1]?.next_run_at).toBeNull();
  });

  it.each([
    { path: "/api/evals/nothing/runs", status: 404, code: "eval_not_found" },
    { path: "/api/evals/constructor/runs", status: 404, code: "eval_not_found" },
    { path: "/api/evals/simulated/runs/run_20200101t000000z", status: 404, code: "eval_not_found" },
    { path: "/api/evals/simulated/runs/a%2Fb", status: 400, code: "bad_id" },
    { path: "/api/evals/simulated/runs?limit=0", status: 400, code: "bad_query" },
    { path: "/api/evals/simulated/runs?after='--", status: 400, code: "bad_query" },
  ])("answers $path with $status $code", async ({ path, status, code }) => {
    const response = await request(path);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      status,
      code,
    ]);
  });

  it("does not show runs of another tenant", async () => {
    const place = {
      tenant: "other",
      id: "run_20200202t000000z",
      origin: "manual" as const,
      scheduledAt: 0,
    };
    const suite = {
      name: "simulated",
      description: "x",
      team: "none",
      at_once: 1,
      budget: { max_tokens: 1 },
      timeout_seconds: 1,
      cases: [],
    };
    await records.save(
      { ...place, suite, team: null, problem: null, startedAt: 0 },
      { atOnce: 1, caseLimitMs: 1, startedAt: 0, cases: [] },
      [],
    );
    expect(await records.run("other", "simulated", place.id)).not.toBeNull();
    expect((await request(`/api/evals/simulated/runs/${place.id}`)).status).toBe(404);
    expect(
      (await get<List<EvalRun>>("/api/evals/simulated/runs")).data.map(({ id }) => id),
    ).not.toContain(place.id);
  });
});

describe("a cron", () => {
  const AT = Date.parse("2026-11-30T06:00:00Z");
  const clockAt = (now: number) => vi.useFakeTimers({ toFake: ["Date"], now });
  afterEach(() => void vi.useRealTimers().restoreAllMocks());
  const nightly = simulated.replace("name: simulated", "name: nightly\ncron: 0 6 * * MON");
  const start: EvalServices["start"] = (run, others) =>
    env.EVALS.get(env.EVALS.idFromName(evalRunName(run.tenant, run.suite.name, run.id))).start(
      run,
      others,
    );
  const services = (suites: Record<string, string>, starting = start) => ({
    evals: { suites, cronTenant: "local", start: starting, records },
    secrets: noSecrets,
    config: {
      storedKeys: [],
      allowedOrigins: ["http://127.0.0.1:*"],
      variables: { VLLM_BASE_URL: inject("providersUrl") },
    },
    teams: {},
  });

  it("F11 that fires twice in its minute starts each due suite once, and no other", async () => {
    const offered = services({ nightly, simulated });
    await Promise.all([
      startDue(offered, { at: AT, now: AT }),
      startDue(offered, { at: AT + 59_000, now: AT + 59_000 }),
    ]);
    await startDue(offered, { at: AT + 60_000, now: AT + 60_000 });
    expect(
      await records.runs("local", "simulated", { before: null, limit: 100 }),
    ).not.toContainEqual(expect.objectContaining({ origin: "cron" }));
    await expect
      .poll(async () => (await records.run("local", "nightly", "run_20261130t060000z"))?.status, {
        timeout: 20_000,
      })
      .toBe("completed");
    expect(await records.runs("local", "nightly", { before: null, limit: 10 })).toMatchObject([
      { origin: "cron", cases: 3, passed: 2 },
    ]);
    expect((await records.run("local", "nightly", "run_20261130t060000z"))?.results).toHaveLength(
      3,
    );
  });

  it("starts nothing if no paying tenant is set", async () => {
    const offered = services({ nightly }, () => Promise.reject(new Error("no run may start")));
    await startDue(
      { ...offered, evals: { ...offered.evals, cronTenant: null } },
      { at: AT, now: AT },
    );
  });

  const weekly = nightly.replace("name: nightly", "name: weekly");

  it("that is killed after its first call has started every due suite", async () => {
    const later = AT + 7 * 24 * 60 * 60 * 1_000;
    let calls = 0;
    const dying: EvalServices["start"] = async (run, others) => {
      calls += 1;
      if (calls === 1) await start(run, others);
      throw new Error("the service died");
    };
    await startDue(services({ nightly, weekly }, dying), { at: later, now: later }).catch(
      () => undefined,
    );
    for (const suite of ["nightly", "weekly"]) {
      await expect
        .poll(async () => (await records.run("local", suite, "run_20261207t060000z"))?.status, {
          timeout: 20_000,
        })
        .toBe("completed");
    }
  });

  it("skips a run's object that does not answer; the object that answers starts the other suite too", async () => {
    const begun: string[][] = [];
    const starting: EvalServices["start"] = async ({ suite }, others = []) => {
      if (suite.name === "nightly") throw new Error("Network connection lost.");
      begun.push([suite.name, ...others.map((other) => other.suite.name)]);
      return { started: true };
    };
    await startDue(services({ nightly, weekly }, starting), { at: AT, now: AT });
    expect(begun).toEqual([["weekly", "nightly"]]);
  });

  it("retries if no object answers, and logs an error in the end", async () => {
    const asked: string[] = [];
    const starting: EvalServices["start"] = async ({ suite }) => {
      asked.push(suite.name);
      throw new Error("Network connection lost.");
    };
    await expect(startDue(services({ nightly }, starting), { at: AT, now: AT })).rejects.toThrow(
      "No due evaluation could be started.",
    );
    expect(asked).toEqual(["nightly", "nightly", "nightly"]);
  });

  it("starts the included suites through the Worker; a team without keys is reported in each case", async () => {
    const withoutKeys: typeof env = Object.assign({}, env, {
      OPENAI_API_KEY: "",
      ANTHROPIC_API_KEY: "",
      GEMINI_API_KEY: "",
      GOOGLE_API_KEY: "",
    });
    // A Monday in the past, so that alarms set by that clock are due at once.
    const monday = Date.parse("2024-01-01T06:00:00Z");
    clockAt(monday);
    for (let rings = 0; rings < 2; rings += 1) {
      await worker.scheduled(
        createScheduledController({ scheduledTime: monday, cron: "0 6 * * MON" }),
        { ...withoutKeys, EVAL_TENANT: "acme" },
        createExecutionContext(),
      );
    }
    vi.useRealTimers();
    await expect
      .poll(async () => (await records.run("acme", "smoke", "run_20240101t060000z"))?.status, {
        timeout: 10_000,
      })
      .toBe("completed");
    const page = await records.run("acme", "smoke", "run_20240101t060000z");
    expect(page).toMatchObject({ errored: 3, cost_usd: 0 });
    expect(page?.results[0]?.detail).toContain("The team of `smoke` cannot run here");
  });

  it.each([
    { name: "a time more than a day from now", now: AT - 25 * 3_600_000, tenant: "acme" },
    { name: "a time that was more than a day ago", now: AT + 25 * 3_600_000, tenant: "acme" },
    { name: "no paying tenant, with open access too", now: AT, tenant: "" },
  ])("starts nothing for $name (H4)", async ({ now, tenant }) => {
    const minute = AT + 14 * 86_400_000;
    clockAt(minute + (now - AT));
    const controller = createScheduledController({ scheduledTime: minute, cron: "0 6 * * MON" });
    const reached = vi.spyOn(env.EVALS, "get");
    await worker.scheduled(controller, { ...env, EVAL_TENANT: tenant }, createExecutionContext());
    expect(reached).not.toHaveBeenCalled(); // what was begun is on record only later
  });
});
