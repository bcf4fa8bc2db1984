import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { revokeKey } from "../../d1/key-statements";
import { ServiceProcess } from "../../simulated/service/service-process";
import { bearer, KEYED, newKey } from "../../tests/e2e/support/keyed";
import { compare, isVisible, seeded, shuffled } from "./timings";

/** A3: a guessed key reveals nothing, neither by the response nor by the response time. */

const REQUESTS_PER_KIND = countOf("guessed_keys");
/** Maximum number of passes over all requests until the noise is small enough. */
const MAX_PASSES = 8;
const WARM_UP_REQUESTS = 200;

const [validKey, revokedKey, unknownKey] = [
  newKey("acme", "run"),
  newKey("acme", "run"),
  newKey("acme", "run"),
];
const wrongSecretKey = validKey.key.replace(validKey.secret, unknownKey.secret);
/** Invalid keys by kind. */
const INVALID_KEYS = {
  "a wrong secret": wrongSecretKey,
  "an unknown id": unknownKey.key,
  "an invalid key": "mge_0123456789",
  "a revoked key": revokedKey.key,
} as const;
const NO_HEADER = "no header";
type KeyKind = keyof typeof INVALID_KEYS | typeof NO_HEADER;
const [REFERENCE_KIND, ...OTHER_KINDS] = [
  "a wrong secret",
  "an unknown id",
  "an invalid key",
  "a revoked key",
] as const;

let service: ServiceProcess;
const connection = new Agent({ keepAlive: true, maxSockets: 1 });

beforeAll(async () => {
  const statements = [
    validKey.statement,
    revokedKey.statement,
    revokeKey(revokedKey.id, Date.now()),
  ];
  service = await ServiceProcess.prepare(KEYED, statements);
  await service.start();
});
afterAll(async () => {
  connection.destroy();
  await service?.stop();
});

type Answer = { ms: number; response: unknown };

/**
 * Sends a request. All requests use one connection that stays open, so that only the response is
 * measured.
 */
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
 * Returns the response times by kind of key. Each kind is requested equally often and in random
 * order, so that a slow phase of the machine affects all kinds.
 */
async function timesOf(
  kinds: readonly KeyKind[],
  random: () => number,
): Promise<Map<KeyKind, number[]>> {
  const times = new Map<KeyKind, number[]>(kinds.map((kind) => [kind, []]));
  const order = kinds.flatMap((kind) => Array.from({ length: REQUESTS_PER_KIND }, () => kind));
  for (const kind of shuffled(order, random)) {
    const { ms } = await ask(kind === NO_HEADER ? {} : bearer(INVALID_KEYS[kind]));
    times.get(kind)?.push(ms);
  }
  return times;
}

describe("A3 invalid keys", () => {
  it("have the same response", async () => {
    const answers: unknown[] = [];
    for (const key of Object.values(INVALID_KEYS)) answers.push((await ask(bearer(key))).response);
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(answers[0]).toMatchObject({ status: 401, problem: { code: "unauthorized" } });
    expect((await ask(bearer(validKey.key))).response).toMatchObject({ status: 200 });
  });

  // A real difference appears in all three tries. A random difference is unlikely to.
  it("are answered in the same time, within the noise", { retry: 2 }, async () => {
    const seed = Date.now();
    const random = seeded(seed);
    for (let nth = 0; nth < WARM_UP_REQUESTS; nth += 1) await ask(bearer(wrongSecretKey));
    const kinds: readonly KeyKind[] = [REFERENCE_KIND, ...OTHER_KINDS, NO_HEADER];
    const times = new Map<KeyKind, number[]>(kinds.map((kind) => [kind, []]));
    const compareToReference = (kind: KeyKind) => ({
      kind,
      ...compare(times.get(REFERENCE_KIND) ?? [], times.get(kind) ?? [], random),
    });
    let control = compareToReference(NO_HEADER);
    // If the machine is too busy to show even the control, more requests reduce the noise.
    for (let pass = 1; pass <= MAX_PASSES && !isVisible(control); pass += 1) {
      const passTimes = await timesOf(kinds, random);
      for (const [kind, newTimes] of passTimes) times.get(kind)?.push(...newTimes);
      control = compareToReference(NO_HEADER);
    }
    const comparisons = OTHER_KINDS.map(compareToReference);
    console.log(`lower quartiles compared with ${REFERENCE_KIND}, with the seed ${seed}:`, [
      ...comparisons,
      control,
    ]);
    for (const { distanceMs, noiseMs } of comparisons) expect(distanceMs).toBeLessThan(2 * noiseMs);
    // Without a key, the service looks up nothing. If even this difference were invisible, the test
    // could not see any difference.
    expect(control.distanceMs).toBeGreaterThan(control.noiseMs);
  });
});
