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

/**
 * A start is three writes in two stores: a row, a session, and its confirmation. These tests stop
 * it between the writes, or run others in between.
 */

const app = createApp();
const body = { question: "What is six times seven?", config: teamOf(["quick"]) };

/**
 * The service with its real stores; `broken` replaces parts of them. Resolves with the response
 * once all background work is done.
 */
async function startAt(
  broken: Partial<Services["stored"]["index"]> & { create?: Create },
  key: string,
  once: string,
) {
  const left: Promise<unknown>[] = [];
  const { create, ...index } = broken;
  const services: Services = {
    session: (caller, id) => {
      const stub = sessionStub({ namespace: env.SESSIONS, masterKey: null }, caller, id);
      return create ? { ...stub, create: (...args) => create(() => stub.create(...args)) } : stub;
    },
    tenancy: tenancyServices(env, (work) => left.push(work.catch(() => undefined))),
    secrets: noSecrets,
    config: { storedKeys: [], allowedOrigins: ["http://127.0.0.1:*"], variables: {} },
    contexts: noContexts,
    evals: {
      suites: {},
      cronTenant: null,
      start: never,
      records: { latest: never, runs: never, run: never },
    },
    stored: {
      index: { ...createSessionIndex(env.DB), ...index },
      claims: createStartClaims(env.DB),
      eraseFiles: never,
    },
    teams: {},
    version: { version: "0.0.0", deployment: null },
    openOnLoopback: true,
  };
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "idempotency-key": once,
  };
  const request = new Request(`${ORIGIN}/api/runs`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const response = await app.fetch(request, services);
  const answer = { ...(await response.json<Run & { code?: string }>()), status: response.status };
  await Promise.all(left);
  return answer;
}

type Create = (
  real: () => ReturnType<ReturnType<Services["session"]>["create"]>,
) => ReturnType<typeof real>;
const never = () => Promise.reject(new Error("not asked for here"));
const dies = () => Promise.reject(new Error("the service died"));

const listed = async (key: string) =>
  (await (await askWith(key, "/api/sessions")).json<SessionList>()).data.map(({ id }) => id);
const eventsOf = async (key: string, id: string): Promise<WireEvent[]> =>
  parse(await (await askWith(key, `/api/sessions/${id}/turns/1/events`)).text());
const rowsOf = async (tenant: string) =>
  (
    await env.DB.prepare("SELECT id, state FROM sessions WHERE tenant = ?")
      .bind(tenant)
      .all<{ id: string; state: string }>()
  ).results;
const allow = (tenant: string, turns: number) =>
  env.DB.prepare("INSERT INTO tenants (id, concurrent_turns) VALUES (?, ?)")
    .bind(tenant, turns)
    .run();

/** A tenant whose only place is taken until `free` is called. */
async function fullTenant(tenant: string) {
  await allow(tenant, 1);
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
  return { key, free: () => object.releaseTurn(request.session, 1) };
}

describe("two concurrent starts with one idempotency key:", () => {
  it.each([
    { name: "the first is refused when the second may begin", refusedFirst: true },
    { name: "the second is refused before the first begins", refusedFirst: false },
  ])("if $name, the accepted one stays, and the key leads to it", async ({ refusedFirst }) => {
    const tenant = refusedFirst ? "refused_first" : "refused_second";
    const { key, free } = await fullTenant(tenant);
    const [freed, made, reported] = [1, 2, 3].map(() => Promise.withResolvers<void>());
    const refuse = async () => {
      const create: Create = async (real) => {
        const refusal = await real();
        await free();
        freed?.resolve();
        await made?.promise;
        return refusal;
      };
      const answer = await startAt({ create }, key, "same");
      reported?.resolve();
      return answer;
    };
    const accept = () => {
      const create: Create = async (real) => {
        await freed?.promise;
        const started = await real();
        made?.resolve();
        return started;
      };
      const confirm = async (tenant: string, id: string) => {
        await reported?.promise;
        return createSessionIndex(env.DB).confirm(tenant, id);
      };
      return startAt({ create, confirm }, key, "same");
    };
    const begun = (refusedFirst ? [refuse, accept] : [accept, refuse]).map((begin) => begin());
    const answers = await Promise.all(begun);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 429]);
    const session_id = answers.find(({ status }) => status === 202)?.session_id ?? "";
    expect(await listed(key)).toEqual([session_id]);
    expect(await startAt({}, key, "same")).toMatchObject({ status: 202, session_id, turn: 1 });
    expect(
      (await eventsOf(key, session_id)).filter(({ type }) => type === "turn.started"),
    ).toHaveLength(1);
  });

  it("if both are refused, nothing is left, and the key is free", async () => {
    const { key, free } = await fullTenant("both_refused");
    const answers = await Promise.all([1, 2].map(() => startAt({}, key, "same")));
    expect(answers.map(({ code }) => code)).toEqual(["quota_exceeded", "quota_exceeded"]);
    expect(await rowsOf("both_refused")).toEqual([]);
    expect(
      await env.DB.prepare("SELECT * FROM start_claims WHERE tenant = 'both_refused'").first(),
    ).toBeNull();
    await free();
    expect((await startAt({}, key, "same")).status).toBe(202);
  });
});

describe("a start that is cut off", () => {
  it.each([
    { name: "before its session", broken: { create: dies } },
    {
      name: "with its session created and not answered",
      broken: {
        create: async (real: Parameters<Create>[0]) => {
          await real();
          return dies();
        },
      },
    },
    { name: "before it is confirmed", broken: { confirm: dies } },
  ])(
    "$name starts the same run once when it is repeated, and the index lists it",
    async ({ name, broken }) => {
      const tenant = name.replaceAll(/[^a-z]/g, "_").slice(0, 30);
      const { key } = await makeKey(tenant);
      await startAt(broken, key, "again");
      const begun = await rowsOf(tenant);
      expect(begun).toEqual([{ id: expect.any(String), state: "starting" }]);
      const again = await Promise.all([1, 2, 3].map(() => startAt({}, key, "again")));
      for (const answer of again)
        expect(answer).toMatchObject({ status: 202, session_id: begun[0]?.id, turn: 1 });
      expect(await rowsOf(tenant)).toEqual([{ id: begun[0]?.id, state: "started" }]);
      expect(await listed(key)).toEqual([begun[0]?.id]);
      expect(
        (await eventsOf(key, begun[0]?.id ?? "")).filter(({ type }) => type === "turn.started"),
      ).toHaveLength(1);
    },
  );

  it("and refused when it is repeated can be repeated again", async () => {
    const { key, free } = await fullTenant("cut_and_refused");
    await startAt({ create: dies }, key, "later");
    const [begun] = await rowsOf("cut_and_refused");
    expect((await startAt({}, key, "later")).code).toBe("quota_exceeded");
    await free();
    expect(await startAt({}, key, "later")).toMatchObject({ status: 202, session_id: begun?.id });
  });
});
