import { readdir } from "node:fs/promises";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Client } from "../../client/index";
import { setLimits } from "../../d1/key-statements";
import type { Script } from "../../simulated/providers/reply";
import { alwaysFails, answersThenVotes } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { ServiceProcess } from "../../simulated/service/service-process";
import type { Queue } from "../../src/protocol/api/queue";
import { KEYED, newKey } from "./support/keyed";

/**
 * A queue of ten questions in the real runtime, if the first of them fails or uses up the daily
 * budget: the other nine are held or wait, are not failed, and run later, each once and in order.
 */
/** Both models have a known price, because a daily budget needs one. */
const [GUARDED, COSTLY] = ["gpt-6-luna", "gpt-6.2-sol"];
const USD_PER_DAY = 1;
/** At the price of any model, this many output tokens cost more than the daily budget. */
const COSTLY_USAGE = { inputTokens: 10, outputTokens: 30_000_000 };
const WITHIN = { timeout: 60_000, interval: 100 };

const OPENING = "When does water boil?";
const QUESTIONS = Array.from({ length: 10 }, (_, nth) => `Question ${nth + 1} of ten?`);
const [FIRST = ""] = QUESTIONS;

/** Resolved to end the turn with the opening question, so that the queue begins. */
let opening = Promise.withResolvers<void>();
/** Whether the provider refuses the key. The request of the opening question was sent before. */
let isKeyBad = false;

const plain = answersThenVotes({ answer: "At 100 degrees." });
const afterOpening =
  (script: Script): Script =>
  async (situation) => {
    if (situation.question === OPENING) await opening.promise;
    return script(situation);
  };
const guarded: Script = (situation) =>
  (isKeyBad && situation.question !== OPENING ? alwaysFails(401) : plain)(situation);
const costly: Script = async (situation) => ({
  ...(await plain(situation)),
  ...(situation.question === FIRST && { usage: COSTLY_USAGE }),
});

const [careful, frugal] = [newKey("careful", "run"), newKey("frugal", "run")];
const limitOf = (usdPerDay: number) =>
  setLimits("frugal", { turns: null, usdPerDay, storedBytes: null });
let service: ServiceProcess;
let providers: SimulatedProviders;

beforeAll(async () => {
  providers = await startSimulatedProviders({
    models: { [GUARDED]: afterOpening(guarded), [COSTLY]: afterOpening(costly) },
  });
  const statements = [careful.statement, frugal.statement, limitOf(USD_PER_DAY)];
  service = await ServiceProcess.prepare(KEYED, statements);
  await service.start();
});
afterAll(async () => {
  await service?.stop();
  await providers?.close();
});

/** A session through its tenant's key. Each request opens a connection: a kill breaks open ones. */
class TenantSession {
  readonly #client: Client;
  readonly #id: string;

  private constructor(client: Client, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Starts a session of one agent, whose first turn runs until `opening` is resolved. */
  static async start(key: string, model: string): Promise<TenantSession> {
    opening = Promise.withResolvers();
    const client = new Client({ server: service.url, key, headers: { connection: "close" } });
    const base_url = providers.baseUrls["openai-responses"];
    const backend = { type: "openai", model, base_url, api_key: "simulated" };
    const { session_id } = await client.runs.start({
      question: OPENING,
      config: { agents: [{ id: "a", backend }] },
    });
    return new TenantSession(client, session_id);
  }

  /** Queues the ten questions; returns their ids. */
  async queueTen(): Promise<string[]> {
    const ids: string[] = [];
    for (const question of QUESTIONS) {
      const started = await this.#client.turns.start(this.#id, { question, on_busy: "queue" });
      if (!("queued" in started)) throw new Error("the session was not busy");
      ids.push(started.queued.id);
    }
    return ids;
  }

  queue = () => this.#client.queue.get(this.#id);
  resume = () => this.#client.queue.resume(this.#id);
  until = (isReached: (queue: Queue) => boolean) =>
    vi.waitUntil(async () => isReached(await this.queue()), WITHIN);

  async statuses(): Promise<string[]> {
    return (await this.#client.turns.list(this.#id)).data.map(({ status }) => status);
  }

  untilTurns = (count: number) =>
    vi.waitUntil(async () => {
      const statuses = await this.statuses();
      return statuses.length >= count && !statuses.includes("running");
    }, WITHIN);

  /** The question and the queued request of each turn after the first, in order. */
  async starts(): Promise<(readonly [string, string | undefined])[]> {
    const { data } = await this.#client.sessions.events(this.#id, { limit: 1_000 });
    return data.flatMap((event) =>
      event.type === "turn.started" && event.turn > 1
        ? [[event.question, event.queue_id] as const]
        : [],
    );
  }
}

/** Kills the service and starts it again. `whileDown`: called while it does not run. */
async function restart(whileDown: () => Promise<void> = async () => undefined): Promise<void> {
  await service.kill();
  await whileDown();
  await service.start();
}

/** Runs a statement in the database of the stopped service, as an operator would. */
async function runStatement(statement: string): Promise<void> {
  const folder = path.join(service.stateDir, "d1");
  const names = await readdir(folder, { recursive: true });
  let count = 0;
  for (const name of names.filter((one) => one.endsWith(".sqlite"))) {
    const database = new DatabaseSync(path.join(folder, name));
    const query = "SELECT 1 FROM sqlite_master WHERE name = 'tenants'";
    if (database.prepare(query).get()) count += Number(database.prepare(statement).run().changes);
    database.close();
  }
  if (count !== 1) throw new Error(`${count} tenants were changed`);
}

const COMPLETED = QUESTIONS.map(() => "completed");
const startsOf = (ids: readonly string[]) => QUESTIONS.map((question, nth) => [question, ids[nth]]);

describe("a queue of ten questions", () => {
  it("with a bad provider key, is held with nine after the first has failed, also after SIGKILL", async () => {
    const session = await TenantSession.start(careful.key, GUARDED);
    const ids = await session.queueTen();
    isKeyBad = true;
    opening.resolve();
    await session.until(({ held }) => held !== null);
    await restart();
    const { held, data } = await session.queue();
    expect(held?.code).toBe("turn_failed");
    expect(data.map(({ id }) => id)).toEqual(ids.slice(1));
    expect(await session.statuses()).toEqual(["completed", "failed"]);
    isKeyBad = false;
    await session.resume();
    await session.untilTurns(11);
    expect(await session.statuses()).toEqual(["completed", "failed", ...COMPLETED.slice(1)]);
    expect(await session.starts()).toEqual(startsOf(ids));
    expect((await session.queue()).data).toEqual([]);
  });

  it("if the daily budget ends, waits with nine until there is budget, also after SIGKILL", async () => {
    const session = await TenantSession.start(frugal.key, COSTLY);
    const ids = await session.queueTen();
    opening.resolve();
    await session.until(({ waiting }) => waiting?.code === "spend_exceeded");
    await restart();
    const { held, waiting, data } = await session.queue();
    expect({ held, code: waiting?.code }).toEqual({ held: null, code: "spend_exceeded" });
    expect(data.map(({ id }) => id)).toEqual(ids.slice(1));
    expect(await session.statuses()).toEqual(["completed", "completed"]);
    // No request resumes the queue: it tries again by itself.
    await restart(() => runStatement(limitOf(1_000_000)));
    await session.untilTurns(11);
    expect(await session.statuses()).toEqual(["completed", ...COMPLETED]);
    expect(await session.starts()).toEqual(startsOf(ids));
    expect((await session.queue()).data).toEqual([]);
  });
});
