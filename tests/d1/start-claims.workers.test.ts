import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createStartClaims } from "../../d1/start-claims";

const claims = createStartClaims(env.DB);
const claimOf = (tenant: string, key: string) => ({
  tenant,
  key,
  createdAt: Date.now(),
  body_hash: "b",
  session_id: "session_claimed000",
  start_id: `start_${tenant}`,
  warnings: "[]",
});
const rows = async () =>
  (await env.DB.prepare("SELECT * FROM start_claims").all<{ tenant: string; key: string }>())
    .results;

describe("an idempotency key", () => {
  it("finds its claim in its own tenant only, and no other key finds it", async () => {
    await claims.claim(claimOf("one", "order 17"), null);
    expect(await claims.find("one", "order 17", Date.now())).toMatchObject({
      start_id: "start_one",
    });
    expect(await claims.find("one", "order 18", Date.now())).toBeNull();
    expect(await claims.find("other", "order 17", Date.now())).toBeNull();
  });

  it("is stored as a hash, which is different for each tenant", async () => {
    for (const tenant of ["red", "blue"])
      await claims.claim(claimOf(tenant, "customer 4711"), null);
    const hashes = (await rows())
      .filter(({ tenant }) => tenant === "red" || tenant === "blue")
      .map(({ key }) => key);
    expect(hashes).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}$/),
      expect.stringMatching(/^[0-9a-f]{64}$/),
    ]);
    expect(new Set(hashes).size).toBe(2);
  });

  it("has a different hash if only the border between tenant and key is different", async () => {
    await claims.claim(claimOf("acme", "x1"), null);
    await claims.claim(claimOf("acmex", "1"), null);
    const hashes = (await rows())
      .filter(({ tenant }) => tenant.startsWith("acme"))
      .map(({ key }) => key);
    expect(new Set(hashes).size).toBe(2);
  });
});
