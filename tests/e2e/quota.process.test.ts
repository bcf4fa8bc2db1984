import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { answersThenVotes, hangs } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { RunResponseSchema, TurnResponseSchema } from "../../src/protocol/api";
import { bearer, KEYED, newKey } from "./support/keyed";
import { LOCAL } from "./support/local";

/**
 * The quota of a tenant after a kill of the service: running turns and spent money still count. The
 * prices of these models are known, so a cost cap applies.
 */
const [QUICK, MUTE] = ["gpt-6-luna", "gpt-6.2-sol"];
const USD_PER_DAY = 1;
/** Long limit that only prevents an endless wait for the end of a turn. */
const FREE_WITHIN_MS = 60_000;

const [busy, frugal] = [newKey("busy", "run"), newKey("frugal", "run")];
const limits = `INSERT INTO tenants (id, concurrent_turns, usd_per_day) VALUES ('busy', 1, NULL), ('frugal', NULL, ${USD_PER_DAY})`;
let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({
    models: { [QUICK]: answersThenVotes({ answer: "At 100 °C." }), [MUTE]: hangs("headers") },
  });
  service = await ServiceProcess.prepare(KEYED, [busy.statement, frugal.statement, limits]);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const bodyFor = (model: string) => {
  const backend = {
    type: "openai",
    model,
    base_url: providers.baseUrls["openai-responses"],
    api_key: "simulated",
  };
  return { question: "When does water boil?", config: { agents: [{ id: "a", backend }] } };
};
const ask = (key: string, path: string, method = "GET", body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { ...bearer(key), "content-type": "application/json", connection: "close" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const start = (key: string, model: string) => ask(key, "/api/runs", "POST", bodyFor(model));
const sessionOf = async (response: Response) =>
  RunResponseSchema.parse(await response.json()).session_id;
const restart = async () => {
  await service.kill();
  await service.start();
};

describe("after a kill", () => {
  it("a running turn counts until it ends", async () => {
    const session = await sessionOf(await start(busy.key, MUTE));
    await restart();
    const refused = await start(busy.key, QUICK);
    expect(await refused.json()).toMatchObject({
      status: 429,
      code: "quota_exceeded",
      limit: 1,
      running: 1,
    });
    expect((await ask(busy.key, `/api/sessions/${session}/cancel`, "POST")).status).toBe(200);
    await vi.waitFor(
      async () => expect((await start(busy.key, QUICK)).status).toBe(202),
      FREE_WITHIN_MS,
    );
  });

  it("the costs of ended turns are spent, and the possible costs of running turns are reserved", async () => {
    const session = await sessionOf(await start(frugal.key, QUICK));
    await (await ask(frugal.key, `/api/sessions/${session}/turns/1/events?detail=summary`)).text();
    const turn = TurnResponseSchema.parse(
      await (await ask(frugal.key, `/api/sessions/${session}/turns/1`)).json(),
    );
    const spent = turn.cost_usd_known;
    expect(spent).toBeGreaterThan(0);
    await restart();
    // A turn without a budget reserves the rest of the daily budget.
    await vi.waitFor(
      async () => expect((await start(frugal.key, MUTE)).status).toBe(202),
      FREE_WITHIN_MS,
    );
    await restart();
    const refusal = await (await start(frugal.key, QUICK)).json();
    expect(refusal).toMatchObject({ status: 402, code: "spend_exceeded", limit_usd: USD_PER_DAY });
    expect(refusal).toMatchObject({
      spent_usd: expect.closeTo(spent, 9),
      reserved_usd: expect.closeTo(USD_PER_DAY - spent, 9),
    });
  });
});

describe("open local access", () => {
  it("applies the operator's limits (F2)", async () => {
    const limits = { TENANT_CONCURRENT_TURNS: "1", TENANT_USD_PER_DAY: String(USD_PER_DAY) };
    const local = await ServiceProcess.prepare({ ...LOCAL, ...limits });
    try {
      await local.start();
      const run = () =>
        fetch(`${local.url}/api/runs`, {
          method: "POST",
          headers: { "content-type": "application/json", connection: "close" },
          body: JSON.stringify(bodyFor(MUTE)),
        });
      const session = await sessionOf(await run());
      expect(await (await run()).json()).toMatchObject({
        status: 429,
        code: "quota_exceeded",
        limit: 1,
        running: 1,
      });
      await fetch(`${local.url}/api/sessions/${session}/cancel`, { method: "POST" });
      // The cancelled call had reserved the rest of the daily budget, and is charged in full.
      const refused = { status: 402, code: "spend_exceeded", limit_usd: USD_PER_DAY };
      await vi.waitFor(
        async () => expect(await (await run()).json()).toMatchObject(refused),
        FREE_WITHIN_MS,
      );
    } finally {
      await local.stop();
    }
  });
});
