import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { revokeKey } from "../../d1/key-statements";
import { ServiceProcess } from "../../simulated/service/service-process";
import { bearer, KEYED, newKey } from "../../tests/e2e/support/keyed";
import { compare, seeded, shuffled } from "./timings";

/** A3: a guessed key reveals nothing, neither by the response nor by its time. */
const TRIES = countOf("guessed_keys");
const LOOKS = 8;
const WARM_UP = 200;

const [good, revoked, unknown] = [
  newKey("acme", "run"),
  newKey("acme", "run"),
  newKey("acme", "run"),
];
const swapped = good.key.replace(good.secret, unknown.secret);
const KINDS = {
  "a wrong secret": swapped,
  "an unknown id": unknown.key,
  "an invalid key": "mge_0123456789",
  "a revoked key": revoked.key,
} as const;
const NO_HEADER = "no header";
type KeyKind = keyof typeof KINDS | typeof NO_HEADER;
const [FIRST, ...OTHERS] = [
  "a wrong secret",
  "an unknown id",
  "an invalid key",
  "a revoked key",
] as const;

let service: ServiceProcess;
const connection = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  const statements = [good.statement, revoked.statement, revokeKey(revoked.id, Date.now())];
  service = await ServiceProcess.prepare(KEYED, statements);
  await service.start();
});
afterAll(async () => {
  connection.destroy();
  await service?.stop();
});

type Answer = { ms: number; response: unknown };

/** Uses one connection that stays open, so that only the response is measured. */
function ask(headers: Record<string, string>): Promise<Answer> {
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const request = get(
      `${service.url}/api/sessions`,
      { agent: connection, headers },
      (response) => {
        text(response).then((body) => {
          const ms = performance.now() - startedAt;
          const { request_id: _, ...problem } = JSON.parse(body);
          const { date: __, ...rest } = response.headers;
          resolve({ ms, response: { status: response.statusCode, rest, problem } });
        }, reject);
      },
    );
    request.on("error", reject);
  });
}

/**
 * Each kind is requested equally often, in random order: a slow phase of the machine affects all
 * kinds.
 */
async function timesOf(
  kinds: readonly KeyKind[],
  random: () => number,
): Promise<Map<KeyKind, number[]>> {
  const times = new Map<KeyKind, number[]>(kinds.map((kind) => [kind, []]));
  const order = kinds.flatMap((kind) => Array.from({ length: TRIES }, () => kind));
  for (const kind of shuffled(order, random)) {
    const { ms } = await ask(kind === NO_HEADER ? {} : bearer(KINDS[kind]));
    times.get(kind)?.push(ms);
  }
  return times;
}

describe("A3 invalid keys", () => {
  it("have the same response", async () => {
    const answers: unknown[] = [];
    for (const key of Object.values(KINDS)) answers.push((await ask(bearer(key))).response);
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(answers[0]).toMatchObject({ status: 401, problem: { code: "unauthorized" } });
    expect((await ask(bearer(good.key))).response).toMatchObject({ status: 200 });
  });

  // A real difference shows in every round; a random one does not in three.
  it("are answered in the same time, within the noise", { retry: 2 }, async () => {
    const seed = Date.now();
    const random = seeded(seed);
    for (let nth = 0; nth < WARM_UP; nth += 1) await ask(bearer(swapped));
    const kinds: readonly KeyKind[] = [FIRST, ...OTHERS, NO_HEADER];
    const times = new Map<KeyKind, number[]>(kinds.map((kind) => [kind, []]));
    const toFirst = (kind: KeyKind) => ({
      kind,
      ...compare(times.get(FIRST) ?? [], times.get(kind) ?? [], random),
    });
    let control = toFirst(NO_HEADER);
    // If the machine is too busy to show even the control, more requests reduce the noise.
    for (let nth = 1; nth <= LOOKS && !(control.apartMs > control.noiseMs); nth += 1) {
      for (const [kind, more] of await timesOf(kinds, random)) times.get(kind)?.push(...more);
      control = toFirst(NO_HEADER);
    }
    const found = OTHERS.map(toFirst);
    console.log(`lower quartiles compared with ${FIRST}, with the seed ${seed}:`, [
      ...found,
      control,
    ]);
    for (const { apartMs, noiseMs } of found) expect(apartMs).toBeLessThan(2 * noiseMs);
    // Without a key nothing is looked up. If that difference were invisible, no other could be
    // seen.
    expect(control.apartMs).toBeGreaterThan(control.noiseMs);
  });
});
