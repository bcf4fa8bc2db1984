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

/**
 * An id without a session. Lists show the newest id first. This id is newer than all others, so it
 * comes first.
 */
const idWithoutSession = (letter: string) => `session_zzzzzzzzzzzzzzzzzzzzzzz${letter}`;

describe("the list of sessions", () => {
  it("shows a run as soon as its start is confirmed, before older runs, with the first words of its question", async () => {
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

  it("returns every session once over all pages", async () => {
    for (let count = 0; count < 5; count += 1) await start(quick());
    const fullList = await list("?limit=100");
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page: SessionList = await list(`?limit=2${after === null ? "" : `&after=${after}`}`);
      seen.push(...idsOf(page));
      if (!page.has_more) break;
      after = page.last_id;
    }
    expect(seen).toEqual(idsOf(fullList));
    expect(await list(`?after=${fullList.last_id}`)).toEqual({
      object: "list",
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it.each(["limit=0", "limit=101", "limit=x", "after=x", "after=session_UPPER00000"])(
    "is refused with the query %s",
    async (query) => {
      const response = await request(`/api/sessions?${query}`);
      expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
        400,
        "bad_query",
      ]);
    },
  );

  it("contains a run whose start was interrupted after the session was created", async () => {
    const run = await start(quick());
    await setState(run.session_id, "starting");
    expect(idsOf(await list())).toContain(run.session_id);
    await expect.poll(() => rowOf(run.session_id)).toEqual({ state: "started" });
  });

  it("does not contain a run that never started, and removes its row after two days", async () => {
    const [young, old] = [idWithoutSession("a"), idWithoutSession("b")];
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

describe("erasing a session", () => {
  const remainsOf = async (id: string) => {
    const stored = await runInDurableObject(stubOf(id), async (_, { storage }) => ({
      tables: storage.sql
        .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
        .toArray().length,
      alarm: await storage.getAlarm(),
    }));
    const files = await env.BUCKET.list({ prefix: sessionPrefix(TENANT, id) });
    return { ...stored, files: files.objects.length, row: await rowOf(id) };
  };
  const NO_REMAINS = { tables: 0, alarm: null, files: 0, row: null };

  it("erases all its data; afterwards all its paths return 404", async () => {
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
    expect(await remainsOf(run.session_id)).toEqual(NO_REMAINS);
  });

  it("cancels the running turn and ends its streams; the turn writes no data afterwards", async () => {
    const run = await start(teamOf(["hanging", "slow"]));
    const streams = await Promise.all(
      ["", "/turns/1"].map((path) => request(`/api/sessions/${run.session_id}${path}/events`)),
    );
    const texts = streams.map((stream) => stream.text());
    expect((await erase(run.session_id)).status).toBe(204);
    for (const text of await Promise.all(texts)) expect(text).toContain("event: turn.cancelled");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await remainsOf(run.session_id)).toEqual(NO_REMAINS);
    await abortAllDurableObjects();
    expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(404);
  });

  it("is finished by a second request if it was interrupted", async () => {
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
      expect(await remainsOf(session_id)).toEqual(NO_REMAINS);
      expect((await erase(session_id)).status).toBe(404);
    }
  });

  it("returns 404 for an unknown id and 400 for an invalid id", async () => {
    expect((await erase("session_unknown00")).status).toBe(404);
    expect((await erase("x")).status).toBe(400);
  });

  it("erases all files of a session, also on several pages, but no file of another session", async () => {
    const neighbour = "tenants/local/sessions/session_filesaaaa0/answer.txt";
    await env.BUCKET.put(neighbour, "stays");
    const prefix = sessionPrefix(TENANT, "session_filesaaaa");
    await Promise.all(
      Array.from({ length: 7 }, (_, index) => env.BUCKET.put(`${prefix}blobs/${index}`, "")),
    );
    await eraseSessionFiles(env.BUCKET, TENANT, "session_filesaaaa", 3);
    expect((await env.BUCKET.list({ prefix })).objects).toEqual([]);
    expect(await env.BUCKET.head(neighbour)).not.toBeNull();
  });
});

describe("an idempotency key", () => {
  let keyNumber = 0;
  const newKey = () => {
    keyNumber += 1;
    return `key-${keyNumber}`;
  };
  const postWithKey = (
    key: string,
    body: unknown = { question, config: quick() },
    path = "/api/runs",
  ) => post(path, body, { "idempotency-key": key });

  it("A15 starts one run for twenty concurrent starts, with equal responses", async () => {
    const key = newKey();
    const body = { question, config: teamOf(["quick"], { ui: { display_type: "simple" } }) };
    const before = idsOf(await list("?limit=100")).length;
    const responses = await Promise.all(Array.from({ length: 20 }, () => postWithKey(key, body)));
    expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202));
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("display_type");
    expect(idsOf(await list("?limit=100")).length).toBe(before + 1);
    const run: Run = JSON.parse(texts[0] ?? "");
    expect((await follow(run)).events.filter(({ type }) => type === "turn.started")).toHaveLength(
      1,
    );
    expect(await (await postWithKey(key, body)).text()).toBe(texts[0]);
  });

  it("returns the same stream to a repeated request for a stream", async () => {
    const key = newKey();
    const body = { question, config: quick() };
    const readStream = async () =>
      (
        await post("/api/runs", body, { "idempotency-key": key, accept: "text/event-stream" })
      ).text();
    const first = await readStream();
    expect(first).toContain("event: turn.completed");
    expect(await readStream()).toBe(first);
  });

  it("continues a start that was interrupted before its session existed", async () => {
    const key = newKey();
    const body = { question, config: quick() };
    const run = await (await postWithKey(key, body)).json<Run>();
    await follow(run);
    await stubOf(run.session_id).erase(TENANT); // as after a crash before the session was created
    await setState(run.session_id, "starting");
    await abortAllDurableObjects();
    expect(await (await postWithKey(key, body)).json()).toMatchObject({
      session_id: run.session_id,
      turn: 1,
    });
    expect((await follow(run)).text).toContain("event: turn.completed");
  });

  it("A16 is refused with another body or for another path", async () => {
    const key = newKey();
    const run = await (await postWithKey(key)).json<Run>();
    await follow(run);
    const others = [
      await postWithKey(key, { question: "Another?", config: quick() }),
      await postWithKey(key, { question }, `/api/sessions/${run.session_id}/turns`),
    ];
    for (const response of others) {
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ code: "idempotency_key_reused" });
    }
    expect((await request(`/api/sessions/${run.session_id}/turns/2`)).status).toBe(404);
  });

  it("can be used again after the body was refused", async () => {
    const key = newKey();
    expect((await postWithKey(key, { question: "" })).status).toBe(422);
    expect((await postWithKey(key, { question, config: "nobody" })).status).toBe(422);
    expect((await postWithKey(key)).status).toBe(202);
  });

  it("does not restore an erased run", async () => {
    const key = newKey();
    const run = await (await postWithKey(key)).json<Run>();
    await erase(run.session_id);
    const again = await postWithKey(key);
    expect([again.status, (await again.json<{ code: string }>()).code]).toEqual([
      404,
      "session_not_found",
    ]);
    expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(404);
  });

  it("A15 starts one turn for twenty concurrent starts of the next turn", async () => {
    const run = await start(quick());
    await follow(run);
    const key = newKey();
    const path = `/api/sessions/${run.session_id}/turns`;
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => postWithKey(key, { question }, path)),
    );
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect([responses.map(({ status }) => status), new Set(texts).size]).toEqual([
      Array(20).fill(202),
      1,
    ]);
    await follow({ ...run, turn: 2 });
    expect(await (await postWithKey(key, { question }, path)).text()).toBe(texts[0]);
    expect((await request(`/api/sessions/${run.session_id}/turns/3`)).status).toBe(404);
    expect(await (await postWithKey(newKey(), { question }, path)).json()).toMatchObject({
      turn: 3,
    });
  });

  it("is stored for a day; its next use deletes it and all other keys of that age", async () => {
    const [firstKey, secondKey] = [newKey(), newKey()];
    const first = await (await postWithKey(firstKey)).json<Run>();
    const other = await (await postWithKey(secondKey)).json<Run>();
    const yesterday = Date.now() - 24 * 60 * 60 * 1_000;
    const ids = [first.session_id, other.session_id];
    await env.DB.prepare("UPDATE start_claims SET created_at = ? WHERE session_id IN (?, ?)")
      .bind(yesterday, ...ids)
      .run();
    const second = await (await postWithKey(firstKey)).json<Run>();
    expect(second.session_id).not.toBe(first.session_id);
    const remaining = await env.DB.prepare("SELECT 1 FROM start_claims WHERE session_id IN (?, ?)")
      .bind(...ids)
      .all();
    expect(remaining.results).toEqual([]);
  });

  it.each([
    { name: "empty", key: "" },
    { name: "too long", key: "k".repeat(256) },
    { name: "not ASCII", key: "schlüssel" },
  ])("that is $name is refused", async ({ key }) => {
    const response = await postWithKey(key);
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      400,
      "bad_idempotency_key",
    ]);
  });

  it("may be any printable ASCII text of up to 255 characters", async () => {
    expect((await postWithKey(`a '"; DROP TABLE start_claims; --${"~".repeat(222)}`)).status).toBe(
      202,
    );
  });
});

describe("pages of events", () => {
  it("are requested with `after` and `limit`, and contain the same events as the stream", async () => {
    const run = await start(quick());
    const { events } = await follow(run);
    const eventsFromPages: unknown[] = [];
    for (let after = 0; ; ) {
      const path = `${eventsPath(run)}?limit=3&after=${after}`;
      const page = await (await request(path, { headers: { accept: "application/json" } })).json<{
        data: unknown[];
        last_id: number;
        has_more: boolean;
      }>();
      expect(page.data.length).toBeLessThanOrEqual(3);
      eventsFromPages.push(...page.data);
      if (!page.has_more) break;
      after = page.last_id;
    }
    expect(eventsFromPages).toEqual(events);
  });
});
