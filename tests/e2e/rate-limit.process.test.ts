import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { bearer, KEYED, newKey } from "./support/keyed";

/** As in wrangler.toml: requests of one key, or refusals of one address, per minute. */
const LIMIT = 600;
/**
 * The count restarts each minute. Of this many requests, one is over the limit, also if they spread
 * over two minutes.
 */
const SURELY_TOO_MANY = 2 * LIMIT + 1;
const AT_ONCE = 20;

const [eager, calm, third] = [
  newKey("acme", "read"),
  newKey("acme", "read"),
  newKey("other", "read"),
];
let service: ServiceProcess;

beforeAll(async () => {
  service = await ServiceProcess.prepare(
    KEYED,
    [eager, calm, third].map(({ statement }) => statement),
  );
  await service.start();
});
afterAll(() => service?.stop());

type Headers = Readonly<Record<string, string>>;
const ask = (headers: Headers) => fetch(`${service.url}/api/sessions`, { headers });
const statusOf = async (headers: Headers): Promise<number> => {
  const response = await ask(headers);
  await response.arrayBuffer();
  return response.status;
};

/** Sends requests until one is refused. Returns the number of answered requests and the refusal. */
async function untilRefused(
  headers: Headers,
  answer: number,
): Promise<{ answered: number; refusal: Response }> {
  let answered = 0;
  for (let asked = 0; asked < SURELY_TOO_MANY; asked += AT_ONCE) {
    const responses = await Promise.all(Array.from({ length: AT_ONCE }, () => ask(headers)));
    answered += responses.filter(({ status }) => status === answer).length;
    const refusal = responses.find(({ status }) => status === 429);
    await Promise.all(
      responses
        .filter((response) => response !== refusal)
        .map((response) => response.arrayBuffer()),
    );
    if (refusal) return { answered, refusal };
  }
  throw new Error(`${answered} requests were answered, and none refused`);
}

const expectTooOften = async ({ answered, refusal }: { answered: number; refusal: Response }) => {
  expect(answered).toBeGreaterThanOrEqual(LIMIT);
  expect(refusal.headers.get("retry-after")).toBe("10");
  expect(await refusal.json()).toMatchObject({ status: 429, code: "rate_limited" });
};

describe("the rate limit of the deployment", () => {
  it("stops a key above the limit, and no other key of its tenant", async () => {
    await expectTooOften(await untilRefused(bearer(eager.key), 200));
    expect(await statusOf(bearer(calm.key))).toBe(200);
  });

  it("stops an address without a valid key, but no other address, nor a valid key from the same address", async () => {
    const wrong = bearer(calm.key.replace(calm.secret, third.secret));
    const from = (address: string, headers: Headers = wrong) => ({
      ...headers,
      "cf-connecting-ip": address,
    });
    await expectTooOften(await untilRefused(from("203.0.113.9"), 401));
    expect(await statusOf(from("203.0.113.10"))).toBe(401);
    expect(await statusOf(from("203.0.113.9", bearer(third.key)))).toBe(200);
  });
});
