import { abortAllDurableObjects, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { WATCHDOG_MS } from "../../../src/engine/alarm-scheduler";
import type { SessionStatus } from "../../../src/protocol/api";
import { type WireEvent, WireEventSchema } from "../../../src/protocol/events";
import {
  eventsPath,
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
  typesOf,
} from "./session-client";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { misfolded } from "../../e2e/support/verdict";

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id)));
const ofType = <T extends WireEvent["type"]>(events: readonly WireEvent[], type: T) =>
  events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type);

const getJson = async <T>(path: string): Promise<T> =>
  (await request(path, { headers: { accept: "application/json" } })).json<T>();

/** Waits until the session's log has an event of this type. */
async function waitFor(run: Run, type: string): Promise<void> {
  for (const startedAt = performance.now(); performance.now() - startedAt < 25_000; ) {
    const path = `/api/sessions/${run.session_id}/events?limit=1000`;
    const { data } = await getJson<{ data: WireEvent[] }>(path);
    if (typesOf(data).includes(type)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no ${type}`);
}

describe("a turn", () => {
  it("runs from a question to one final answer; its events are valid and numbered without gaps", async () => {
    const run = await start(teamOf(["quick", "plain", "improver"]));
    const { events } = await follow(run);
    for (const event of events) expect(WireEventSchema.parse(event)).toEqual(event);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
      events.map((_, nth) => nth + 2),
    );
    expect(typesOf(events).filter((type) => type.startsWith("turn."))).toEqual([
      "turn.started",
      "turn.completed",
    ]);
    expect(ofType(events, "turn.completed")[0]?.finish_reason).toBe("consensus");
  });

  it("runs to its end without a connected client", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    await waitFor(run, "turn.completed");
    const turn = await request(`/api/sessions/${run.session_id}/turns/1`);
    expect(await turn.json()).toMatchObject({
      status: "completed",
      finish_reason: "consensus",
      answer: expect.stringMatching(/\S/),
    });
  });

  it("of one agent starts with the presentation", async () => {
    const { events } = await follow(await start(teamOf(["quick"])));
    expect(ofType(events, "attempt.settled")[0]?.ended_by).toBe("skipped");
    expect(ofType(events, "turn.completed")[0]?.answer).toBe("Forty-two, presented.");
  });

  it("ends with an answer if one agent always gets 401, and no event contains its key", async () => {
    const { text, events } = await follow(await start(teamOf(["quick", "keyless", "plain"])));
    expect(ofType(events, "agent.failed").map(({ agent, code }) => [agent, code])).toEqual([
      ["a1", expect.any(String)],
    ]);
    expect(ofType(events, "turn.completed")[0]?.answer).toMatch(/42|Forty-two/);
    expect(text).not.toContain("sk-canary");
    expect(text).not.toContain("caller-key");
  });

  it("can continue an earlier turn", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    await follow(run);
    const next = await post(`/api/sessions/${run.session_id}/turns`, {
      question: "And eight times seven?",
    });
    expect(next.status).toBe(202);
    const { events } = await follow({ ...run, turn: 2 });
    expect(ofType(events, "turn.started")[0]).toMatchObject({ turn: 2, parent_turn: 1 });
    expect(typesOf(events).at(-1)).toBe("turn.completed");
  });

  it("streams tool arguments with the id of the tool call in later events (F3)", async () => {
    const { events } = await follow(await start(teamOf(["quick", "plain"])));
    const items = ofType(events, "stream.delta").flatMap(({ items }) =>
      items.filter(({ kind }) => kind === "tool_arguments"),
    );
    const toolCalls = events.flatMap((event) =>
      "tool_call" in event ? [`${event.agent} ${event.tool_call}`] : [],
    );
    expect(items.length).toBeGreaterThan(0);
    for (const { agent, tool_call } of items) expect(toolCalls).toContain(`${agent} ${tool_call}`);
  });

  it("is refused with the running turn's number while another turn runs", async () => {
    const run = await start(teamOf(["slow", "hanging"]));
    const response = await post(`/api/sessions/${run.session_id}/turns`, { question: "Now?" });
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({ code: "turn_running", turn: 1 });
    await post(`/api/sessions/${run.session_id}/cancel`);
  });

  it("is refused if its cap cannot pay for any first call, and the error names a sufficient cap (A2)", async () => {
    const config = teamOf(["quick", "plain"]);
    const ask = (max_tokens: number) =>
      post("/api/runs", { question: "Why?", config, budget: { max_tokens } });
    const refused = await ask(0);
    expect(refused.status).toBe(422);
    const { cheapest, enough, ...problem } = await refused.json<{
      cheapest: number;
      enough: number;
      detail: string;
    }>();
    expect(problem).toMatchObject({ code: "budget_too_small", capped: "max_tokens", cap: 0 });
    expect(problem.detail).toContain(
      `${enough.toLocaleString("en-US")} tokens: set budget.max_tokens to at least that.`,
    );
    expect((await ask(cheapest - 1)).status).toBe(422);
    // Aliases are random, so the first call may need a few bytes more than `cheapest`.
    const { events } = await follow(await (await ask(cheapest + 16)).json());
    expect(ofType(events, "call.started").length).toBeGreaterThan(0);
    const sufficient = await follow(await (await ask(enough)).json());
    expect(new Set(ofType(sufficient.events, "call.started").map(({ agent }) => agent)).size).toBe(
      2,
    );
    expect(typesOf(sufficient.events).at(-1)).toBe("turn.completed");
  });

  it("includes earlier turns in the estimate of its first calls (A2)", async () => {
    const run = await start(teamOf(["quick", "plain"]), { question: "Why? ".repeat(1_000) });
    await follow(run);
    const ask = (max_tokens: number, parent?: number) =>
      post(`/api/sessions/${run.session_id}/turns`, {
        question: "And now?",
        parent_turn: parent,
        budget: { max_tokens },
      });
    const refused = await ask(0);
    expect(refused.status).toBe(422);
    const { cheapest, enough } = await refused.json<{ cheapest: number; enough: number }>();
    expect(cheapest).toBeGreaterThan(9_000);
    expect((await ask(cheapest - 1)).status).toBe(422);
    const next = await ask(enough);
    expect(next.status).toBe(202);
    const { events } = await follow({ ...run, turn: 2 });
    expect(new Set(ofType(events, "call.started").map(({ agent }) => agent)).size).toBe(2);
    expect(typesOf(events).at(-1)).toBe("turn.completed");
  });
});

describe("a cancellation", () => {
  it("ends the turn and its calls at once, and is idempotent", async () => {
    const run = await start(teamOf(["slow", "hanging", "slow"]));
    await waitFor(run, "call.started");
    const first = await post(`/api/sessions/${run.session_id}/cancel`);
    const second = await post(`/api/sessions/${run.session_id}/cancel`);
    expect(first.status).toBe(200);
    expect(await first.json()).toEqual(await second.json());
    await new Promise((resolve) => setTimeout(resolve, 300));
    const { events } = await follow(run);
    expect(typesOf(events).at(-1)).toBe("turn.cancelled");
    const openCalls = new Set(ofType(events, "call.started").map(({ call }) => call));
    for (const { call } of [...ofType(events, "call.failed"), ...ofType(events, "call.completed")])
      openCalls.delete(call);
    expect(openCalls.size).toBe(0);
  });
});

describe("a session after a restart", () => {
  it("continues at the next request if the object was aborted during calls", async () => {
    const run = await start(teamOf(["slow", "slow", "plain"]));
    await waitFor(run, "stream.delta");
    await abortAllDurableObjects();
    const { events } = await follow(run);
    const interrupted = ofType(events, "call.failed").filter(({ code }) => code === "interrupted");
    expect(interrupted.length).toBeGreaterThan(0);
    expect(interrupted.every(({ retry_at }) => retry_at !== null)).toBe(true);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(
      events.map((_, nth) => nth + 2),
    );
    expect(typesOf(events).filter((type) => type === "turn.completed")).toHaveLength(1);
  });

  it("continues at its alarm without a request; the alarm is always set while a turn runs", async () => {
    const run = await start(teamOf(["slow", "plain"]));
    await waitFor(run, "call.started");
    const alarm = await runInDurableObject(stubOf(run), (_, state) => state.storage.getAlarm());
    expect(alarm).toBeLessThanOrEqual(Date.now() + WATCHDOG_MS);
    await abortAllDurableObjects();
    expect(await runDurableObjectAlarm(stubOf(run))).toBe(true);
    expect(
      await runInDurableObject(stubOf(run), (_, state) => state.storage.getAlarm()),
    ).not.toBeNull();
    await waitFor(run, "turn.completed");
  });

  it("ignores an alarm after the end of the turn, also if it fires twice", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    const { text } = await follow(run);
    await runInDurableObject(stubOf(run), async (instance) => {
      await instance.alarm();
      await instance.alarm();
    });
    expect((await follow(run)).text).toBe(text);
    expect(
      await runInDurableObject(stubOf(run), (_, state) => state.storage.getAlarm()),
    ).toBeNull();
  });

  it("gives up a call that was interrupted five times", async () => {
    const run = await start(teamOf(["hanging"]));
    for (let aborts = 0; aborts < 5; aborts += 1) {
      await waitFor(run, "call.started");
      await abortAllDurableObjects();
    }
    const { events } = await follow(run);
    expect(ofType(events, "call.failed")).toHaveLength(5);
    expect(typesOf(events).at(-1)).toBe("turn.failed");
  });
});

describe("a request for an unknown turn or answer", () => {
  it.each([
    { path: "/api/sessions/session_unknown00", status: 404, code: "session_not_found" },
    { path: "/api/sessions/session_unknown00/events", status: 404, code: "session_not_found" },
    { path: "/api/sessions/session_unknown00/turns/1", status: 404, code: "session_not_found" },
    {
      path: "/api/sessions/session_unknown00/turns/1/answers/agent1.1",
      status: 404,
      code: "session_not_found",
    },
    { path: "/api/sessions/a%2Fb", status: 400, code: "bad_id" },
    { path: "/api/sessions/session_unknown00/turns/0", status: 400, code: "bad_id" },
    { path: "/api/nothing", status: 404, code: "not_found" },
  ])("to $path responds with $code and creates no object", async ({ path, status, code }) => {
    const response = await request(path);
    expect([response.status, response.headers.get("content-type")]).toEqual([
      status,
      "application/problem+json",
    ]);
    expect(await response.json()).toMatchObject({ status, code, request_id: expect.any(String) });
    const tables = await runInDurableObject(
      env.SESSIONS.get(env.SESSIONS.idFromName("session_unknown00")),
      (_, state) =>
        state.storage.sql
          .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'")
          .toArray(),
    );
    expect(tables).toEqual([]);
  });

  it("is answered with 404, while existing answers and the final text are returned by label", async () => {
    const run = await start(teamOf(["quick", "plain"]));
    await follow(run);
    const path = `/api/sessions/${run.session_id}/turns/1`;
    expect(await (await request(`${path}/answers/agent1.1`)).json()).toMatchObject({
      agent: "a0",
      content: "The quick answer is 42.",
      files: null,
    });
    const { label } = await (await request(path)).json<{ label: string }>();
    expect(await (await request(`${path}/answers/${label}`)).json()).toMatchObject({
      label,
      origin: "presentation",
      files: null,
    });
    expect((await request(`${path}/answers/agent2.9`)).status).toBe(404);
    expect((await request(eventsPath({ ...run, turn: 2 }))).status).toBe(404);
  });
});

describe("the status of a session", () => {
  it("is the fold of its log, with the whole question, also after the end and a restart (I19)", async () => {
    const question = `Is it six times seven? ${"So they say. ".repeat(200)}`;
    const run = await start(teamOf(["quick", "plain"]), { question });
    await follow(run);
    const path = `/api/sessions/${run.session_id}`;
    const { data } = await getJson<{ data: WireEvent[] }>(`${path}/events?limit=1000`);
    for (const restart of [async () => undefined, abortAllDurableObjects]) {
      await restart();
      const status = await getJson<SessionStatus>(path);
      expect(status.meta.question).toBe(question);
      expect(misfolded(data, status)).toEqual([]);
    }
  });
});
