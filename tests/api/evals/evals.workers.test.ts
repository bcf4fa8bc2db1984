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

async function waitForEnd(path: string): Promise<EvalRunPage> {
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
    const page = await waitForEnd(started.links.run);
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

  it("starts a new run at each request", async () => {
    const ids = await Promise.all(
      [1, 2].map(
        async () => (await (await post("/api/evals/simulated/runs")).json<EvalStarted>()).id,
      ),
    );
    expect(new Set(ids).size).toBe(2);
    for (const id of ids) await waitForEnd(`/api/evals/simulated/runs/${id}`);
    const first = await get<List<EvalRun>>("/api/evals/simulated/runs?limit=1");
    expect([first.data.length, first.has_more]).toEqual([1, true]);
    const next = await get<List<EvalRun>>(
      `/api/evals/simulated/runs?limit=1&after=${first.last_id}`,
    );
    expect([first.last_id, next.last_id].sort()).toEqual(ids.sort());
  });
});

describe("an idempotency key", () => {
  const startWithKey = async (key: string, suite = "simulated") =>
    (await post(`/api/evals/${suite}/runs`, {}, { "idempotency-key": key })).json<
      EvalStarted & { code: string }
    >();

  it("starts only one run for repeated and concurrent requests", async () => {
    const started = await Promise.all(Array.from({ length: 5 }, () => startWithKey("together")));
    const [first] = new Set(started.map(({ id }) => id));
    expect(started.every(({ id }) => id === first)).toBe(true);
    await waitForEnd(`/api/evals/simulated/runs/${first}`);
    expect((await startWithKey("together")).id).toBe(first);
    const { results } = await env.DB.prepare("SELECT * FROM start_claims WHERE session_id = ?")
      .bind(first)
      .all();
    expect([results.length, JSON.stringify(results).includes("together")]).toEqual([1, false]);
  });

  it("that is invalid is refused", async () => {
    expect((await startWithKey("x".repeat(256))).code).toBe("bad_idempotency_key");
  });

  it("that was used for another request is refused", async () => {
    const run = await post(
      "/api/runs",
      { question: "Q?", config: teamOf(["quick"]) },
      { "idempotency-key": "another" },
    );
    expect(run.status).toBe(202);
    expect((await startWithKey("another")).code).toBe("idempotency_key_reused");
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
  ])("is refused for $path with $status $code", async ({ path, status, code }) => {
    const response = await request(path);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      status,
      code,
    ]);
  });

  it("does not show runs of another tenant", async () => {
    const run = {
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
      { ...run, suite, team: null, problem: null, startedAt: 0 },
      { atOnce: 1, caseLimitMs: 1, startedAt: 0, cases: [] },
      [],
    );
    expect(await records.run("other", "simulated", run.id)).not.toBeNull();
    expect((await request(`/api/evals/simulated/runs/${run.id}`)).status).toBe(404);
    expect(
      (await get<List<EvalRun>>("/api/evals/simulated/runs")).data.map(({ id }) => id),
    ).not.toContain(run.id);
  });
});

describe("a cron trigger", () => {
  const TRIGGER_TIME = Date.parse("2026-11-30T06:00:00Z");
  const clockAt = (now: number) => vi.useFakeTimers({ toFake: ["Date"], now });
  afterEach(() => void vi.useRealTimers().restoreAllMocks());
  const nightly = simulated.replace("name: simulated", "name: nightly\ncron: 0 6 * * MON");
  const start: EvalServices["start"] = (run, others) =>
    env.EVALS.get(env.EVALS.idFromName(evalRunName(run.tenant, run.suite.name, run.id))).start(
      run,
      others,
    );
  const services = (suites: Record<string, string>, startFake = start) => ({
    evals: { suites, cronTenant: "local", start: startFake, records },
    secrets: noSecrets,
    config: {
      storedKeys: [],
      allowedOrigins: ["http://127.0.0.1:*"],
      variables: { VLLM_BASE_URL: inject("providersUrl") },
    },
    teams: {},
  });

  it("F11 that fires twice in the same minute starts each due suite once, and no other suite", async () => {
    const suiteServices = services({ nightly, simulated });
    await Promise.all([
      startDue(suiteServices, { at: TRIGGER_TIME, now: TRIGGER_TIME }),
      startDue(suiteServices, { at: TRIGGER_TIME + 59_000, now: TRIGGER_TIME + 59_000 }),
    ]);
    await startDue(suiteServices, { at: TRIGGER_TIME + 60_000, now: TRIGGER_TIME + 60_000 });
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

  it("starts nothing if no tenant for scheduled runs is set", async () => {
    const suiteServices = services({ nightly }, () =>
      Promise.reject(new Error("no run may start")),
    );
    await startDue(
      { ...suiteServices, evals: { ...suiteServices.evals, cronTenant: null } },
      { at: TRIGGER_TIME, now: TRIGGER_TIME },
    );
  });

  const weekly = nightly.replace("name: nightly", "name: weekly");

  it("has started every due suite even if the service dies after its first call", async () => {
    const later = TRIGGER_TIME + 7 * 24 * 60 * 60 * 1_000;
    let calls = 0;
    const startOnceThenDie: EvalServices["start"] = async (run, others) => {
      calls += 1;
      if (calls === 1) await start(run, others);
      throw new Error("the service died");
    };
    await startDue(services({ nightly, weekly }, startOnceThenDie), {
      at: later,
      now: later,
    }).catch(() => undefined);
    for (const suite of ["nightly", "weekly"]) {
      await expect
        .poll(async () => (await records.run("local", suite, "run_20261207t060000z"))?.status, {
          timeout: 20_000,
        })
        .toBe("completed");
    }
  });

  it("calls the next object if one does not respond; the object that responds starts the other suite too", async () => {
    const startedSuites: string[][] = [];
    const startFake: EvalServices["start"] = async ({ suite }, others = []) => {
      if (suite.name === "nightly") throw new Error("Network connection lost.");
      startedSuites.push([suite.name, ...others.map((other) => other.suite.name)]);
      return { started: true };
    };
    await startDue(services({ nightly, weekly }, startFake), {
      at: TRIGGER_TIME,
      now: TRIGGER_TIME,
    });
    expect(startedSuites).toEqual([["weekly", "nightly"]]);
  });

  it("calls again if no object responds, and fails after three tries", async () => {
    const calledSuites: string[] = [];
    const startFake: EvalServices["start"] = async ({ suite }) => {
      calledSuites.push(suite.name);
      throw new Error("Network connection lost.");
    };
    await expect(
      startDue(services({ nightly }, startFake), { at: TRIGGER_TIME, now: TRIGGER_TIME }),
    ).rejects.toThrow("No due evaluation could be started.");
    expect(calledSuites).toEqual(["nightly", "nightly", "nightly"]);
  });

  it("reaches the included suites through the Worker; if their team has no keys, each case states this", async () => {
    const withoutKeys: typeof env = Object.assign({}, env, {
      OPENAI_API_KEY: "",
      ANTHROPIC_API_KEY: "",
      GEMINI_API_KEY: "",
      GOOGLE_API_KEY: "",
    });
    // A Monday in the past, so that alarms that are set at this time are due at once.
    const monday = Date.parse("2024-01-01T06:00:00Z");
    clockAt(monday);
    for (let time = 0; time < 2; time += 1) {
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
    {
      name: "if its time is more than a day in the future",
      now: TRIGGER_TIME - 25 * 3_600_000,
      tenant: "acme",
    },
    {
      name: "if its time is more than a day in the past",
      now: TRIGGER_TIME + 25 * 3_600_000,
      tenant: "acme",
    },
    {
      name: "without a tenant for scheduled runs, also if access is open",
      now: TRIGGER_TIME,
      tenant: "",
    },
  ])("starts nothing $name (H4)", async ({ now, tenant }) => {
    const minute = TRIGGER_TIME + 14 * 86_400_000;
    clockAt(minute + (now - TRIGGER_TIME));
    const controller = createScheduledController({ scheduledTime: minute, cron: "0 6 * * MON" });
    const getObject = vi.spyOn(env.EVALS, "get");
    await worker.scheduled(controller, { ...env, EVAL_TENANT: tenant }, createExecutionContext());
    // A started run is stored only later, so check the calls of objects.
    expect(getObject).not.toHaveBeenCalled();
  });
});
