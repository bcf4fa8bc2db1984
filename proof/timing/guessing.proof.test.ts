import { Agent, get } from "node:http";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countOf } from "../counts";
import { revokeKey } from "../../d1/key-statements";
import { ServiceProcess } from "../../simulated/service/service-process";
import { bearer, KEYED, newKey } from "../../tests/e2e/support/keyed";
import { compare, seeded, shuffled } from "./timings";

/** A3: who guesses a key learns nothing from what is answered, nor from how long it takes. */
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
  "no key by its form": "mge_0123456789",
  "a revoked key": revoked.key,
} as const;
const NO_HEADER = "no header";
type Asked = keyof typeof KINDS | typeof NO_HEADER;
const [FIRST, ...OTHERS] = [
  "a wrong secret",
  "an unknown id",
  "no key by its form",
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

type Answer = { ms: number; said: unknown };

/** Over one connection that stays open: what is measured is the answer, not the way to it. */
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
          resolve({ ms, said: { status: response.statusCode, rest, problem } });
        }, reject);
      },
    );
    request.on("error", reject);
  });
}

/** Each asked so often, in an order of chance: what slows the machine for a while slows all of them. */
async function timesOf(
  kinds: readonly Asked[],
  random: () => number,
): Promise<Map<Asked, number[]>> {
  const times = new Map<Asked, number[]>(kinds.map((kind) => [kind, []]));
  const order = kinds.flatMap((kind) => Array.from({ length: TRIES }, () => kind));
  for (const kind of shuffled(order, random)) {
    const { ms } = await ask(kind === NO_HEADER ? {} : bearer(KINDS[kind]));
    times.get(kind)?.push(ms);
  }
  return times;
}

describe("A3 keys that open nothing", () => {
  it("are answered in the same words", async () => {
    const answers: unknown[] = [];
    for (const key of Object.values(KINDS)) answers.push((await ask(bearer(key))).said);
    expect(answers).toEqual(answers.map(() => answers[0]));
    expect(answers[0]).toMatchObject({ status: 401, problem: { code: "unauthorized" } });
    expect((await ask(bearer(good.key))).said).toMatchObject({ status: 200 });
  });

  // A difference that is there is there in every round; one of chance is not there in three.
  it("are answered in the same time, as far as noise lets anybody see", { retry: 2 }, async () => {
    const seed = Date.now();
    const random = seeded(seed);
    for (let nth = 0; nth < WARM_UP; nth += 1) await ask(bearer(swapped));
    const kinds: readonly Asked[] = [FIRST, ...OTHERS, NO_HEADER];
    const times = new Map<Asked, number[]>(kinds.map((kind) => [kind, []]));
    const toFirst = (kind: Asked) => ({
      kind,
      ...compare(times.get(FIRST) ?? [], times.get(kind) ?? [], random),
    });
    let control = toFirst(NO_HEADER);
    // Where the machine is too busy to see even the control, more is asked: so much the less is left of its noise.
    for (let nth = 1; nth <= LOOKS && !(control.apartMs > control.noiseMs); nth += 1) {
      for (const [kind, more] of await timesOf(kinds, random)) times.get(kind)?.push(...more);
      control = toFirst(NO_HEADER);
    }
    const found = OTHERS.map(toFirst);
    console.log(`lower quartiles beside that of ${FIRST}, with the seed ${seed}:`, [
      ...found,
      control,
    ]);
    for (const { apartMs, noiseMs } of found) expect(apartMs).toBeLessThan(2 * noiseMs);
    // Nothing is looked up where nothing is shown. If that could not be seen, neither could anything else.
    expect(control.apartMs).toBeGreaterThan(control.noiseMs);
  });
});
