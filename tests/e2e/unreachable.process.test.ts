import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { freePort } from "../../simulated/service/loopback";
import { ServiceProcess } from "../../simulated/service/service-process";
import { RunResponseSchema, TurnResponseSchema } from "../../src/protocol/api";
import { LOCAL } from "./support/local";

/** Runs of a tenant with a daily budget, while the provider is unreachable. */
const USD_PER_DAY = 1;
const WITHIN_MS = 60_000;

let service: ServiceProcess;

beforeAll(async () => {
  service = await ServiceProcess.prepare({ ...LOCAL, TENANT_USD_PER_DAY: String(USD_PER_DAY) });
  await service.start();
});
afterAll(() => service?.stop());

const ask = (path: string, body?: unknown) =>
  fetch(service.url + path, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", connection: "close" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

it("a turn with an unreachable provider costs nothing, and its error names the provider (A2)", async () => {
  const host = `127.0.0.1:${await freePort()}`;
  const backend = {
    type: "openai",
    model: "gpt-6-luna",
    base_url: `http://${host}/v1`,
    api_key: "simulated",
  };
  const config = { agents: ["a", "b"].map((id) => ({ id, backend })) };
  for (const _ of [1, 2]) {
    const started = await ask("/api/runs", {
      question: "When does water boil?",
      config,
      budget: { max_cost_usd: 0.5 },
    });
    const { session_id } = RunResponseSchema.parse(await started.json());
    const turn = await vi.waitFor(
      async () => {
        const found = TurnResponseSchema.parse(
          await (await ask(`/api/sessions/${session_id}/turns/1`)).json(),
        );
        expect(found.status).toBe("failed");
        return found;
      },
      { timeout: WITHIN_MS, interval: 500 },
    );
    expect(turn).toMatchObject({ tokens: 0, cost_usd: 0, unreported_cost_usd: 0 });
    const why = { code: "cannot_reach", message: `cannot reach ${host}` };
    expect(turn.error?.agents).toEqual(["a", "b"].map((agent) => ({ agent, ...why })));
    const seconds = (turn.ended_at ?? 0) - turn.started_at;
    expect(seconds).toBeGreaterThanOrEqual(10);
    expect(seconds).toBeLessThan(30);
  }
  // Nothing of the daily budget is spent or reserved, so a run may use the whole budget.
  const wholeBudgetRun = await ask("/api/runs", {
    question: "And now?",
    config,
    budget: { max_cost_usd: USD_PER_DAY },
  });
  expect(wholeBudgetRun.status).toBe(202);
  const { session_id } = RunResponseSchema.parse(await wholeBudgetRun.json());
  const [started] =
    (
      await (
        await fetch(`${service.url}/api/sessions/${session_id}/events?limit=5`, {
          headers: { accept: "application/json" },
        })
      ).text()
    ).match(/"max_cost_usd":[\d.]+/) ?? [];
  expect(started).toBe(`"max_cost_usd":${USD_PER_DAY}`);
});
