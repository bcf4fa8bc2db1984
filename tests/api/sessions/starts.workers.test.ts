import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createSessionIndex } from "../../../d1/session-index";
import { sessionStub } from "../../../durable-objects/session/session-stub";
import { createStartClaims } from "../../../d1/start-claims";
import { tenancyServices } from "../../../durable-objects/tenant/tenancy-services";
import { createApp } from "../../../src/api/app";
import type { Services } from "../../../src/api/services";
import type { WireEvent } from "../../../src/protocol/events";
import type { SessionList } from "../../../src/protocol/api/listings";
import { parse, type Run, teamOf } from "../../durable-objects/session/session-client";
import { askWith, makeKey, ORIGIN } from "../keyed-client";
import { noContexts } from "../../builders/no-contexts";
import { noSecrets } from "../../builders/no-secrets";

// A start writes three times, in two stores: the row in the index, the session, and the
// confirmation in the index. These tests interrupt a start between the writes, or run another start
// between them.

const app = createApp();
const body = { question: "What is six times seven?", config: teamOf(["quick"]) };

/**
 * Starts a run in a service with real stores, of which `broken` replaces parts. Returns the
 * response after all background work has ended.
 */
async function startRun(
  broken: Partial<Services["stored"]["index"]> & { create?: Create },
  key: string,
  idempotencyKey: string,
) {
  const backgroundWork: Promise<unknown>[] = [];
  const { create, ...index } = broken;
  const services: Services = {
    session: (caller, id) => {
      const stub = sessionStub({ namespace: env.SESSIONS, masterKey: null }, caller, id);
      return create ? { ...stub, create: (...args) => create(() => stub.create(...args)) } : stub;
    },
    tenancy: tenancyServices(env, (work) => backgroundWork.push(work.catch(() => undefined))),
    secrets: noSecrets,
    config: { storedKeys: [], allowedOrigins: ["http://127.0.0.1:*"], variables: {} },
    contexts: noContexts,
    evals: {
      suites: {},
      cronTenant: null,
      start: notExpected,
      records: { latest: notExpected, runs: notExpected, run: notExpected },
    },
    stored: {
      index: { ...createSessionIndex(env.DB), ...index },
      claims: createStartClaims(env.DB),
      eraseFiles: notExpected,
    },
    teams: {},
    version: { version: "0.0.0", deployment: null },
    openOnLoopback: true,
  };
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": idempotencyKey,
  };
  const request = new Request(`${ORIGIN}/api/runs`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const response = await app.fetch(request, services);
  const answer = { ...(await response.json<Run & { code?: string }>()), status: response.status };
  await Promise.all(backgroundWork);
  return answer;
}

type Create = (
  real: () => ReturnType<ReturnType<Services["session"]>["create"]>,
) => ReturnType<typeof real>;
const notExpected = () => Promise.reject(new Error("not asked for here"));
const failAsDead = () => Promise.reject(new Error("the service died"));

const listedIds = async (key: string) =>
  (await (await askWith(key, "/api/sessions")).json<SessionList>()).data.map(({ id }) => id);
const eventsOf = async (key: string, id: string): Promise<WireEvent[]> =>
  parse(await (await askWith(key, `/api/sessions/${id}/turns/1/events`)).text());
const rowsOf = async (tenant: string) =>
  (
    await env.DB.prepare("SELECT id, state FROM sessions WHERE tenant = ?")
      .bind(tenant)
      .all<{ id: string; state: string }>()
  ).results;
const setTurnLimit = (tenant: string, turns: number) =>
  env.DB.prepare("INSERT INTO tenants (id, concurrent_turns) VALUES (?, ?)")
    .bind(tenant, turns)
    .run();

/** A tenant that may run one turn, and that runs one until `release` is called. */
async function fullTenant(tenant: string) {
  await setTurnLimit(tenant, 1);
  const { key } = await makeKey(tenant);
  const object = env.TENANTS.get(env.TENANTS.idFromName(tenant));
  const request = {
    session: "session_0000000001",
    turn: 1,
    maxCostUsd: null,
    unpriced: [],
    leastUsd: 0,
    endsAt: Date.now() + 600_000,
  };
  expect(await object.startTurn(tenant, request)).toMatchObject({ ok: true });
  return { key, release: () => object.releaseTurn(request.session, 1) };
}

describe("two concurrent starts with the same idempotency key:", () => {
  it.each([
    { name: "the first start is refused and the second is accepted", refusedFirst: true },
    { name: "the second start is refused and the first is accepted", refusedFirst: false },
  ])("if $name, the key returns the accepted run", async ({ refusedFirst }) => {
    const tenant = refusedFirst ? "refused_first" : "refused_second";
    const { key, release } = await fullTenant(tenant);
    const [released, created, refusalReported] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const startRefused = async () => {
      const create: Create = async (real) => {
        const refusal = await real();
        await release();
        released?.resolve();
        await created?.promise;
        return refusal;
      };
      const answer = await startRun({ create }, key, "same");
      refusalReported?.resolve();
      return answer;
    };
    const startAccepted = () => {
      const create: Create = async (real) => {
        await released?.promise;
        const started = await real();
        created?.resolve();
        return started;
      };
      const confirm = async (tenant: string, id: string) => {
        await refusalReported?.promise;
        return createSessionIndex(env.DB).confirm(tenant, id);
      };
      return startRun({ create, confirm }, key, "same");
    };
    const begun = (
      refusedFirst ? [startRefused, startAccepted] : [startAccepted, startRefused]
    ).map((begin) => begin());
    const answers = await Promise.all(begun);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429]);
    const session_id = answers.find(({ status }) => status === 202)?.session_id ?? "";
    expect(await listedIds(key)).toEqual([session_id]);
    expect(await startRun({}, key, "same")).toMatchObject({ status: 202, session_id, turn: 1 });
    expect(
      (await eventsOf(key, session_id)).filter(({ type }) => type === "turn.started"),
    ).toHaveLength(1);
  });

  it("if both are refused, no row stays stored, and the key can be used again", async () => {
    const { key, release } = await fullTenant("both_refused");
    const answers = await Promise.all([1, 2].map(() => startRun({}, key, "same")));
    expect(answers.map(({ code }) => code)).toEqual(["quota_exceeded", "quota_exceeded"]);
    expect(await rowsOf("both_refused")).toEqual([]);
    expect(
      await env.DB.prepare("SELECT * FROM start_claims WHERE tenant = 'both_refused'").first(),
    ).toBeNull();
    await release();
    expect((await startRun({}, key, "same")).status).toBe(202);
  });
});

describe("a start that is interrupted", () => {
  it.each([
    { name: "before its session exists", broken: { create: failAsDead } },
    {
      name: "after its session was created",
      broken: {
        create: async (real: Parameters<Create>[0]) => {
          await real();
          return failAsDead();
        },
      },
    },
    { name: "before it is confirmed", broken: { confirm: failAsDead } },
  ])(
    "$name continues the same run if it is repeated, and the run is listed",
    async ({ name, broken }) => {
      const tenant = name.replaceAll(/[^a-z]/g, "_").slice(0, 30);
      const { key } = await makeKey(tenant);
      await startRun(broken, key, "again");
      const begun = await rowsOf(tenant);
      expect(begun).toEqual([{ id: expect.any(String), state: "starting" }]);
      const again = await Promise.all([1, 2, 3].map(() => startRun({}, key, "again")));
      for (const answer of again)
        expect(answer).toMatchObject({ status: 202, session_id: begun[0]?.id, turn: 1 });
      expect(await rowsOf(tenant)).toEqual([{ id: begun[0]?.id, state: "started" }]);
      expect(await listedIds(key)).toEqual([begun[0]?.id]);
      expect(
        (await eventsOf(key, begun[0]?.id ?? "")).filter(({ type }) => type === "turn.started"),
      ).toHaveLength(1);
    },
  );

  it("can be repeated again if its repetition was refused", async () => {
    const { key, release } = await fullTenant("cut_and_refused");
    await startRun({ create: failAsDead }, key, "later");
    const [begun] = await rowsOf("cut_and_refused");
    expect((await startRun({}, key, "later")).code).toBe("quota_exceeded");
    await release();
    expect(await startRun({}, key, "later")).toMatchObject({ status: 202, session_id: begun?.id });
  });
});
