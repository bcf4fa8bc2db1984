import { Buffer } from "node:buffer";
import { env, runInDurableObject } from "cloudflare:test";
import { expect, inject, it } from "vitest";
import { HOLD_MS } from "../../../durable-objects/rate-gate/rate-gate-api";
import type { EventOf, EventType, WireEvent } from "../../../src/protocol/events";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { attachmentKey } from "../../../r2-layout/session-files";
import { sha256 } from "../../../local/sha256";
import { file, image, PDF, PNG, text } from "../../api/sessions/attachments";
import { askWith, makeKey } from "../../api/keyed-client";
import { eventsPath, follow, post, request, type Run, start } from "../session/session-client";

let quotaCount = 0;
/** An agent that presents at once: one call per session. Each key has its own quota. */
const team = (limits: object, { model = "quick", api_key = `quota-${++quotaCount}` } = {}) => ({
  agents: [
    {
      id: "a",
      backend: {
        type: "chatcompletion",
        model,
        base_url: inject("providersUrl"),
        api_key,
        rate_limits: limits,
      },
    },
  ],
});
const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)));
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const ofType = <T extends EventType>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is WireEvent & EventOf<T> => event.type === type);

/** The log of a turn as it is now. */
async function log(run: Run): Promise<WireEvent[]> {
  const response = await request(`${eventsPath(run)}?limit=500`, {
    headers: { accept: "application/json" },
  });
  const page: { data: WireEvent[] } = await response.json();
  return page.data;
}

async function untilLogged(run: Run, type: EventType): Promise<WireEvent[]> {
  for (;;) {
    const events = await log(run);
    if (events.some((event) => event.type === type)) return events;
    await wait(50);
  }
}

it("sessions of a tenant share an endpoint's limit; a waiting call reports its wait, which a cancellation ends at once", async () => {
  const config = team({ rpm: 1 });
  const first = await follow(await start(config));
  expect(ofType(first.events, "call.waiting")).toEqual([]);
  expect(first.events.at(-1)?.type).toBe("turn.completed");

  const second = await start(config);
  const waiting = await untilLogged(second, "call.waiting");
  const [waitEvent] = ofType(waiting, "call.waiting");
  expect(waitEvent).toMatchObject({ agent: "a", reason: "rate_limit", model: "quick" });
  expect((waitEvent?.until ?? 0) - (waitEvent?.at ?? 0)).toBeGreaterThan(50_000);
  expect(waiting.some(({ type }) => type === "call.started")).toBe(false);

  const cancelledAt = Date.now();
  await post(`/api/sessions/${second.session_id}/cancel`);
  const { events } = await follow(second);
  // The cancellation waits neither for the gate's response nor for the end of the minute.
  expect(Date.now() - cancelledAt).toBeLessThan(HOLD_MS / 2);
  expect(events.at(-1)).toMatchObject({
    type: "turn.cancelled",
    usage: { input_tokens: 0 },
    cost_usd: 0,
  });
});

it("tenants do not share a limit, even with the same key", async () => {
  const config = team({ rpm: 1 });
  await follow(await start(config));
  const other = await makeKey("tenant-of-its-own");
  const started = await askWith(other.key, "/api/runs", {
    method: "POST",
    body: { question: "Six times seven?", config },
  });
  const run: Run = await started.json();
  const stream = await askWith(other.key, eventsPath(run));
  const text = await stream.text();
  expect(text).toContain("event: turn.completed");
  expect(text).not.toContain("event: call.waiting");
});

it("the turn's time limit ends a wait for the rate gate", async () => {
  const config = team({ rpm: 1 });
  await follow(await start(config));
  const { events } = await follow(await start(config, { timeout_seconds: 3 }));
  expect(ofType(events, "call.waiting")).toHaveLength(1);
  expect(ofType(events, "call.started")).toEqual([]);
  expect(events.at(-1)).toMatchObject({ type: "turn.failed" });
});

it("calls with a PDF run at the same time if their expected tokens fit, even if the upper bound does not", async () => {
  const config = team({ tpm: 30_000 }, { model: "unhurried" });
  const pdf = Buffer.concat([PDF, Buffer.alloc(48_000 - PDF.byteLength, 0x20)]);
  const body = { question: [text("What is it?"), file(pdf, "a.pdf")] };
  const runs = [await start(config, body), await start(config, body)];
  const logs = await Promise.all(runs.map((run) => follow(run)));
  for (const { events } of logs) {
    expect(ofType(events, "call.waiting")).toEqual([]);
    expect(events.at(-1)?.type).toBe("turn.completed");
  }
});

it("a waiting call asks again after a restart without a second event, and starts when another call ends", async () => {
  const config = team({ tpm: 2_300 }, { model: "unhurried" });
  const firstRun = await start(config);
  await untilLogged(firstRun, "call.started");
  const waitingRun = await start(config);
  await untilLogged(waitingRun, "call.waiting");
  await runInDurableObject(stubOf(waitingRun), (_, state) => state.abort("killed")).catch(
    () => undefined,
  );
  const [first, second] = await Promise.all([follow(firstRun), follow(waitingRun)]);
  expect(ofType(second.events, "call.waiting")).toHaveLength(1);
  expect(second.events.at(-1)?.type).toBe("turn.completed");
  const bootQuery = "SELECT value FROM meta WHERE key = 'boot'";
  expect(
    await runInDurableObject(stubOf(waitingRun), (_, { storage: { sql } }) =>
      Number(sql.exec(bootQuery).one()["value"]),
    ),
  ).toBe(1);
  const [firstEnd] = ofType(first.events, "call.completed");
  const [secondStart] = ofType(second.events, "call.started");
  expect(secondStart?.at ?? 0).toBeGreaterThanOrEqual(firstEnd?.at ?? 0);
  expect((secondStart?.at ?? 0) - (firstEnd?.at ?? 0)).toBeLessThan(10_000);
});

it("a call whose request was never sent costs nothing and does not count against the limit", async () => {
  const config = team({ rpm: 2 }, { model: "looker" });
  const run = await start(config, { question: [text("What is it?"), image(PNG, "photo.png")] });
  await follow(run);
  await env.BUCKET.delete(attachmentKey(LOCAL_TENANT, run.session_id, sha256(PNG)));
  const question = [text("And now?"), { type: "image", sha256: sha256(PNG) }];
  const again = await post(`/api/sessions/${run.session_id}/turns`, { question });
  const unsent = await follow(await again.json<Run>());
  expect(ofType(unsent.events, "call.failed")).toMatchObject([
    { code: "attachment_lost", tokens: 0, cost_usd: 0 },
  ]);
  const next = await follow(await start(config));
  expect(ofType(next.events, "call.waiting")).toEqual([]);
  expect(next.events.at(-1)?.type).toBe("turn.completed");
});
