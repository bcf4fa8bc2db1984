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

/** Objects that the platform aborts or evicts while they work: I1, I2, I4, I19. */
const TIMES = 20;
/**
 * Per run. A call that is interrupted a fifth time is given up by the rules, and would end the run
 * too soon.
 */
const PER_RUN = 4;

type Stub = DurableObjectStub<SessionObject>;
const stubOf = ({ session_id }: Run): Stub =>
  env.SESSIONS.get(env.SESSIONS.idFromName(sessionName(null, LOCAL_TENANT, session_id))) as Stub;

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A reader that reconnects after each interruption. It keeps whole frames byte for byte and drops
 * unfinished ones.
 */
class Reader {
  readonly frames: string[] = [];

  get isOver(): boolean {
    return /^event: turn\.(completed|failed|cancelled)$/m.test(this.frames.at(-1) ?? "");
  }

  get text(): string {
    return this.frames.join("");
  }

  /** Reads the turn's stream to the turn's end. */
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
 * All violations of a session whose turns have ended. `read`: what readers of each turn received
 * while it ran.
 */
async function judge(session_id: string, read: readonly Reader[]): Promise<string[]> {
  const path = `/api/sessions/${session_id}`;
  const page = await request(`${path}/events?limit=1000`, {
    headers: { accept: "application/json" },
  });
  const { data: log, has_more } = await page.json<{ data: WireEvent[]; has_more: boolean }>();
  const status = await (await request(path)).json<SessionStatus>();
  const ends = log
    .filter(({ type }) => isTerminal(type))
    .map(({ type, turn }) => `${turn} ${type}`);
  const whole = read.map(() => new Reader());
  await Promise.all(whole.map((reader, nth) => reader.follow({ session_id, turn: nth + 1 })));
  const frames = whole.map(({ text }) => text);
  return [
    ...(isDeepStrictEqual(
      read.map(({ text }) => text),
      frames,
    )
      ? []
      : ["I1: whoever came back has other bytes than the log"]),
    ...(isDeepStrictEqual(parse(frames.join("")), log.slice(1)) && !has_more
      ? []
      : ["I1: pages and streams differ"]),
    ...misnumbered(log),
    ...(isDeepStrictEqual(
      ends,
      read.map((_, nth) => `${nth + 1} turn.completed`),
    )
      ? []
      : [`I4: its turns' ends are ${ends}`]),
    ...broken(log),
    ...misfolded(log, status),
  ];
}

type Way = (stub: Stub) => Promise<unknown>;

describe(`objects that are aborted ${TIMES} times lose nothing, and each turn ends once`, () => {
  /** How often the object was created while its turn ran, by the object's own count. */
  const resetsOf = (run: Run): Promise<number> =>
    runInDurableObject(stubOf(run), (_, { storage }) => {
      const [row] = storage.sql
        .exec<{ value: string }>("SELECT value FROM meta WHERE key = 'boot'")
        .toArray();
      return Number(row?.value ?? 0);
    });

  it.each<{ name: string; way: Way }>([
    {
      name: "abortAllDurableObjects, their tenant's among them",
      way: () => abortAllDurableObjects(),
    },
    {
      name: "the platform's reset for a new version of the code",
      way: (stub) =>
        runInDurableObject(stub, (_, ctx) =>
          ctx.abort("Durable Object reset because its code was updated."),
        ),
    },
  ])("in the middle of calls, by $name", { timeout: 120_000 }, async ({ way }) => {
    const chance = new Chance(TIMES);
    for (let resets = 0; resets < TIMES; ) {
      const run = await start(teamOf(["improver", "improver", "solid"]));
      const reader = new Reader();
      const over = reader.follow(run);
      for (let nth = 0; nth < PER_RUN && !reader.isOver; nth += 1) {
        await sleep(chance.int(10, 120));
        // the abort also rejects the call that caused it
        await way(stubOf(run)).catch(() => undefined);
      }
      await over;
      expect(await judge(run.session_id, [reader])).toEqual([]);
      resets += await resetsOf(run);
    }
  });

  const TURNS = 5; // of each session
  const instances = new WeakSet<object>();
  /** Whether the object is another instance than at the last look. */
  const isNew = (run: Run): Promise<boolean> =>
    runInDurableObject(stubOf(run), (instance) => {
      const isKnown = instances.has(instance);
      instances.add(instance);
      return !isKnown;
    });

  /**
   * An eviction lets current work finish: here the turn, which always has a timer. The next turn
   * runs in another instance.
   */
  it.each<{ name: string; way: Way }>([
    { name: "evictDurableObject", way: (stub) => evictDurableObject(stub) },
    {
      name: "evictAllDurableObjects, their tenant's among them",
      way: () => evictAllDurableObjects(),
    },
  ])("gently, turn by turn, by $name", { timeout: 120_000 }, async ({ way }) => {
    const chance = new Chance(TIMES);
    const runs = await Promise.all(
      Array.from({ length: TIMES / TURNS }, () => start(teamOf(["improver", "solid"]))),
    );
    const readers = runs.map((): Reader[] => []);
    let taken = 0;
    for (let turn = 1; turn <= TURNS; turn += 1) {
      if (turn > 1)
        for (const { session_id } of runs)
          await post(`/api/sessions/${session_id}/turns`, { question: "And then?" });
      await Promise.all(runs.map(isNew));
      const following = runs.map(({ session_id }, nth) => {
        const reader = new Reader();
        readers[nth]?.push(reader);
        return reader.follow({ session_id, turn });
      });
      await sleep(chance.int(0, 150));
      await Promise.all(runs.map((run) => way(stubOf(run)).catch(() => undefined)));
      await Promise.all(following);
      taken += (await Promise.all(runs.map(isNew))).filter(Boolean).length;
    }
    expect(taken).toBe(TIMES);
    for (const [nth, { session_id }] of runs.entries())
      expect(await judge(session_id, readers[nth] ?? [])).toEqual([]);
  });
});
