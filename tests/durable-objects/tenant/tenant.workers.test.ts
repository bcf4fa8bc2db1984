import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, inject, it, vi } from "vitest";
import { OutboxWorker } from "../../../durable-objects/session/log/outbox-worker";
import { EventStreams } from "../../../durable-objects/session/streams/event-streams";
import { KeyRevocation } from "../../../durable-objects/session/streams/key-revocation";
import { Outbox } from "../../../durable-objects/session/log/outbox";
import { createTables } from "../../../durable-objects/session/session-tables";
import { SessionLog } from "../../../durable-objects/session/log/session-log";
import { TenantTables } from "../../../durable-objects/tenant/tenant-tables";
import { auditKey } from "../../../src/tenancy/audit";
import { sessionName } from "../../../src/tenancy/principal";
import { askWith, keys, makeKey } from "../../api/keyed-client";
import { firstSegment, teamOf } from "../session/session-client";

const tenant = (id: string) => env.TENANTS.get(env.TENANTS.idFromName(id));
/** Sets the limits of a tenant. */
const setLimits = (id: string, turns: number | null, usd: number | null) =>
  env.DB.prepare("INSERT INTO tenants (id, concurrent_turns, usd_per_day) VALUES (?, ?, ?)")
    .bind(id, turns, usd)
    .run();
const request = (turn: number, maxCostUsd: number | null = null) => ({
  session: "session_0000000001",
  turn,
  maxCostUsd,
  unpriced: [],
  leastUsd: 0,
  endsAt: Date.now() + 60_000,
});
const settled = (turn: number, costUsd: number) => ({
  session: "session_0000000001",
  turn,
  costUsd,
  at: Date.now(),
});

describe("starts at the same time", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("share one read of the tenant's storage; later starts read it again", async () => {
    const prepare = vi.spyOn(env.DB, "prepare");
    const reads = () => prepare.mock.calls.filter(([sql]) => sql.includes("FROM stored_bytes"));
    const start = (turn: number) => tenant("crowd").startTurn("crowd", request(turn));
    const decisions = await Promise.all(Array.from({ length: 10 }, (_, nth) => start(nth + 1)));
    expect(decisions.map(({ ok }) => ok)).toEqual(decisions.map(() => true));
    expect(reads().length).toBeLessThan(10);
    const before = reads().length;
    await start(11);
    expect(reads()).toHaveLength(before + 1);
  });
});

describe("a tenant's audit log", () => {
  const entry = (result: number) => ({
    at: 1,
    keyId: "k",
    action: "POST /api/runs",
    from: null,
    requestId: "r",
    result,
  });
  const page = { after: 0, limit: 100 };

  it("continues with keyed hashes after rows without a key, and shows changed rows (L18)", async () => {
    await tenant("sealed-log").audit(entry(1)); // without a master key
    await runInDurableObject(tenant("sealed-log"), (_, { storage: { sql } }) => {
      const tables = new TenantTables(sql, auditKey("the master key", "object"));
      for (const result of [2, 3, 4]) tables.appendAudit(entry(result));
      const hashes = tables
        .auditPage(page)
        .rows.map(({ hash }) => hash.replace(/[0-9a-f]{64}$/, "x"));
      expect([hashes, tables.auditPage(page).brokenAt]).toEqual([
        ["x", "hmac:x", "hmac:x", "hmac:x"],
        null,
      ]);
      sql.exec("UPDATE audit SET result = 9 WHERE seq = 3");
      expect([0, 1, 2, 3].map((after) => tables.auditPage({ ...page, after }).brokenAt)).toEqual([
        3,
        3,
        3,
        null,
      ]);
      sql.exec("DELETE FROM audit WHERE seq = 3");
      expect([0, 2, 3].map((after) => tables.auditPage({ ...page, after }).brokenAt)).toEqual([
        4, 4, 4,
      ]);
    });
  });

  it("writes each new head to the service's log, so that the deletion of newest rows is noticed (L18)", async () => {
    const log = vi.spyOn(console, "log");
    const { key } = await makeKey("told-heads", { scopes: "admin" });
    await askWith(key, "/api/audit");
    const { rows } = await tenant("told-heads").auditPage(page);
    expect(log).toHaveBeenCalledWith("audit", "told-heads", "1", rows[0]?.hash);
    log.mockRestore();
  });
});

describe("a tenant's object", () => {
  it("grants turns up to its limit, and the end of a turn frees one, also if it is reported twice", async () => {
    await setLimits("places", 2, null);
    const object = tenant("places");
    for (const turn of [1, 2, 2])
      expect(await object.startTurn("places", request(turn))).toMatchObject({ ok: true });
    expect(await object.startTurn("places", request(3))).toEqual({
      ok: false,
      code: "quota_exceeded",
      limit: 2,
      running: 2,
    });
    for (const _ of [1, 2]) await object.endTurn(settled(1, 0.5));
    expect(await object.startTurn("places", request(3))).toMatchObject({ ok: true });
    await object.releaseTurn("session_0000000001", 3);
    expect(await object.startTurn("places", request(4))).toMatchObject({ ok: true });
  });

  it("never reserves more than the rest of the daily budget, also for concurrent requests", async () => {
    await setLimits("money", null, 10);
    const object = tenant("money");
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map((turn) => object.startTurn("money", request(turn, 3))),
    );
    expect(answers.map((answer) => (answer.ok ? answer.maxCostUsd : answer.code))).toEqual([
      3,
      3,
      3,
      1,
      "spend_exceeded",
    ]);
    for (const turn of [1, 1, 1]) await object.endTurn(settled(turn, 0.5));
    expect(await object.startTurn("money", request(6))).toMatchObject({
      ok: true,
      maxCostUsd: 2.5,
    });
  });

  it("reserves the largest budget of concurrent requests for the same turn", async () => {
    await setLimits("racing", 1, 10);
    const object = tenant("racing");
    expect(await object.startTurn("racing", request(1, 8))).toMatchObject({
      ok: true,
      maxCostUsd: 8,
    });
    const cheap = { ...request(1, 0.01), endsAt: Date.now() + 1 };
    expect(await object.startTurn("racing", cheap)).toMatchObject({ ok: true, maxCostUsd: 0.01 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await object.startTurn("racing", request(2))).toMatchObject({
      code: "quota_exceeded",
      running: 1,
    });
    const leases = await runInDurableObject(object, (_, { storage }) =>
      storage.sql.exec("SELECT turn, reserved_usd FROM leases").toArray(),
    );
    expect(leases).toEqual([{ turn: 1, reserved_usd: 8 }]);
  });

  it("reserves nothing for a turn that has already ended", async () => {
    await setLimits("late", 1, null);
    const object = tenant("late");
    await object.endTurn(settled(1, 0));
    await object.startTurn("late", request(1));
    expect(await object.startTurn("late", request(2))).toMatchObject({ ok: true });
  });
});

const question = "What is six times seven?";
const start = (key: string, models: readonly string[], more: object = {}) =>
  askWith(key, "/api/runs", {
    method: "POST",
    body: { question, config: teamOf(models), ...more },
  });

describe("a run", () => {
  it("beyond the tenant's limit is refused with 429, and can start after another run has ended", async () => {
    await setLimits("busy", 1, null);
    const { key } = await makeKey("busy");
    const { session_id } = await (await start(key, ["hanging"])).json<{ session_id: string }>();
    const refused = await start(key, ["quick"]);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(await refused.json()).toMatchObject({ code: "quota_exceeded", limit: 1, running: 1 });
    await askWith(key, `/api/sessions/${session_id}/cancel`, { method: "POST" });
    await vi.waitFor(async () => expect((await start(key, ["quick"])).status).toBe(202), 10_000);
  });

  it("of a model without a known price is refused if the tenant has a daily budget", async () => {
    await setLimits("capped", null, 5);
    const { key } = await makeKey("capped");
    const refused = await start(key, ["quick"]);
    expect([refused.status, await refused.json()]).toEqual([
      422,
      expect.objectContaining({
        code: "price_unknown",
        agents: ["a0"],
        detail: expect.stringContaining("TENANT_USD_PER_DAY"),
      }),
    ]);
  });

  it.each([
    { name: "has spent its daily budget", id: "spent", usd: 5, says: "$5.00" },
    {
      name: "cannot pay for a first call from the rest of its daily budget",
      id: "nearly_spent",
      usd: 4.9999,
      says: "less than the cost of a first call",
    },
  ])("of a tenant that $name is refused with 402 and a reason", async ({ id, usd, says }) => {
    await setLimits(id, null, 5);
    const { key } = await makeKey(id);
    await tenant(id).endTurn(settled(1, usd));
    const agents = [
      {
        id: "a0",
        backend: { type: "openai", base_url: inject("providersUrl"), api_key: "caller-key" },
      },
    ];
    const refused = await askWith(key, "/api/runs", {
      method: "POST",
      body: { question, config: { agents } },
    });
    const problem = await refused.json<{ code: string; detail: string }>();
    expect([problem.code, refused.status]).toEqual(["spend_exceeded", 402]);
    expect(problem.detail).toContain(says);
  });
});

it("a session reports the end of a turn to its tenant, and its outbox is empty afterwards", async () => {
  await setLimits("told", null, null);
  const { key } = await makeKey("told");
  const { session_id } = await (await start(key, ["quick"])).json<{ session_id: string }>();
  await (await askWith(key, `/api/sessions/${session_id}/turns/1/events`)).text();
  const session = env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "told", session_id)));
  await vi.waitFor(async () => {
    const items = await runInDurableObject(session, (_, { storage }) =>
      storage.sql.exec("SELECT * FROM outbox").toArray(),
    );
    expect(items).toEqual([]);
    expect(await runInDurableObject(session, (_, { storage }) => storage.getAlarm())).toBeNull();
  }, 10_000);
  const rows = await runInDurableObject(tenant("told"), (_, { storage }) => ({
    settled: storage.sql.exec("SELECT session, turn FROM settled").toArray(),
    leases: storage.sql.exec("SELECT * FROM leases").toArray(),
  }));
  expect(rows).toEqual({ settled: [{ session: session_id, turn: 1 }], leases: [] });
});

it("the outbox keeps a failed item, waits longer after each try, and deletes an item that is done", async () => {
  await runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, { storage }) => {
    createTables(storage.sql);
    const outbox = new Outbox<ReturnType<typeof settled>>(storage.sql, "outbox");
    outbox.add(settled(1, 0));
    outbox.add(settled(2, 0));
    const waits: number[] = [];
    for (let now = 0, tries = 0; tries < 12; tries += 1) {
      const item = outbox.due(now);
      if (!item) throw new Error("nothing is due");
      expect(item.body.turn).toBe(1);
      outbox.failed(item, now);
      storage.sql.exec("UPDATE outbox SET not_before = ? WHERE id = 2", now + 600_000);
      waits.push((outbox.nextAt(now) ?? 0) - now);
      expect(outbox.due(now)).toBeNull();
      now = outbox.nextAt(now) ?? 0;
    }
    expect([waits[0], waits[1], waits.at(-1)]).toEqual([1_000, 2_000, 600_000]);
    outbox.done(1);
    outbox.done(2);
    expect(outbox.nextAt(0)).toBeNull();
  });
});

it("the outbox does not wait longer if the clock is set back after a failed try", async () => {
  await runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, { storage }) => {
    createTables(storage.sql);
    const outbox = new Outbox<ReturnType<typeof settled>>(storage.sql, "outbox");
    outbox.add(settled(1, 0));
    const item = outbox.due(0);
    if (!item) throw new Error("nothing is due");
    outbox.failed(item, 7_200_000);
    expect([outbox.nextAt(3_600_000), outbox.due(3_600_000)?.id]).toEqual([3_600_000, item.id]);
    expect([outbox.nextAt(7_200_000), outbox.due(7_200_000)]).toEqual([7_201_000, null]);
  });
});

it("a stopped outbox worker has no next time, so the alarm is not set for it", async () => {
  await runInDurableObject(env.SESSIONS.get(env.SESSIONS.newUniqueId()), async (_, { storage }) => {
    createTables(storage.sql);
    const outbox = new Outbox<ReturnType<typeof settled>>(storage.sql, "outbox");
    outbox.add(settled(1, 0));
    const work = new OutboxWorker({
      ...{ outbox, deliver: async () => "done" as const, now: () => 0 },
      errorLabel: ["was not delivered", "s"],
    });
    expect(work.nextAt(0)).toBe(0);
    await work.stop();
    expect(work.nextAt(0)).toBeNull();
  });
});

describe("A5 the check of the keys of open streams", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("closes streams of revoked and expired keys, and no other streams", async () => {
    const [revoked, good] = [await makeKey("streams"), await makeKey("streams")];
    const expired = await makeKey("streams", { expires_at: Date.now() - 1 });
    await keys.revoke("streams", revoked.id, Date.now());
    await runInDurableObject(
      env.SESSIONS.get(env.SESSIONS.newUniqueId()),
      async (_, { storage }) => {
        createTables(storage.sql);
        const log = new SessionLog(storage.sql);
        const streams = new EventStreams({
          log,
          sessionId: "s",
          maxReaders: 9,
          now: () => Date.now(),
          endedAt: () => null,
        });
        const request = { after: 0, turn: null, deltas: true };
        const readers = [revoked.id, good.id, null, revoked.id, expired.id].map((id) =>
          firstSegment(streams.open(request, id)).getReader(),
        );
        for (const reader of readers) await reader.read();
        const live = vi.fn((ids: readonly string[]) => keys.live(ids, Date.now()));
        await new KeyRevocation({ streams, live }).check();
        expect(live.mock.calls).toEqual([[[revoked.id, good.id, expired.id]]]);
        for (const nth of [0, 3, 4]) expect((await readers[nth]?.read())?.done).toBe(true);
        expect(streams.keyIds()).toEqual([good.id]);
        for (const reader of readers) await reader.cancel();
        expect(streams.watched).toBe(false);
      },
    );
  });

  it("closes no stream while the database does not answer", async () => {
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const closed: string[] = [];
    const streams = { keyIds: () => ["a"], closeOf: (id: string) => void closed.push(id) };
    await new KeyRevocation({
      streams,
      live: () => Promise.reject(new Error("D1 is away")),
    }).check();
    expect(closed).toEqual([]);
    await new KeyRevocation({ streams, live: async () => new Set() }).check();
    expect(closed).toEqual(["a"]);
  });
});
