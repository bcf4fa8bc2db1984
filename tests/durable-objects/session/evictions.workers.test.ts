import {
  abortAllDurableObjects,
  evictAllDurableObjects,
  evictDurableObject,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import type { SessionObject } from "../../../durable-objects/session/session-object";
import type { SessionStatus } from "../../../src/protocol/api";
import { isTerminal, type WireEvent } from "../../../src/protocol/events";
import { LOCAL_TENANT, sessionName } from "../../../src/tenancy/principal";
import { broken, misfolded, misnumbered } from "../../e2e/support/verdict";
import { Chance } from "../../../simulated/chance";
import { eventsPath, parse, post, request, type Run, start, teamOf } from "./session-client";

/**
 * Objects that the platform aborts or evicts while they work: I1, I2, I4, I19. `TIMES`: the number
 * of aborts or evictions per test.
 */
const TIMES = 20;
/**
 * Maximum number of aborts per run. If a call is interrupted a fifth time, the rules give it up,
 * and the run would end too soon.
 */
const ABORTS_PER_RUN = 4;

type Stub = DurableObjectStub<SessionObject>;
const stubOf = ({ session_id }: Run): Stub =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id))) as Stub;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A reader that reconnects after each interruption. It keeps complete frames byte for byte and
 * drops incomplete frames.
 */
class Reader {
  readonly frames: string[] = [];

  get isOver(): boolean {
    return /^event: turn\.(completed|failed|cancelled)$/m.test(this.frames.at(-1) ?? "");
  }

  get text(): string {
    return this.frames.join("");
  }

  /** Reads the turn's stream until the end of the turn. */
  async follow(run: Run): Promise<void> {
    while (!this.isOver) {
      await this.#connect(run).catch(() => undefined);
      await sleep(5);
    }
  }

  async #connect(run: Run): Promise<void> {
    const last = /^id: (\d+)$/m.exec(this.frames.at(-1) ?? "")?.[1];
    const response = await request(eventsPath(run), {
      headers: last === undefined ? {} : { "last-event-id": last },
    });
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of response.body ?? []) {
      const parts = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = parts.pop() ?? "";
      this.frames.push(
        ...parts.filter((frame) => /^id: /m.test(frame)).map((frame) => `${frame}\n\n`),
      );
    }
  }
}

/**
 * All violations in a session whose turns have ended. `liveReaders`: for each turn, a reader that
 * followed it while it ran.
 */
async function violationsOf(session_id: string, liveReaders: readonly Reader[]): Promise<string[]> {
  const path = `/api/sessions/${session_id}`;
  const page = await request(`${path}/events?limit=1000`, {
    headers: { accept: "application/json" },
  });
  const { data: log, has_more } = await page.json<{ data: WireEvent[]; has_more: boolean }>();
  const status = await (await request(path)).json<SessionStatus>();
  const ends = log
    .filter(({ type }) => isTerminal(type))
    .map(({ type, turn }) => `${turn} ${type}`);
  const laterReaders = liveReaders.map(() => new Reader());
  await Promise.all(
    laterReaders.map((reader, nth) => reader.follow({ session_id, turn: nth + 1 })),
  );
  const frames = laterReaders.map(({ text }) => text);
  return [
    ...(isDeepStrictEqual(
      liveReaders.map(({ text }) => text),
      frames,
    )
      ? []
      : ["I1: a reader that reconnected has other bytes than the log"]),
    ...(isDeepStrictEqual(parse(frames.join("")), log.slice(1)) && !has_more
      ? []
      : ["I1: pages and streams differ"]),
    ...misnumbered(log),
    ...(isDeepStrictEqual(
      ends,
      liveReaders.map((_, nth) => `${nth + 1} turn.completed`),
    )
      ? []
      : [`I4: the turns end with ${ends}`]),
    ...broken(log),
    ...misfolded(log, status),
  ];
}

/** Aborts or evicts an object. */
type Stop = (stub: Stub) => Promise<unknown>;

describe(`sessions whose objects are stopped ${TIMES} times lose nothing, and each turn ends once,`, () => {
  /** The number of times that the object was created while its turn ran, by its own count. */
  const resetsOf = (run: Run): Promise<number> =>
    runInDurableObject(stubOf(run), (_, { storage }) => {
      const [row] = storage.sql
        .exec<{ value: string }>("SELECT value FROM meta WHERE key = 'boot'")
        .toArray();
      return Number(row?.value ?? 0);
    });

  it.each<{ name: string; stop: Stop }>([
    {
      name: "abortAllDurableObjects, which also aborts the tenant's object",
      stop: () => abortAllDurableObjects(),
    },
    {
      name: "the platform's reset for a new version of the code",
      stop: (stub) =>
        runInDurableObject(stub, (_, ctx) =>
          ctx.abort("Durable Object reset because its code was updated."),
        ),
    },
  ])("during calls by $name", { timeout: 120_000 }, async ({ stop }) => {
    const chance = new Chance(TIMES);
    for (let resets = 0; resets < TIMES; ) {
      const run = await start(teamOf(["improver", "improver", "solid"]));
      const reader = new Reader();
      const following = reader.follow(run);
      for (let nth = 0; nth < ABORTS_PER_RUN && !reader.isOver; nth += 1) {
        await sleep(chance.int(10, 120));
        // The abort also rejects the call that causes it.
        await stop(stubOf(run)).catch(() => undefined);
      }
      await following;
      expect(await violationsOf(run.session_id, [reader])).toEqual([]);
      resets += await resetsOf(run);
    }
  });

  const TURNS_PER_SESSION = 5;
  const instances = new WeakSet<object>();
  /** Whether the object is another instance than at the previous call of this function. */
  const isNewInstance = (run: Run): Promise<boolean> =>
    runInDurableObject(stubOf(run), (instance) => {
      const isKnown = instances.has(instance);
      instances.add(instance);
      return !isKnown;
    });

  /**
   * An eviction waits for work in progress: here for the turn, which always has a timer. The next
   * turn then runs in another instance.
   */
  it.each<{ name: string; stop: Stop }>([
    { name: "evictDurableObject", stop: (stub) => evictDurableObject(stub) },
    {
      name: "evictAllDurableObjects, which also evicts the tenant's object",
      stop: () => evictAllDurableObjects(),
    },
  ])("after each turn by $name", { timeout: 120_000 }, async ({ stop }) => {
    const chance = new Chance(TIMES);
    const runs = await Promise.all(
      Array.from({ length: TIMES / TURNS_PER_SESSION }, () => start(teamOf(["improver", "solid"]))),
    );
    const readers = runs.map((): Reader[] => []);
    let evictions = 0;
    for (let turn = 1; turn <= TURNS_PER_SESSION; turn += 1) {
      if (turn > 1)
        for (const { session_id } of runs)
          await post(`/api/sessions/${session_id}/turns`, { question: "And then?" });
      await Promise.all(runs.map(isNewInstance));
      const following = runs.map(({ session_id }, nth) => {
        const reader = new Reader();
        readers[nth]?.push(reader);
        return reader.follow({ session_id, turn });
      });
      await sleep(chance.int(0, 150));
      await Promise.all(runs.map((run) => stop(stubOf(run)).catch(() => undefined)));
      await Promise.all(following);
      evictions += (await Promise.all(runs.map(isNewInstance))).filter(Boolean).length;
    }
    expect(evictions).toBe(TIMES);
    for (const [nth, { session_id }] of runs.entries())
      expect(await violationsOf(session_id, readers[nth] ?? [])).toEqual([]);
  });
});
