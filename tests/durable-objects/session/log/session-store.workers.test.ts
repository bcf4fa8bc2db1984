import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it, vi } from "vitest";
import type { WireEvent } from "../../../../src/protocol/events";
import {
  eventsPath,
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
  typesOf,
} from "../session-client";
import { LOCAL_TENANT, sessionName } from "../../../../src/tenancy/principal";

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)));

/** Writes an event that this version cannot fold, as another version of the service might have. */
async function writeForeignEvent(
  run: Run,
  type = "round.nudged",
  body = '{"round":1,"nudge":1}',
): Promise<void> {
  await runInDurableObject(stubOf(run), (_, { storage: { sql } }) => {
    const { seq } = sql
      .exec<{ seq: number }>(
        "SELECT max(seq) + 1 AS seq FROM (SELECT seq FROM events UNION SELECT seq FROM deltas)",
      )
      .one();
    const values = [seq, 1, 1, "unknown", type, 1, body];
    sql.exec(
      "INSERT INTO events (seq, turn, attempt, agent, type, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
      ...values,
    );
  });
  await abortAllDurableObjects();
}

/** The turn's calls with the tokens that they reserved. */
async function startedCalls(run: Run): Promise<[string, number][]> {
  const page = await request(eventsPath(run), { headers: { accept: "application/json" } });
  const { data } = await page.json<{ data: WireEvent[] }>();
  return data.flatMap((event): [string, number][] =>
    event.type === "call.started" ? [[event.call, event.reserved.tokens]] : [],
  );
}

it.each([
  { name: "that the rules do not know", type: "round.nudged", body: '{"round":1,"nudge":1}' },
  {
    name: "that neither the rules nor the view can read",
    type: "call.completed",
    body: '{"round":1,"call":"x"}',
  },
])("ends an open turn with an event $name once, and runs the next turn", async ({ type, body }) => {
  const run = await start(teamOf(["hanging", "hanging"]));
  await vi.waitFor(async () => expect(await startedCalls(run)).toHaveLength(2), 10_000);
  await writeForeignEvent(run, type, body);
  const { events } = await follow(run);
  const charged = events.flatMap((event) =>
    event.type === "call.failed" ? [[event.call, event.tokens]] : [],
  );
  expect(charged).toEqual(await startedCalls(run));
  expect(events.at(-1)).toMatchObject({ type: "turn.failed", code: "internal" });
  await abortAllDurableObjects();
  expect(typesOf((await follow(run)).events).filter((type) => type === "turn.failed")).toHaveLength(
    1,
  );
  expect(await (await request(`/api/sessions/${run.session_id}`)).json()).toMatchObject({
    turns: [{ status: "failed" }],
  });
  expect((await post(`/api/sessions/${run.session_id}/turns`, { question: "Again?" })).status).toBe(
    202,
  );
  await post(`/api/sessions/${run.session_id}/cancel`);
});

it("can cancel a turn whose view cannot be computed", async () => {
  const run = await start(teamOf(["hanging", "hanging"]));
  await writeForeignEvent(run, "votes.cleared", "{}");
  await post(`/api/sessions/${run.session_id}/cancel`);
  const { events } = await follow(run);
  expect(
    typesOf(events).filter((type) => ["turn.cancelled", "turn.failed"].includes(type)),
  ).toHaveLength(1);
  expect((await request(`/api/sessions/${run.session_id}`)).status).toBe(200);
});

it("does not read the events of a settled turn again, so later rows in its log change nothing", async () => {
  const run = await start(teamOf(["quick", "plain"]));
  await follow(run);
  const before = await (await request(`/api/sessions/${run.session_id}/turns/1`)).json();
  await writeForeignEvent(run);
  expect(await (await request(`/api/sessions/${run.session_id}/turns/1`)).json()).toEqual(before);
  const next = await post(`/api/sessions/${run.session_id}/turns`, {
    question: "And eight times seven?",
  });
  expect(await next.json()).toMatchObject({ turn: 2 });
  expect(typesOf((await follow({ ...run, turn: 2 })).events).at(-1)).toBe("turn.completed");
});
