import { get, type IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { ServiceProcess } from "../../simulated/service/service-process";
import { hangs } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { RunResponseSchema } from "../../src/protocol/api";
import { bearer, KEYED, newKey } from "./support/keyed";

/** How soon a revoked key is rejected (A5). The service uses its real time limits. */
const CLOSED_WITHIN_MS = 60_000;

const [admin, revoked, active] = [
  newKey("acme", "admin"),
  newKey("acme", "run"),
  newKey("acme", "run"),
];
let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({ models: { mute: hangs("headers") } });
  service = await ServiceProcess.prepare(
    KEYED,
    [admin, revoked, active].map(({ statement }) => statement),
  );
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

const ask = (key: string, path: string, method = "GET", body?: unknown) =>
  fetch(service.url + path, {
    method,
    headers: { ...bearer(key), "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** An open stream. `text` returns all data so far, `endedAt` the time of its end or null. */
type Stream = { status: number; text(): string; endedAt(): number | null; close(): void };

/** Opens a stream. */
function open(path: string, headers: Record<string, string>): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = get(
      service.url + path,
      { agent: false, headers },
      (response: IncomingMessage) => {
        let [text, endedAt] = ["", null as number | null];
        response.on("data", (chunk: Buffer) => {
          text += chunk;
        });
        response
          .on("error", () => undefined)
          .on("close", () => {
            endedAt = performance.now();
          });
        resolve({
          status: response.statusCode ?? 0,
          text: () => text,
          endedAt: () => endedAt,
          close: () => request.destroy(),
        });
      },
    );
    request.on("error", reject);
  });
}

describe("A5 a key that is revoked", () => {
  it("is rejected at once, and its open streams end within a minute, while other streams continue", async () => {
    const backend = {
      type: "chatcompletion",
      model: "mute",
      base_url: providers.baseUrl,
      api_key: "simulated",
    };
    const body = { question: "When does water boil?", config: { agents: [{ id: "a", backend }] } };
    const run = RunResponseSchema.parse(
      await (await ask(revoked.key, "/api/runs", "POST", body)).json(),
    );
    const path = `/api/sessions/${run.session_id}`;
    const ticketOf = async () =>
      z
        .object({ ticket: z.string() })
        .parse(await (await ask(revoked.key, `${path}/tickets`, "POST")).json()).ticket;
    const own = await open(`${path}/events`, bearer(revoked.key));
    const byTicket = await open(`${path}/turns/1/events?ticket=${await ticketOf()}`, {});
    const others = await open(`${path}/events`, bearer(active.key));
    const unused = await ticketOf();
    expect([own, byTicket, others].map(({ status }) => status)).toEqual([200, 200, 200]);

    expect((await ask(admin.key, `/api/keys/${revoked.id}`, "DELETE")).status).toBe(200);
    const revokedAt = performance.now();
    const refused = [
      await ask(revoked.key, path),
      await ask(revoked.key, "/api/runs", "POST", body),
      await ask(revoked.key, `${path}/cancel`, "POST"),
      await fetch(`${service.url}${path}/events?ticket=${unused}`),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 401, 401]);

    while ([own, byTicket].some(({ endedAt }) => endedAt() === null)) {
      expect(performance.now() - revokedAt).toBeLessThan(CLOSED_WITHIN_MS);
      await sleep(50);
    }
    const delays = [own, byTicket].map(({ endedAt }) =>
      Math.round((endedAt() ?? Number.NaN) - revokedAt),
    );
    console.log(`closed ${delays.join(" and ")} ms after the key was revoked`);
    expect(own.text()).toContain("event: call.started");
    // The run belongs to the tenant, so it continues, and other keys can still read it.
    expect(others.endedAt()).toBeNull();
    expect(await (await ask(active.key, `${path}/turns/1`)).json()).toMatchObject({
      status: "running",
    });
    expect((await ask(active.key, path, "DELETE")).status).toBe(204);
    others.close();
  });
});
