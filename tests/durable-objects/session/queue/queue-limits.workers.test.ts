import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import type { Queue } from "../../../../src/protocol/api/queue";
import type { TurnList } from "../../../../src/protocol/api/listings";
import { askWith, keys, makeKey } from "../../../api/keyed-client";
import { teamOf, type Run } from "../session-client";
import { question } from "./queue-client";

/** Queues of tenants with keys and limits. */

/** A session of a tenant, through one of its keys. */
class TenantSession {
  constructor(
    readonly key: string,
    readonly id: string,
  ) {}

  static async start(key: string, team: object, asked: string): Promise<TenantSession> {
    const body = { question: asked, config: team };
    const response = await askWith(key, "/api/runs", { method: "POST", body });
    if (response.status !== 202) throw new Error(await response.text());
    return new TenantSession(key, (await response.json<Run>()).session_id);
  }

  withKey = (key: string): TenantSession => new TenantSession(key, this.id);

  call = (path: string, method: "GET" | "POST" | "DELETE" = "GET", body?: object) =>
    askWith(this.key, `/api/sessions/${this.id}${path}`, { method, body });
  post = (path: string, body: object = {}) => this.call(path, "POST", body);
  queue = async (): Promise<Queue> => (await this.call("/queue")).json();
  ask = (asked: string) => this.post("/turns", { question: asked, on_busy: "queue" });
  statuses = async (): Promise<string[]> =>
    (await (await this.call("/turns")).json<TurnList>()).data.map(({ status }) => status);
  untilTurns = (count: number) =>
    vi.waitUntil(
      async () => {
        const statuses = await this.statuses();
        return statuses.length >= count && !statuses.includes("running");
      },
      { timeout: 30_000, interval: 50 },
    );
  until = (isReached: (queue: Queue) => boolean) =>
    vi.waitUntil(async () => isReached(await this.queue()), { timeout: 20_000 });
}

const tenantOf = (id: string) => env.TENANTS.get(env.TENANTS.idFromName(id));
const setLimits = (id: string, turns: number | null, usd: number | null) =>
  env.DB.prepare("INSERT INTO tenants (id, concurrent_turns, usd_per_day) VALUES (?, ?, ?)")
    .bind(id, turns, usd)
    .run();
const chronicler = teamOf(["chronicler"]);

describe("a revoked key", () => {
  it("starts nothing: the queue is held until a valid key resumes it", async () => {
    const first = await makeKey("revoker");
    const session = await TenantSession.start(first.key, chronicler, question(1, "stalled"));
    await session.ask(question(2));
    const other = session.withKey((await makeKey("revoker")).key);
    await keys.revoke("revoker", first.id, Date.now());
    const interrupt = { question: question(3), on_busy: "interrupt" };
    expect((await other.post("/turns", interrupt)).status).toBe(202);
    await other.until(({ held }) => held?.code === "key_revoked");
    expect(await other.statuses()).toEqual(["cancelled", "completed"]);
    await other.post("/queue/resume");
    await other.untilTurns(3);
    expect(await other.statuses()).toEqual(["cancelled", "completed", "completed"]);
    expect((await other.queue()).held).toBeNull();
  });
});

describe("a limit of the tenant", () => {
  it("lets the queue wait if the day's budget ends, and fails nothing", async () => {
    await setLimits("frugal_queue", null, 1);
    const { key } = await makeKey("frugal_queue");
    const team = teamOf(["gemini-2.5-flash"]);
    const session = await TenantSession.start(key, team, "What is six times seven?");
    await session.untilTurns(1);
    const spent = { session: "session_0000000009", turn: 1, costUsd: 5, at: Date.now() };
    await session.post("/turns", { question: "Again?" });
    await tenantOf("frugal_queue").endTurn(spent);
    for (const asked of ["One?", "Two?"]) await session.ask(asked);
    await session.until(({ waiting }) => waiting?.code === "spend_exceeded");
    expect((await session.queue()).waiting?.retry_at).toBeGreaterThan(Date.now() / 1_000 - 1);
    expect(await session.queue()).toMatchObject({ held: null, data: [{}, {}] });
    expect((await session.statuses()).includes("failed")).toBe(false);
    await runInDurableObject(tenantOf("frugal_queue"), (_, { storage }) =>
      storage.sql.exec("DELETE FROM spend"),
    );
    await session.untilTurns(4);
    expect(await session.statuses()).toEqual(["completed", "completed", "completed", "completed"]);
  });

  it("counts the history of a question against the rest of the day", async () => {
    await setLimits("talkative", null, 1);
    const { key } = await makeKey("talkative");
    const team = teamOf(["gemini-2.5-flash"]);
    const long = `What is six times seven? ${"I ask for a friend. ".repeat(4_000)}`;
    const session = await TenantSession.start(key, team, long);
    await session.untilTurns(1);
    await runInDurableObject(tenantOf("talkative"), (_, { storage }) =>
      storage.sql.exec("DELETE FROM spend"),
    );
    // The rest pays for a first call with a short question, but not with 80 KB of history.
    const spent = { session: "session_0000000007", turn: 1, costUsd: 0.985, at: Date.now() };
    await tenantOf("talkative").endTurn(spent);
    const refused = await session.ask("And seven times eight?");
    expect([refused.status, await refused.json()]).toMatchObject([402, { code: "spend_exceeded" }]);
    expect(await session.statuses()).toEqual(["completed"]);
    const other = await TenantSession.start(key, team, "What is six times seven?");
    await other.untilTurns(1);
    expect(await other.statuses()).toEqual(["completed"]);
  });

  it("lets the queue wait for a place", async () => {
    await setLimits("crowded_queue", 1, null);
    const { key } = await makeKey("crowded_queue");
    const session = await TenantSession.start(key, chronicler, question(1, "stalled"));
    await session.ask(question(2));
    await session.post("/cancel");
    await session.until(({ held }) => held !== null);
    const other = {
      ...{ session: "session_0000000008", turn: 1, maxCostUsd: null, unpriced: [], leastUsd: 0 },
      endsAt: Date.now() + 600_000,
    };
    await vi.waitUntil(
      async () => (await tenantOf("crowded_queue").startTurn("crowded_queue", other)).ok,
      { timeout: 10_000 },
    );
    await session.post("/queue/resume");
    await session.until(({ waiting }) => waiting?.code === "quota_exceeded");
    await tenantOf("crowded_queue").releaseTurn(other.session, 1);
    await session.untilTurns(2);
    expect(await session.statuses()).toEqual(["cancelled", "completed"]);
  });
});
