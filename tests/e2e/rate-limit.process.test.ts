import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServiceProcess } from "../../simulated/service/service-process";
import { bearer, KEYED, newKey } from "./support/keyed";

/** The limit in wrangler.toml, per minute: requests of one key, or refusals of one IP address. */
const LIMIT = 600;
/**
 * The count restarts each minute. Also if these requests are sent in two different minutes, one of
 * them is over the limit.
 */
const SURELY_TOO_MANY = 2 * LIMIT + 1;
const CONCURRENT = 20;

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
async function askUntilRefused(
  headers: Headers,
  answer: number,
): Promise<{ answered: number; refusal: Response }> {
  let answered = 0;
  for (let asked = 0; asked < SURELY_TOO_MANY; asked += CONCURRENT) {
    const responses = await Promise.all(Array.from({ length: CONCURRENT }, () => ask(headers)));
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

const expectRateLimited = async ({
  answered,
  refusal,
}: {
  answered: number;
  refusal: Response;
}) => {
  expect(answered).toBeGreaterThanOrEqual(LIMIT);
  expect(refusal.headers.get("retry-after")).toBe("10");
  expect(await refusal.json()).toMatchObject({ status: 429, code: "rate_limited" });
};

describe("the rate limit of the deployment", () => {
  it("refuses a key above the limit, but no other key of its tenant", async () => {
    await expectRateLimited(await askUntilRefused(bearer(eager.key), 200));
    expect(await statusOf(bearer(calm.key))).toBe(200);
  });

  it("refuses an IP address that sends no valid key, but no other address and no valid key from that address", async () => {
    const wrong = bearer(calm.key.replace(calm.secret, third.secret));
    const from = (address: string, headers: Headers = wrong) => ({
      ...headers,
      "cf-connecting-ip": address,
    });
    await expectRateLimited(await askUntilRefused(from("203.0.113.9"), 401));
    expect(await statusOf(from("203.0.113.10"))).toBe(401);
    expect(await statusOf(from("203.0.113.9", bearer(third.key)))).toBe(200);
  });
});
