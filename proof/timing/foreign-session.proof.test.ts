import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { ServiceProcess } from "../../simulated/service/service-process";
import { answersThenVotes } from "../../simulated/providers/scripts";
import { type SimulatedProviders, startSimulatedProviders } from "../../simulated/providers/server";
import { RunResponseSchema } from "../../src/protocol/api";
import { sessionPath } from "../../src/protocol/paths";
import { bearer, KEYED, newKey } from "../../tests/e2e/support/keyed";
import { compare, seeded, shuffled } from "./timings";

/** I18: the response time does not reveal to a tenant whether another has a session of this id. */
const TRIES = countOf("foreign_lookups");
const WARM_UP = 60;
const LOOKS = 4;
/**
 * Below the limit of 600 requests per key and minute: a rate-limited response says nothing about a
 * session.
 */
const ASKED_WITH_EACH = 400;
const KEYS = 60;
const OVER_WITHIN_MS = 60_000;

const first = newKey("first", "run");
const [second, ...more] = [
  newKey("second", "run"),
  ...Array.from({ length: KEYS - 1 }, () => newKey("second", "run")),
];
const seconds = [second, ...more];
const FOREIGN = "another's session";
const UNKNOWN = "a missing session";
const NO_ID = "an invalid id";
const NOTHING = "no session at all";
type SessionTarget = typeof FOREIGN | typeof UNKNOWN | typeof NO_ID;
type Target = SessionTarget | typeof NOTHING;
const SOUGHT = [FOREIGN, UNKNOWN, NO_ID] as const;
const ASKED = [...SOUGHT, NOTHING] as const;
const STATUS: Readonly<Record<Target, number>> = {
  [FOREIGN]: 404,
  [UNKNOWN]: 404,
  [NO_ID]: 400,
  [NOTHING]: 200,
};
const ADDRESSES = [
  { name: "its status", below: "" },
  { name: "a page of its events", below: "/events?limit=50" },
] as const;

let service: ServiceProcess;
let providers: SimulatedProviders;
let ids: Readonly<Record<SessionTarget, string>>;
let asks = 0;
const connection = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  providers = await startSimulatedProviders({
    models: { plain: answersThenVotes({ answer: "42." }) },
  });
  service = await ServiceProcess.prepare(
    KEYED,
    [first, ...seconds].map(({ statement }) => statement),
  );
  await service.start();
  const foreign = await finished(first.key);
  ids = { [FOREIGN]: foreign, [UNKNOWN]: beside(foreign), [NO_ID]: "NONE" };
});
afterAll(async () => {
  connection.destroy();
  await service?.stop();
  await providers?.close();
});

/** An id of the same form that no session has. */
const beside = (id: string): string => id.slice(0, -1) + (id.endsWith("0") ? "1" : "0");

/** A session whose one question was answered. */
async function finished(key: string): Promise<string> {
  const backend = {
    type: "chatcompletion",
    model: "plain",
    base_url: providers.baseUrl,
    api_key: "simulated",
  };
  const body = JSON.stringify({
    question: "What is six times seven?",
    config: { agents: [{ id: "a", backend }] },
  });
  const headers = { ...bearer(key), "content-type": "application/json" };
  const started = await fetch(`${service.url}/api/runs`, { method: "POST", headers, body });
  const { session_id } = RunResponseSchema.parse(await started.json());
  const stream = {
    headers: { ...bearer(key), accept: "text/event-stream" },
    signal: AbortSignal.timeout(OVER_WITHIN_MS),
  };
  await (await fetch(`${service.url}${sessionPath(session_id)}/turns/1/events`, stream)).text();
  return session_id;
}

type Answer = { ms: number; status: number | undefined; body: string };

/**
 * Uses the second tenant's keys and one connection that stays open, so that only the response is
 * measured.
 */
function ask(target: Target, below: string): Promise<Answer> {
  const path = target === NOTHING ? "/healthz" : sessionPath(ids[target]) + below;
  const { key } = seconds[Math.floor(asks / ASKED_WITH_EACH) % KEYS] ?? second;
  asks += 1;
  const headers = { ...bearer(key), accept: "application/json" };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(`${service.url}${path}`, { agent: connection, headers }, (response) => {
      const { statusCode: status } = response;
      text(response).then(
        (body) => resolve({ ms: performance.now() - startedAt, status, body }),
        reject,
      );
    });
    request.on("error", reject);
  });
}

/**
 * Each kind is requested equally often, in random order: a slow phase of the machine affects all
 * kinds.
 */
async function timesOf(below: string, random: () => number): Promise<Map<Target, number[]>> {
  const times = new Map<Target, number[]>(ASKED.map((target) => [target, []]));
  const order = ASKED.flatMap((target) => Array.from({ length: TRIES }, () => target));
  for (const target of shuffled(order, random)) {
    const { ms, status } = await ask(target, below);
    if (status !== STATUS[target]) throw new Error(`${target} was answered ${status}`);
    times.get(target)?.push(ms);
  }
  return times;
}

describe.each(ADDRESSES)("I18 $name", ({ below }) => {
  it("does not exist for another tenant, with the same response as a missing session", async () => {
    const answers = await Promise.all(SOUGHT.map((target) => ask(target, below)));
    expect(answers.map(({ status }) => status)).toEqual(SOUGHT.map((target) => STATUS[target]));
    const [foreign, unknown] = answers.map(({ body }) => body.replace(/"request_id":"[^"]*"/, ""));
    expect(foreign).toBe(unknown);
  });

  // A real difference shows in every round; a random one does not in three.
  it("is answered in the same time, within the noise", { retry: 2 }, async () => {
    const seed = Date.now();
    const random = seeded(seed);
    for (let nth = 0; nth < WARM_UP; nth += 1) await ask(nth % 2 === 0 ? FOREIGN : UNKNOWN, below);
    const times = new Map<Target, number[]>(ASKED.map((target) => [target, []]));
    const toUnknown = (target: Target) => ({
      target,
      ...compare(times.get(UNKNOWN) ?? [], times.get(target) ?? [], random),
    });
    let fine = toUnknown(NO_ID);
    // An invalid id needs no session: the smallest possible difference. More requests reduce the
    // noise until it is visible. On a machine that is too busy for that, the result is printed and
    // the coarse control must suffice.
    for (let nth = 1; nth <= LOOKS && !(fine.apartMs > fine.noiseMs); nth += 1) {
      for (const [target, more] of await timesOf(below, random)) times.get(target)?.push(...more);
      fine = toUnknown(NO_ID);
    }
    const [foreign, control] = [toUnknown(FOREIGN), toUnknown(NOTHING)];
    console.log(`lower quartiles compared with ${UNKNOWN}, with the seed ${seed}:`, [
      foreign,
      fine,
      control,
    ]);
    expect(foreign.apartMs).toBeLessThan(2 * foreign.noiseMs);
    // This path looks up neither a key nor a session. If that difference were invisible, no other
    // could be seen.
    expect(control.apartMs).toBeGreaterThan(control.noiseMs);
  });
});
