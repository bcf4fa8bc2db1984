import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { eraseSessionFiles, sessionPrefix } from "../../../r2-layout/session-files";
import type { SessionList } from "../../../src/protocol/api/listings";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import {
  eventsPath,
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
} from "../../durable-objects/session/session-client";

const question = "What is six times seven?";
const TENANT = LOCAL_TENANT;
const quick = () => teamOf(["quick"]);
const stubOf = (id: string) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, TENANT, id)));
const list = async (query = "") => (await request(`/api/sessions${query}`)).json<SessionList>();
const erase = (id: string) => request(`/api/sessions/${id}`, { method: "DELETE" });
const idsOf = ({ data }: SessionList) => data.map(({ id }) => id);
const rowOf = (id: string) =>
  env.DB.prepare("SELECT state FROM sessions WHERE tenant = ? AND id = ?")
    .bind(TENANT, id)
    .first<{ state: string }>();
const setState = (id: string, state: string, createdAt = Date.now()) =>
  env.DB.prepare("UPDATE sessions SET state = ?, created_at = ? WHERE tenant = ? AND id = ?")
    .bind(state, createdAt, TENANT, id)
    .run();
const addRow = (id: string, createdAt = Date.now()) =>
  env.DB.prepare(
    "INSERT INTO sessions (tenant, id, created_at, state) VALUES (?, ?, ?, 'starting')",
  )
    .bind(TENANT, id, createdAt)
    .run();

/** An id above all others, which is listed first. */
const ghostId = (letter: string) => `session_zzzzzzzzzzzzzzzzzzzzzzz${letter}`;

describe("the list of sessions", () => {
  it("names a run as soon as it is acknowledged, newest first, with the start of its question", async () => {
    const first = await start(quick());
    const second = await start(quick());
    const { object, data, first_id } = await list("?limit=2");
    expect([object, first_id, data.map(({ id }) => id)]).toEqual([
      "list",
      second.session_id,
      [second.session_id, first.session_id],
    ]);
    expect(data[0]).toMatchObject({
      question_preview: question,
      links: { session: `/api/sessions/${second.session_id}` },
    });
  });

  it("returns all of them once, page by page", async () => {
    for (let nth = 0; nth < 5; nth += 1) await start(quick());
    const whole = await list("?limit=100");
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: SessionList = await list(`?limit=2${after === null ? "" : `&after=${after}`}`);
      seen.push(...idsOf(page));
      if (!page.has_more) break;
      after = page.last_id;
    }
    expect(seen).toEqual(idsOf(whole));
    expect(await list(`?after=${whole.last_id}`)).toEqual({
      object: "list",
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it.each(["limit=0", "limit=101", "limit=x", "after=x", "after=session_UPPER00000"])(
    "with %s is refused",
    async (query) => {
      const response = await request(`/api/sessions?${query}`);
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        400,
        "bad_query",
      ]);
    },
  );

  it("has a run whose start was cut off between the row and its confirmation", async () => {
    const run = await start(quick());
    await setState(run.session_id, "starting");
    expect(idsOf(await list())).toContain(run.session_id);
    await expect.poll(() => rowOf(run.session_id)).toEqual({ state: "started" });
  });

  it("does not have a run that never started, and drops its row after days", async () => {
    const [young, old] = [ghostId("a"), ghostId("b")];
    await addRow(young);
    await addRow(old, Date.now() - 3 * 24 * 60 * 60 * 1_000);
    const { data, has_more } = await list("?limit=1");
    expect([data.length, has_more]).toEqual([1, true]);
    expect(idsOf(await list("?limit=100"))).not.toEqual(expect.arrayContaining([young]));
    await expect.poll(() => rowOf(old)).toBeNull();
    expect(await rowOf(young)).not.toBeNull();
    await env.DB.prepare("DELETE FROM sessions WHERE id = ?").bind(young).run();
  });
});

describe("DELETE of a session", () => {
  const leftovers = async (id: string) => {
    const stored = await runInDurableObject(stubOf(id), async (_, { storage }) => ({
      tables: storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray().length,
      alarm: await storage.getAlarm(),
    }));
    const files = await env.BUCKET.list({ prefix: sessionPrefix(TENANT, id) });
    return { ...stored, files: files.objects.length, row: await rowOf(id) };
  };
  const NOTHING = { tables: 0, alarm: null, files: 0, row: null };

  it("erases everything, and returns 404 the second time, as all its addresses do", async () => {
    const run = await start(quick());
    await follow(run);
    await env.BUCKET.put(
      `${sessionPrefix(TENANT, run.session_id)}snapshots/1/1/agent1.1.json`,
      "42",
    );
    expect((await erase(run.session_id)).status).toBe(204);
    const again = await erase(run.session_id);
    expect([again.status, (await again.json<{ code: string }>()).code]).toEqual([
      404,
      "session_not_found",
    ]);
    for (const path of ["", "/events", "/turns/1", "/turns/1/events"]) {
      expect((await request(`/api/sessions/${run.session_id}${path}`)).status).toBe(404);
    }
    expect(idsOf(await list("?limit=100"))).not.toContain(run.session_id);
    expect(await leftovers(run.session_id)).toEqual(NOTHING);
  });

  it("cancels the running turn and ends its streams, and nothing of the session reappears", async () => {
    const run = await start(teamOf(["hanging", "slow"]));
    const streams = await Promise.all(
      ["", "/turns/1"].map((of) => request(`/api/sessions/${run.session_id}${of}/events`)),
    );
    const texts = streams.map((stream) => stream.text());
    expect((await erase(run.session_id)).status).toBe(204);
    for (const text of await Promise.all(texts)) expect(text).toContain("event: turn.cancelled");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await leftovers(run.session_id)).toEqual(NOTHING);
    await abortAllDurableObjects();
    expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(404);
  });

  it("is completed by a second request, wherever it was cut off", async () => {
    const marked = await start(quick());
    await setState(marked.session_id, "erasing");
    expect(idsOf(await list())).not.toContain(marked.session_id);

    const emptied = await start(quick());
    await setState(emptied.session_id, "erasing");
    await stubOf(emptied.session_id).erase(TENANT);
    await env.BUCKET.put(
      `${sessionPrefix(TENANT, emptied.session_id)}tool-results/1/1/agent1/1/look.txt`,
      "42",
    );

    for (const { session_id } of [marked, emptied]) {
      expect((await erase(session_id)).status).toBe(204);
      expect(await leftovers(session_id)).toEqual(NOTHING);
      expect((await erase(session_id)).status).toBe(404);
    }
  });

  it("returns 404 for an unknown id and leaves nothing, and 400 for an invalid id", async () => {
    expect((await erase("session_unknown00")).status).toBe(404);
    expect((await erase("x")).status).toBe(400);
  });

  it("erases more files than one page of a list has, and no others", async () => {
    const neighbour = "tenants/local/sessions/session_filesaaaa0/answer.txt";
    await env.BUCKET.put(neighbour, "stays");
    const prefix = sessionPrefix(TENANT, "session_filesaaaa");
    await Promise.all(
      Array.from({ length: 7 }, (_, nth) => env.BUCKET.put(`${prefix}blobs/${nth}`, "")),
    );
    await eraseSessionFiles(env.BUCKET, TENANT, "session_filesaaaa", 3);
    expect((await env.BUCKET.list({ prefix })).objects).toEqual([]);
    expect(await env.BUCKET.head(neighbour)).not.toBeNull();
  });
});

describe("an idempotency key", () => {
  let last = 0;
  const newKey = () => {
    last += 1;
    return `key-${last}`;
  };
  const withKey = (
    key: string,
    body: unknown = { question, config: quick() },
    path = "/api/runs",
  ) => post(path, body, { "idempotency-key": key });

  it("A15 makes twenty concurrent starts one run, with twenty equal answers", async () => {
    const key = newKey();
    const body = { question, config: teamOf(["quick"], { ui: { display_type: "simple" } }) };
    const before = idsOf(await list("?limit=100")).length;
    const responses = await Promise.all(Array.from({ length: 20 }, () => withKey(key, body)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202));
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("display_type");
    expect(idsOf(await list("?limit=100")).length).toBe(before + 1);
    const run: Run = JSON.parse(texts[0] ?? "");
    expect((await follow(run)).events.filter(({ type }) => type === "turn.started")).toHaveLength(
      1,
    );
    expect(await (await withKey(key, body)).text()).toBe(texts[0]);
  });

  it("returns the same stream to a repeated request for a stream", async () => {
    const key = newKey();
    const body = { question, config: quick() };
    const ask = async () =>
      (
        await post("/api/runs", body, { "idempotency-key": key, accept: "text/event-stream" })
      ).text();
    const first = await ask();
    expect(first).toContain("event: turn.completed");
    expect(await ask()).toBe(first);
  });

  it("completes a start that was cut off before its session existed", async () => {
    const key = newKey();
    const body = { question, config: quick() };
    const run = await (await withKey(key, body)).json<Run>();
    await follow(run);
    await stubOf(run.session_id).erase(TENANT); // as if it had never been made
    await setState(run.session_id, "starting");
    await abortAllDurableObjects();
    expect(await (await withKey(key, body)).json()).toMatchObject({
      session_id: run.session_id,
      turn: 1,
    });
    expect((await follow(run)).text).toContain("event: turn.completed");
  });

  it("A16 is refused with another body, and at another address", async () => {
    const key = newKey();
    const run = await (await withKey(key)).json<Run>();
    await follow(run);
    const others = [
      await withKey(key, { question: "Another?", config: quick() }),
      await withKey(key, { question }, `/api/sessions/${run.session_id}/turns`),
    ];
    for (const response of others) {
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: "idempotency_key_reused" });
    }
    expect((await request(`/api/sessions/${run.session_id}/turns/2`)).status).toBe(404);
  });

  it("is free again after a refusal of the body", async () => {
    const key = newKey();
    expect((await withKey(key, { question: "" })).status).toBe(422);
    expect((await withKey(key, { question, config: "nobody" })).status).toBe(422);
    expect((await withKey(key)).status).toBe(202);
  });

  it("does not restore an erased run", async () => {
    const key = newKey();
    const run = await (await withKey(key)).json<Run>();
    await erase(run.session_id);
    const again = await withKey(key);
    expect([again.status, (await again.json<{ code: string }>()).code]).toEqual([
      404,
      "session_not_found",
    ]);
    expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(404);
  });

  it("A15 makes twenty concurrent further turns one turn", async () => {
    const run = await start(quick());
    await follow(run);
    const key = newKey();
    const path = `/api/sessions/${run.session_id}/turns`;
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => withKey(key, { question }, path)),
    );
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect([responses.map(({ status }) => status), new Set(texts).size]).toEqual([
      Array(20).fill(202),
      1,
    ]);
    await follow({ ...run, turn: 2 });
    expect(await (await withKey(key, { question }, path)).text()).toBe(texts[0]);
    expect((await request(`/api/sessions/${run.session_id}/turns/3`)).status).toBe(404);
    expect(await (await withKey(newKey(), { question }, path)).json()).toMatchObject({ turn: 3 });
  });

  it("is kept for a day, and then deleted with others of its age", async () => {
    const [old, older] = [newKey(), newKey()];
    const first = await (await withKey(old)).json<Run>();
    const other = await (await withKey(older)).json<Run>();
    const yesterday = Date.now() - 24 * 60 * 60 * 1_000;
    const ids = [first.session_id, other.session_id];
    await env.DB.prepare("UPDATE start_claims SET created_at = ? WHERE session_id IN (?, ?)")
      .bind(yesterday, ...ids)
      .run();
    const second = await (await withKey(old)).json<Run>();
    expect(second.session_id).not.toBe(first.session_id);
    const left = await env.DB.prepare("SELECT 1 FROM start_claims WHERE session_id IN (?, ?)")
      .bind(...ids)
      .all();
    expect(left.results).toEqual([]);
  });

  it.each([
    { name: "empty", key: "" },
    { name: "too long", key: "k".repeat(256) },
    { name: "not ASCII", key: "schlüssel" },
  ])("that is $name is refused", async ({ key }) => {
    const response = await withKey(key);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      400,
      "bad_idempotency_key",
    ]);
  });

  it("may be any printable text of 255 characters", async () => {
    expect((await withKey(`a '"; DROP TABLE start_claims; --${"~".repeat(222)}`)).status).toBe(202);
  });
});

describe("pages of events", () => {
  it("are read with `after` and `limit`, and have the events of the stream", async () => {
    const run = await start(quick());
    const { events } = await follow(run);
    const paged: unknown[] = [];
    for (let after = 0; ; ) {
      const path = `${eventsPath(run)}?limit=3&after=${after}`;
      const page = await (await request(path, { headers: { accept: "application/json" } })).json<{
        data: unknown[];
        last_id: number;
        has_more: boolean;
      }>();
      expect(page.data.length).toBeLessThanOrEqual(3);
      paged.push(...page.data);
      if (!page.has_more) break;
      after = page.last_id;
    }
    expect(paged).toEqual(events);
  });
});
