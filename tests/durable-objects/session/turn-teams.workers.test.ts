import { abortAllDurableObjects, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, inject, it, vi } from "vitest";
import type { SessionStatus, TurnResponse } from "../../../src/protocol/api";
import type { TurnList } from "../../../src/protocol/api/listings";
import type { EventOf, WireEvent } from "../../../src/protocol/events";
import type { Overrides } from "../../../src/protocol/turn-team";
import { sessionName } from "../../../src/tenancy/principal";
import {
  eventsPath,
  follow,
  post,
  request,
  type Run,
  start,
  teamOf,
  withServers,
} from "./session-client";

/**
 * Turns with another team or with overrides, with real tables and restarts. Each simulated model
 * has its own answer, so the answers of a turn show which models were asked.
 */

const QUICK = "The quick answer is 42.";
const PLAIN = "It is 42, I believe.";
const SOLID = "The answer is 42, and here is why: six times seven.";
const THREE = ["quick", "plain", "solid"];

const fetchSpy = vi.spyOn(globalThis, "fetch");
beforeEach(() => void fetchSpy.mockClear());

type TurnResult = { turn: number; events: WireEvent[] };

/** Asks the next question, and waits for the end of its turn. */
async function ask({ session_id }: Run, more: object = {}): Promise<TurnResult> {
  const response = await post(`/api/sessions/${session_id}/turns`, { question: "And?", ...more });
  if (response.status !== 202) throw new Error(await response.text());
  const run = await response.json<Run>();
  return { turn: run.turn, events: (await follow(run)).events };
}

async function session(models: readonly string[], more: Record<string, unknown> = {}) {
  const run = await start(teamOf(models), more);
  const { events } = await follow(run);
  return { run, first: { turn: 1, events } };
}

const only = <Type extends WireEvent["type"]>(
  { events }: TurnResult,
  type: Type,
): EventOf<Type>[] =>
  events.filter((event): event is Extract<WireEvent, { type: Type }> => event.type === type);

/** The texts of a turn by label, without the final text. */
const answersOf = (played: TurnResult): Record<string, string> =>
  Object.fromEntries(
    only(played, "answer.submitted")
      .map(({ label, content }): [string, string] => [label, content])
      .sort(),
  );
const endOf = ({ events }: TurnResult) => events.at(-1)?.type;
const startOf = (played: TurnResult) => only(played, "turn.started")[0];

const stubOf = ({ session_id }: Run) =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, "local", session_id)));

/** The rows of the tables of teams, as text. */
const teamRows = (run: Run): Promise<string> =>
  runInDurableObject(stubOf(run), (_, { storage: { sql } }) =>
    JSON.stringify(
      ["teams", "turn_teams"].map((table) => sql.exec(`SELECT * FROM ${table}`).toArray()),
    ),
  );

const keysSent = (): (string | null)[] =>
  [
    ...new Set(
      fetchSpy.mock.calls.map(([sent]) =>
        sent instanceof Request ? sent.headers.get("authorization") : null,
      ),
    ),
  ].sort();

describe("a turn with another config", () => {
  it("is played by that team, with its keys, and so are the turns that continue it", async () => {
    const { run } = await session(["quick"]);
    fetchSpy.mockClear();
    const config = teamOf(["plain", "solid"], {});
    const agents = (config["agents"] as { backend: object }[]).map((agent) => ({
      ...agent,
      backend: { ...agent.backend, api_key: "another-key" },
    }));
    const second = await ask(run, { config: { agents } });
    expect(answersOf(second)).toEqual({ "agent1.1": PLAIN, "agent2.1": SOLID });
    expect(startOf(second)?.rules?.agents.map(({ model }) => model)).toEqual(["plain", "solid"]);
    expect(keysSent()).toEqual(["Bearer another-key"]);
    expect(await teamRows(run)).not.toContain("another-key");

    await abortAllDurableObjects();
    const third = await ask(run);
    expect(answersOf(third)).toEqual({ "agent1.1": PLAIN, "agent2.1": SOLID });

    fetchSpy.mockClear();
    const branch = await ask(run, { parent_turn: 1 });
    expect(only(branch, "turn.completed")[0]?.answer).toBe("Forty-two, presented.");
    expect(startOf(branch)).not.toHaveProperty("rules");
    expect(keysSent()).toEqual(["Bearer caller-key"]);
  });

  it("is stored once, also if each question names it", async () => {
    const yaml = "agent: {id: a, backend: {type: vllm, model: quick}}";
    const { run } = await session(["plain"]);
    for (const _ of [1, 2]) await ask(run, { config_yaml: yaml });
    const rows = JSON.parse(await teamRows(run));
    expect([
      rows[0].length,
      rows[1].map(({ turn, team }: { turn: number; team: number }) => [turn, team]),
    ]).toEqual([
      1,
      [
        [2, 1],
        [3, 1],
      ],
    ]);
  });

  it("refuses a config that cannot run, and starts nothing", async () => {
    const { run } = await session(["quick"]);
    const response = await post(`/api/sessions/${run.session_id}/turns`, {
      question: "And?",
      config_yaml: "agents:\n  - id: 7",
    });
    expect([response.status, (await response.json<{ code: string }>()).code]).toEqual([
      422,
      "config_invalid",
    ]);
    expect((await ask(run)).turn).toBe(2);
  });

  it("has its own tool servers, also after a restart", async () => {
    const { run } = await session(["quick"]);
    const config = withServers(["adder", "plain"], [{ name: "box", url: inject("toolServerUrl") }]);
    const usesServer = (played: TurnResult) =>
      only(played, "tool.completed").some(
        ({ name, outcome }) => name === "mcp__box__add" && outcome === "ok",
      );
    expect(usesServer(await ask(run, { config }))).toBe(true);
    await abortAllDurableObjects();
    expect(usesServer(await ask(run))).toBe(true);
    const withoutServers = await ask(run, { parent_turn: 1 });
    expect([endOf(withoutServers), only(withoutServers, "tools.listed")]).toEqual([
      "turn.completed",
      [],
    ]);
  });

  it("continues the history of its parent", async () => {
    const { run } = await session(["obedient"]);
    const second = await ask(run, { config: teamOf(["obedient", "obedient"]) });
    const [completed] = only(second, "turn.completed");
    expect(completed?.answer).toContain("I wrote /workspace/a.txt.");
    expect(completed?.answer.split("I wrote").length).toBeGreaterThan(2);
  });
});

describe("overrides", () => {
  it.each<{ name: string; overrides: Overrides; answers: Record<string, string>; label: string }>([
    {
      name: "of some agents ask these, and labels keep the numbers of the whole team",
      overrides: { agents: ["a1", "a2"] },
      answers: { "agent2.1": PLAIN, "agent3.1": SOLID },
      label: "agent3.final",
    },
    {
      name: "of one agent let it present at once",
      overrides: { agents: ["a1"] },
      answers: {},
      label: "agent2.final",
    },
    {
      name: "of one agent let it answer and vote if the request says so",
      overrides: { agents: ["a1"], skip_coordination: false },
      answers: { "agent2.1": PLAIN },
      label: "agent2.final",
    },
    {
      name: "of models ask these models",
      overrides: { models: { a0: "solid", a2: "plain" } },
      answers: { "agent1.1": SOLID, "agent2.1": PLAIN, "agent3.1": PLAIN },
      label: "agent1.final",
    },
    {
      name: "without coordination begin with the presentation",
      overrides: { skip_coordination: true },
      answers: {},
      label: "agent1.final",
    },
  ])("$name", async ({ overrides, answers, label }) => {
    const { run, first } = await session(THREE);
    const whole = { "agent1.1": QUICK, "agent2.1": PLAIN, "agent3.1": SOLID };
    expect(answersOf(first)).toEqual(whole);
    const second = await ask(run, { overrides });
    expect([answersOf(second), only(second, "turn.completed")[0]?.label]).toEqual([answers, label]);
    // The next turn uses the team without them, also after a restart.
    await abortAllDurableObjects();
    expect(answersOf(await ask(run))).toEqual(whole);
  });

  it("also apply to the first turn of a session, and not to the next", async () => {
    const { run, first } = await session(THREE, { overrides: { agents: ["a0", "a1"] } });
    expect(Object.keys(answersOf(first))).toEqual(["agent1.1", "agent2.1"]);
    expect(Object.keys(answersOf(await ask(run)))).toHaveLength(3);
  });

  it("let each agent answer once and then vote if the turn is quick", async () => {
    const { run, first } = await session(["improver", "plain"]);
    expect(only(first, "answer.submitted").length).toBeGreaterThan(2);
    const second = await ask(run, { overrides: { quick: true } });
    expect([endOf(second), only(second, "answer.submitted").length]).toEqual(["turn.completed", 2]);
  });

  it("apply to the team that the same request brings", async () => {
    const { run } = await session(["quick"]);
    const second = await ask(run, { config: teamOf(THREE), overrides: { agents: ["a1", "a2"] } });
    expect(answersOf(second)).toEqual({ "agent2.1": PLAIN, "agent3.1": SOLID });
    expect(Object.keys(answersOf(await ask(run)))).toHaveLength(3);
  });

  it("hold after an object was aborted in the middle of the turn", async () => {
    const { run } = await session(["quick", "plain"]);
    const overrides = { agents: ["a1"], models: { a1: "unhurried" } };
    const response = await post(`/api/sessions/${run.session_id}/turns`, {
      question: "And?",
      overrides,
    });
    const next = await response.json<Run>();
    const log = async () =>
      (
        await request(`${eventsPath(next)}?limit=1000&detail=full`, {
          headers: { accept: "application/json" },
        })
      ).text();
    await vi.waitUntil(async () => (await log()).includes("stream.delta"), { timeout: 20_000 });
    await abortAllDurableObjects();
    const { events } = await follow(next);
    const played = { turn: next.turn, events };
    expect([endOf(played), only(played, "turn.completed")[0]?.label]).toEqual([
      "turn.completed",
      "agent2.final",
    ]);
    expect([...new Set(only(played, "call.started").map(({ agent }) => agent))]).toEqual(["a1"]);
  });

  it.each([
    {
      name: "name an agent that the team lacks",
      overrides: { agents: ["a0", "a9"] },
      code: "overrides_invalid",
      pointer: "/overrides/agents/1",
    },
    {
      name: "give a model to an agent that takes no part",
      overrides: { agents: ["a0"], models: { a1: "solid" } },
      code: "overrides_invalid",
      pointer: "/overrides/models/a1",
    },
    {
      name: "name no agent",
      overrides: { agents: [] },
      code: "request_invalid",
      pointer: "/overrides/agents",
    },
    {
      name: "are quick with a number of answers",
      overrides: { quick: true, max_new_answers_per_agent: 2 },
      code: "request_invalid",
      pointer: "/overrides/max_new_answers_per_agent",
    },
    {
      name: "have an unknown field",
      overrides: { agent: ["a0"] },
      code: "request_invalid",
      pointer: "/overrides",
    },
  ])("that $name are refused, and nothing starts", async ({ overrides, code, pointer }) => {
    const { run } = await session(["quick", "plain"]);
    const refusals = await Promise.all([
      post(`/api/sessions/${run.session_id}/turns`, { question: "And?", overrides }),
      post("/api/runs", { question: "And?", config: teamOf(["quick", "plain"]), overrides }),
    ]);
    for (const response of refusals) {
      const problem = await response.json<{ code: string; errors: { pointer: string }[] }>();
      expect([response.status, problem.code]).toEqual([422, code]);
      expect(problem.errors.map((error) => error.pointer)).toContain(pointer);
    }
    expect((await ask(run)).turn).toBe(2);
  });

  it("with a model of unknown price are refused under a cost limit, with a warning without one", async () => {
    const { run } = await session(["quick", "plain"]);
    const overrides = { models: { a0: "solid" } };
    const capped = { question: "And?", overrides, budget: { max_cost_usd: 1 } };
    const refused = await post(`/api/sessions/${run.session_id}/turns`, capped);
    expect((await refused.json<{ code: string }>()).code).toBe("price_unknown");
    const path = `/api/sessions/${run.session_id}/turns`;
    const response = await post(path, { question: "And?", overrides });
    const { warnings } = await response.json<{ warnings: object[] }>();
    expect(warnings).toEqual([
      expect.objectContaining({ code: "price_unknown", pointer: "/overrides/models/a0" }),
    ]);
  });
});

describe("the API", () => {
  it("shows the agents of the turn, its team in the tree, and its overrides", async () => {
    const { run } = await session(THREE);
    const overrides = { agents: ["a1"], models: { a1: "solid" } };
    await ask(run, { overrides });
    const path = `/api/sessions/${run.session_id}`;
    const status = await (await request(path)).json<SessionStatus>();
    expect([Object.keys(status.agents), status.turns.at(-1)?.overrides]).toEqual([
      ["a1"],
      overrides,
    ]);
    const turn = await (await request(`${path}/turns/2`)).json<TurnResponse>();
    expect([turn.agents.map(({ agent, model }) => [agent, model]), turn.overrides]).toEqual([
      [["a1", "solid"]],
      overrides,
    ]);
    const { data } = await (await request(`${path}/turns`)).json<TurnList>();
    expect(data.map(({ team }) => team.map(({ agent, model }) => `${agent} ${model}`))).toEqual([
      ["a0 quick", "a1 plain", "a2 solid"],
      ["a1 solid"],
    ]);
    const first = await (await request(`${path}/turns/1`)).json<TurnResponse>();
    expect(first).not.toHaveProperty("overrides");
  });

  it("starts one turn with overrides for one idempotency key", async () => {
    const { run } = await session(THREE);
    const path = `/api/sessions/${run.session_id}/turns`;
    const again = () =>
      post(path, { question: "And?", overrides: { agents: ["a1"] } }, { "idempotency-key": "k" });
    const turns = [await again(), await again()];
    expect(await Promise.all(turns.map(async (one) => (await one.json<Run>()).turn))).toEqual([
      2, 2,
    ]);
  });
});
