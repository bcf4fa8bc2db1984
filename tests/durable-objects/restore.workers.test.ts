import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { follow, post, type Run, request, start, teamOf, typesOf } from "./session-client";

const stubOf = ({ session_id }: Run) => env.SESSIONS.get(env.SESSIONS.idFromName(session_id));

/** As if a later version of the service had written an event that this one does not know. */
async function writeStrangeEvent(run: Run): Promise<void> {
  await runInDurableObject(stubOf(run), (_, { storage: { sql } }) => {
    const { seq } = sql
      .exec<{ seq: number }>("SELECT max(seq) + 1 AS seq FROM (SELECT seq FROM events UNION SELECT seq FROM deltas)")
      .one();
    const values = [seq, 1, 1, "nobody", "round.nudged", 1, '{"round":1,"nudge":1}'];
    sql.exec("INSERT INTO events (seq, turn, attempt, agent, type, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)", ...values);
  });
  await abortAllDurableObjects();
}

it("ends an open turn whose log does not fold, once, and goes on with the next", async () => {
  const run = await start(teamOf(["hanging", "hanging"]));
  await writeStrangeEvent(run);
  const { events } = await follow(run);
  expect(events.at(-1)).toMatchObject({ type: "turn.failed", code: "internal" });
  await abortAllDurableObjects();
  expect(typesOf((await follow(run)).events).filter((type) => type === "turn.failed")).toHaveLength(1);
  expect(await (await request(`/api/sessions/${run.session_id}`)).json()).toMatchObject({ turns: [{ status: "failed" }] });
  expect((await post(`/api/sessions/${run.session_id}/turns`, { question: "Again?" })).status).toBe(202);
  await post(`/api/sessions/${run.session_id}/cancel`);
});

it("does not fold a settled turn again: what follows it in the log changes nothing", async () => {
  const run = await start(teamOf(["quick", "plain"]));
  await follow(run);
  const before = await (await request(`/api/sessions/${run.session_id}/turns/1`)).json();
  await writeStrangeEvent(run);
  expect(await (await request(`/api/sessions/${run.session_id}/turns/1`)).json()).toEqual(before);
  const next = await post(`/api/sessions/${run.session_id}/turns`, { question: "And eight times seven?" });
  expect(await next.json()).toMatchObject({ turn: 2 });
  expect(typesOf((await follow({ ...run, turn: 2 })).events).at(-1)).toBe("turn.completed");
});
