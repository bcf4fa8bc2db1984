import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { EvalRunStart } from "../../../durable-objects/eval-run/eval-run-api";
import { sessionStub } from "../../../durable-objects/session/session-stub";
import { LOCAL_PRINCIPAL } from "../../../src/tenancy/principal";
import { casesOf, isDone, runOf, sessionsOf, stubOf, until } from "../../evals/eval-client";

const sessionOf = (id: string) =>
  sessionStub({ namespace: env.SESSIONS, masterKey: null }, LOCAL_PRINCIPAL, id);

/** The number of turns of each session of the run that is in the index of sessions. */
async function turnsOf(run: EvalRunStart): Promise<Record<string, number>> {
  const ids = sessionsOf(run);
  const { results } = await env.DB.prepare("SELECT id FROM sessions").all<{ id: string }>();
  const own = results.map(({ id }) => id).filter((id) => ids.includes(id));
  const turns = own.map(async (id) => {
    const status = await sessionOf(id).status();
    return [id, status.ok ? status.status.turns.length : 0] as const;
  });
  return Object.fromEntries(await Promise.all(turns));
}

/** The expected turns of a run: one session per case, with one turn. */
const oneTurnEach = (run: EvalRunStart) => Object.fromEntries(sessionsOf(run).map((id) => [id, 1]));
/** Sets the limits of a tenant. */
const setLimits = (
  id: string,
  { turns = null, usd = null }: { turns?: number | null; usd?: number | null },
) =>
  env.DB.prepare("INSERT INTO tenants (id, concurrent_turns, usd_per_day) VALUES (?, ?, ?)")
    .bind(id, turns, usd)
    .run();

/**
 * Starts another turn of the tenant, which reserves the rest of the daily budget. Returns a
 * function that ends the turn.
 */
async function startOtherTurn(tenant: string): Promise<() => Promise<void>> {
  const object = env.TENANTS.get(env.TENANTS.idFromName(tenant));
  const request = {
    session: "session_0000000001",
    turn: 1,
    maxCostUsd: null,
    unpriced: [],
    leastUsd: 0,
    endsAt: Date.now() + 600_000,
  };
  if (!(await object.startTurn(tenant, request)).ok) throw new Error("the tenant has no free turn");
  return () => object.releaseTurn(request.session, 1);
}

/** A run of a team whose prices are known. */
function pricedRun(name: string): EvalRunStart {
  const run = runOf(name, ["plain"], { at_once: 3 });
  const price = { input: 1, cached_input: 1, output: 1 };
  if (!run.team) throw new Error("there is no team");
  const rules = {
    ...run.team.rules,
    agents: run.team.rules.agents.map((agent) => ({ ...agent, price })),
  };
  return { ...run, team: { ...run.team, rules } };
}

/** Why the cases of the run cannot start yet, in order. */
const heldReasons = (run: EvalRunStart) =>
  runInDurableObject(stubOf(run), (_, { storage }) =>
    storage.sql
      .exec<{ held: string | null }>("SELECT state ->> '$.held' AS held FROM cases ORDER BY nth")
      .toArray()
      .map(({ held }) => held),
  );

describe("an evaluation run", () => {
  it("runs each case as one session with one turn, grades it, and stores everything in D1", async () => {
    const run = runOf("whole", ["plain", "solid"], {
      cases: [
        {
          id: "number",
          question: "What is six times seven?",
          grader: { type: "number", value: 42 },
        },
        {
          id: "wrong",
          question: "What is six times eight?",
          grader: { type: "number", value: 48 },
        },
        {
          id: "words",
          question: "Say it.",
          grader: { type: "contains", any: ["IT IS 42", "THE ANSWER IS 42"], ignore_case: true },
        },
      ],
    });
    expect(await stubOf(run).start(run)).toEqual({ started: true });
    const page = await until(run, isDone);
    expect(page).toMatchObject({ cases: 3, passed: 2, failed: 1, errored: 0, origin: "cron" });
    expect(page.results.map(({ case: id, session_id }) => [id, session_id])).toEqual(
      ["number", "wrong", "words"].map((id, nth) => [id, sessionsOf(run)[nth]]),
    );
    expect(page.results[1]).toMatchObject({
      outcome: "failed",
      pass: false,
      detail: expect.stringContaining("not 48"),
    });
    expect(
      page.results.every(({ answer, duration_ms }) => answer !== null && duration_ms > 0),
    ).toBe(true);
    expect(await turnsOf(run)).toEqual(oneTurnEach(run));
    expect(
      await runInDurableObject(stubOf(run), (_, { storage }) => storage.getAlarm()),
    ).toBeNull();
  });

  it.each([
    { alarm: "no alarm", inMs: null, sets: 1 },
    { alarm: "an overdue alarm, which may be lost", inMs: -60_000, sets: 1 },
    { alarm: "a future alarm", inMs: 60_000, sets: 0 },
  ])("that is started again and has $alarm sets $sets alarms", async ({ inMs, sets }) => {
    const run = runOf(`again-${inMs}`, ["hanging"], { at_once: 1 });
    await stubOf(run).start(run);
    await runInDurableObject(stubOf(run), async (instance, { storage }) => {
      vi.spyOn(storage, "getAlarm").mockResolvedValue(inMs === null ? null : Date.now() + inMs);
      const setAlarm = vi.spyOn(storage, "setAlarm").mockResolvedValue();
      await instance.start(run);
      expect(setAlarm).toHaveBeenCalledTimes(sets);
      vi.restoreAllMocks();
    });
  });

  it("starts once if several requests start it, also at the same time", async () => {
    const run = runOf("often", ["quick", "plain"]);
    const started = await Promise.all(Array.from({ length: 5 }, () => stubOf(run).start(run)));
    expect(started.filter((one) => one.started)).toHaveLength(1);
    await until(run, isDone);
    expect(await stubOf(run).start(run)).toEqual({ started: false });
    expect(await turnsOf(run)).toEqual(oneTurnEach(run));
  });

  it("never has more cases in progress than its limit", async () => {
    const run = runOf("few", ["hanging"], { at_once: 2 });
    await stubOf(run).start(run);
    await expect.poll(() => casesOf(run)).toEqual(["running", "running", "waiting"]);
    await runDurableObjectAlarm(stubOf(run));
    expect(await casesOf(run)).toEqual(["running", "running", "waiting"]);
    await Promise.all(
      sessionsOf(run)
        .slice(0, 2)
        .map((id) => sessionOf(id).cancel()),
    );
    await expect.poll(() => casesOf(run), { timeout: 10_000 }).toEqual(["done", "done", "running"]);
  });

  it("continues when a case fails, and records the failure with its reason", async () => {
    const run = runOf("failing", ["keyless"], { at_once: 1 });
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    expect(page).toMatchObject({ passed: 0, failed: 0, errored: 3 });
    expect(page.results[2]).toMatchObject({
      outcome: "errored",
      answer: null,
      detail: expect.stringMatching(/\S/),
    });
    expect(JSON.stringify(page)).not.toContain("sk-canary");
  });

  it("continues when a case exceeds its time limit", async () => {
    const run = runOf("late", ["hanging"], { at_once: 3, timeout_seconds: 1 });
    await stubOf(run).start(run);
    expect(await until(run, isDone)).toMatchObject({ errored: 3 });
  });

  it("continues when a user cancels a case's session", async () => {
    const run = runOf("cancelled", ["hanging"], { at_once: 3 });
    await stubOf(run).start(run);
    await expect.poll(() => casesOf(run)).toEqual(["running", "running", "running"]);
    await Promise.all(sessionsOf(run).map((id) => sessionOf(id).cancel()));
    const page = await until(run, isDone);
    expect(page.results.map(({ detail }) => detail)).toEqual(
      Array(3).fill("its session was cancelled"),
    );
  });

  it("gives up a case whose session does not end long after its time limit", async () => {
    const run = runOf("stuck", ["hanging"], { at_once: 3 });
    await stubOf(run).start(run);
    await expect.poll(() => casesOf(run)).toEqual(["running", "running", "running"]);
    await runInDurableObject(stubOf(run), async (instance, { storage }) => {
      storage.sql.exec("UPDATE cases SET state = json_set(state, '$.startedAt', 0)");
      await instance.alarm();
    });
    const page = await until(run, isDone);
    expect(page.results.map(({ detail }) => detail)).toEqual(
      Array(3).fill("not completed within 300 seconds"),
    );
    const ends = await Promise.all(sessionsOf(run).map((id) => sessionOf(id).turn(1)));
    expect(ends.map((end) => end.ok && end.turn.status)).toEqual(Array(3).fill("cancelled"));
  });

  it("waits while its tenant has the maximum number of running turns", async () => {
    await setLimits("narrow", { turns: 1 });
    const run = { ...runOf("narrow", ["plain"], { at_once: 3 }), tenant: "narrow" };
    await stubOf(run).start(run);
    expect(await until(run, isDone)).toMatchObject({ passed: 3 });
  });

  it("gives up a case that waits too long for a free turn, with the reason, and lists no session for it", async () => {
    await setLimits("crowded", { turns: 1 });
    await startOtherTurn("crowded");
    const run = { ...runOf("crowded", ["plain"], { at_once: 3 }), tenant: "crowded" };
    await stubOf(run).start(run);
    await expect.poll(() => casesOf(run)).toEqual(["starting", "starting", "starting"]);
    await expect
      .poll(() => heldReasons(run))
      .toEqual(Array(3).fill("its tenant had 1 turn running, its limit"));
    await runInDurableObject(stubOf(run), async (instance, { storage }) => {
      storage.sql.exec("UPDATE cases SET state = json_set(state, '$.startedAt', 0)");
      await instance.alarm();
    });
    const page = await until(run, isDone);
    const detail = "could not start for 360 seconds: its tenant had 1 turn running, its limit";
    expect(page.results).toMatchObject(
      Array(3).fill({ outcome: "errored", detail, erased: false }),
    );
    expect(await turnsOf(run)).toEqual({});
  });

  it("waits while running turns have reserved the daily budget, and continues after they end", async () => {
    await setLimits("reserved", { usd: 5 });
    const endOtherTurn = await startOtherTurn("reserved");
    const run = { ...pricedRun("reserved"), tenant: "reserved" };
    await stubOf(run).start(run);
    await expect
      .poll(() => heldReasons(run))
      .toEqual(Array(3).fill(expect.stringContaining("reserved by running turns")));
    await endOtherTurn();
    const page = await until(run, isDone);
    expect(page).toMatchObject({ passed: 3, errored: 0 });
  });

  it("ends at once if its tenant's daily budget is exhausted", async () => {
    await setLimits("penniless", { usd: 5 });
    const turn = { session: "session_0000000001", turn: 1, costUsd: 5, at: Date.now() };
    await env.TENANTS.get(env.TENANTS.idFromName("penniless")).endTurn(turn);
    const run = { ...pricedRun("penniless"), tenant: "penniless" };
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    const detail = "its session could not start: its tenant's daily budget ($5.00) is exhausted";
    expect(page.results).toMatchObject(Array(3).fill({ outcome: "errored", detail }));
    expect(await turnsOf(run)).toEqual({});
  });

  it("whose team cannot run here records the reason for each case and calls no provider", async () => {
    const run = {
      ...runOf("without-team", ["quick"]),
      team: null,
      problem: "The team has no key.",
    };
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    expect(page.results.map(({ outcome, detail }) => [outcome, detail])).toEqual(
      Array(3).fill(["errored", "The team has no key."]),
    );
    expect(await turnsOf(run)).toEqual({});
  });
});

describe("a run whose object is aborted", () => {
  it.each([
    { name: "before its first step", wait: 0 },
    { name: "while its first cases start", wait: 30 },
    { name: "while cases run", wait: 400 },
    { name: "while results are collected", wait: 1_500 },
  ])("$name loses no result and repeats none", async ({ wait }) => {
    const run = runOf(`aborted-${wait}`, ["slow"], { at_once: 2 });
    await stubOf(run).start(run);
    await new Promise((resolve) => setTimeout(resolve, wait));
    await abortAllDurableObjects();
    await runDurableObjectAlarm(stubOf(run));
    const page = await until(run, isDone);
    expect(page).toMatchObject({ cases: 3, errored: 0 });
    expect(page.results.every(({ answer }) => answer?.startsWith("A long answer"))).toBe(true);
    expect(page.results.map(({ session_id }) => session_id)).toEqual(sessionsOf(run));
    expect(await turnsOf(run)).toEqual(oneTurnEach(run));
  });

  it("starts every run that is due at the same time, once", async () => {
    const [first, second, third] = ["due-first", "due-second", "due-third"].map((name) =>
      runOf(name, ["quick", "plain"]),
    );
    if (!first || !second || !third) throw new Error("three runs are due");
    await stubOf(first).start(first, [second, third]);
    await stubOf(second).start(second, [first, third]); // the cron event occurs twice
    await abortAllDurableObjects();
    for (const run of [first, second]) await runDurableObjectAlarm(stubOf(run));
    for (const run of [first, second, third]) {
      expect(await until(run, isDone)).toMatchObject({ cases: 3, errored: 0 });
      expect(await turnsOf(run)).toEqual(oneTurnEach(run));
    }
    await expect
      .poll(() =>
        runInDurableObject(stubOf(first), (_, { storage }) =>
          storage.sql.exec("SELECT * FROM others").toArray(),
        ),
      )
      .toEqual([]);
  });

  it("always has an alarm until it is over", async () => {
    const run = runOf("alarmed", ["hanging"], { at_once: 1 });
    await stubOf(run).start(run);
    for (let aborts = 0; aborts < 3; aborts += 1) {
      await abortAllDurableObjects();
      expect(
        await runInDurableObject(stubOf(run), (_, { storage }) => storage.getAlarm()),
      ).not.toBeNull();
      await runDurableObjectAlarm(stubOf(run));
    }
    // The alarm may have fired by itself and may still be running.
    await expect.poll(() => casesOf(run)).toEqual(["running", "waiting", "waiting"]);
  });

  it("keeps the newest 500 runs of its suite and their results", async () => {
    const run = runOf("many", ["keyless"], {
      cases: [{ id: "a", question: "Q?", grader: { type: "number", value: 1 } }],
    });
    const numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 502)";
    const old = `${numbers} SELECT 'local', 'many', 'run_20200101t000000z_' || printf('%04d', i)`;
    await env.DB.batch([
      env.DB.prepare(`INSERT INTO eval_runs ${old}, 'cron', 0, 0, 0, 1, 1, 0, 0, 0, 0 FROM n`),
      env.DB.prepare(
        `INSERT INTO eval_results (tenant, suite, run, nth, case_id, question, session_id, outcome, detail, answer, answer_is_cut, cost_usd, duration_ms, ended_at) ${old}, 0, 'a', 'Q?', 's', 'passed', '', NULL, 0, 0, 0, 0 FROM n`,
      ),
    ]);
    await stubOf(run).start(run);
    await until(run, isDone);
    for (const [table, id] of [
      ["eval_runs", "id"],
      ["eval_results", "run"],
    ]) {
      const sql = `SELECT count(*) AS count, min(${id}) AS oldest FROM ${table} WHERE suite = 'many'`;
      expect(await env.DB.prepare(sql).first()).toEqual({
        count: 500,
        oldest: "run_20200101t000000z_0004",
      });
    }
  });

  it("can store its results again without duplicate rows", async () => {
    const run = runOf("again", ["quick", "plain"]);
    await stubOf(run).start(run);
    const page = await until(run, isDone);
    await runInDurableObject(stubOf(run), async (instance, { storage }) => {
      storage.sql.exec("UPDATE cases SET saved = 0");
      await instance.alarm();
    });
    expect(await until(run, isDone)).toEqual(page);
  });
});
