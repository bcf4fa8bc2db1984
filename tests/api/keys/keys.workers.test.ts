import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { AuditListSchema, KeyListSchema, NewKeySchema } from "../../../src/protocol/api/keys";
import { AUDIT_START, firstBroken } from "../../../src/tenancy/audit";
import { ask, askWith, makeKey } from "../keyed-client";

const admin = await makeKey("acme", { scopes: "admin" });
const other = await makeKey("other", { scopes: "admin" });
const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code: string }>()).code,
];
const create = (body: unknown, key = admin.key) =>
  askWith(key, "/api/keys", { method: "POST", body });

describe("an admin's key", () => {
  it("creates keys of its own tenant, shown once, with the given scopes and expiry", async () => {
    const response = await create({ name: "ci", scopes: ["read"], expires_in_days: 30 });
    expect(response.status).toBe(201);
    const made = NewKeySchema.parse(await response.json());
    expect(made).toMatchObject({
      tenant: "acme",
      name: "ci",
      scopes: ["read"],
      revoked_at: null,
      last_used_at: null,
    });
    expect((made.expires_at ?? 0) - made.created_at).toBe(30 * 86_400);
    expect((await askWith(made.key, "/api/sessions/session_unknown00")).status).toBe(404);
    const listed = await (await askWith(admin.key, "/api/keys")).text();
    expect(listed).toContain(made.id);
    expect(listed).not.toContain(made.key.slice(-43));
  });

  it("revokes keys, and a second time changes nothing", async () => {
    const { id, key } = NewKeySchema.parse(
      await (await create({ name: "short", scopes: ["run"] })).json(),
    );
    const first = await (await askWith(admin.key, `/api/keys/${id}`, { method: "DELETE" })).json();
    expect(
      await (await askWith(admin.key, `/api/keys/${id}`, { method: "DELETE" })).json(),
    ).toEqual(first);
    expect((await askWith(key, "/api/sessions/session_unknown00")).status).toBe(401);
  });

  it("neither lists nor revokes keys of another tenant", async () => {
    const unknown = await askWith(other.key, `/api/keys/${"0".repeat(26)}`, { method: "DELETE" });
    const foreign = await askWith(other.key, `/api/keys/${admin.id}`, { method: "DELETE" });
    const texts = await Promise.all(
      [unknown, foreign].map(async (response) =>
        (await response.text()).replace(/"request_id":"[^"]*"/, ""),
      ),
    );
    expect([unknown.status, foreign.status, texts[0] === texts[1]]).toEqual([404, 404, true]);
    expect(await (await askWith(other.key, "/api/keys")).text()).not.toContain(admin.id);
    expect((await askWith(admin.key, "/api/keys")).status).toBe(200);
  });

  it("lists keys page by page, newest first", async () => {
    const { key } = await makeKey("pages", { scopes: "admin" });
    for (const name of ["one", "two", "three"]) await create({ name, scopes: ["read"] }, key);
    const first = KeyListSchema.parse(await (await askWith(key, "/api/keys?limit=2")).json());
    const second = KeyListSchema.parse(
      await (await askWith(key, `/api/keys?limit=2&after=${first.last_id}`)).json(),
    );
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual([
      "three",
      "two",
      "one",
      "test",
    ]);
    expect([first.has_more, second.has_more]).toEqual([true, false]);
  });

  it("creates at most 50 valid keys, and another once one is revoked (M13)", async () => {
    const { key } = await makeKey("minter", { scopes: "admin" });
    const made = await Promise.all(
      Array.from({ length: 49 }, (_, nth) => create({ name: `key ${nth}`, scopes: ["read"] }, key)),
    );
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    const refused = await Promise.all(
      [1, 2].map((nth) => create({ name: `over ${nth}`, scopes: ["read"] }, key)),
    );
    expect(await Promise.all(refused.map(codeOf))).toEqual([
      [409, "too_many_keys"],
      [409, "too_many_keys"],
    ]);
    const { id } = NewKeySchema.parse(await made[0]?.json());
    await askWith(key, `/api/keys/${id}`, { method: "DELETE" });
    const both = await Promise.all(
      [1, 2].map((nth) => create({ name: `again ${nth}`, scopes: ["read"] }, key)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await create({ name: "another tenant's", scopes: ["read"] }, other.key)).status).toBe(
      201,
    );
  });

  it("lists only the newest 500 revoked and expired keys (M13)", async () => {
    const past = Date.now() - 1;
    for (let nth = 0; nth < 503; nth += 1)
      await makeKey("mortal", { expires_at: past, name: `old ${nth}` });
    const { key } = await makeKey("mortal", { scopes: "admin" });
    await create({ name: "fresh", scopes: ["read"] }, key);
    const count = env.DB.prepare("SELECT count(*) AS n FROM api_keys WHERE tenant = 'mortal'");
    expect(await count.first("n")).toBe(502);
    expect((await askWith(key, "/api/keys")).status).toBe(200);
  });

  it("creates no key that expires later: its own expiry is the default and the limit (M13)", async () => {
    const ends = Date.now() + 10 * 86_400_000;
    const { key } = await makeKey("mortals", { scopes: "admin", expires_at: ends });
    const inherited = NewKeySchema.parse(
      await (await create({ name: "a", scopes: ["admin"] }, key)).json(),
    );
    expect(inherited.expires_at).toBe(ends / 1000);
    const shorter = NewKeySchema.parse(
      await (await create({ name: "b", scopes: ["run"], expires_in_days: 9 }, key)).json(),
    );
    expect((shorter.expires_at ?? 0) - shorter.created_at).toBe(9 * 86_400);
    const refused = await create({ name: "c", scopes: ["run"], expires_in_days: 11 }, key);
    const problem = await refused.json<{ code: string; errors: { pointer: string }[] }>();
    expect([refused.status, problem.code, problem.errors[0]?.pointer]).toEqual([
      422,
      "request_invalid",
      "/expires_in_days",
    ]);
  });

  it.each([
    { name: "no name", body: { scopes: ["read"] } },
    { name: "a blank name", body: { name: " ", scopes: ["read"] } },
    { name: "no scope", body: { name: "x", scopes: [] } },
    { name: "an unknown scope", body: { name: "x", scopes: ["root"] } },
    { name: "another tenant", body: { name: "x", scopes: ["read"], tenant: "other" } },
    { name: "an expiry in the past", body: { name: "x", scopes: ["read"], expires_in_days: -1 } },
  ])("creates no key with $name", async ({ body }) => {
    expect(await codeOf(await create(body))).toEqual([422, "request_invalid"]);
  });

  it.each([
    ["/api/keys?after=x", "bad_id"],
    ["/api/keys?limit=0", "bad_query"],
    ["/api/audit?after=-1", "bad_query"],
    ["/api/audit?limit=5000", "bad_query"],
  ])("is refused for %s: %s", async (path, code) => {
    expect(await codeOf(await askWith(admin.key, path))).toEqual([400, code]);
  });

  it("reads the audit log page by page, as a chain without a gap", async () => {
    const { key, id } = await makeKey("told", { scopes: "admin" });
    for (const name of ["one", "two", "three"]) await create({ name, scopes: ["read"] }, key);
    const first = AuditListSchema.parse(await (await askWith(key, "/api/audit?limit=2")).json());
    const second = AuditListSchema.parse(
      await (await askWith(key, `/api/audit?limit=2&after=${first.last_id}`)).json(),
    );
    const rows = [...first.data, ...second.data].map(({ key_id, request_id, ...row }) => ({
      ...row,
      keyId: key_id,
      requestId: request_id,
    }));
    expect(rows.map(({ action, result, keyId }) => [action, result, keyId])).toEqual([
      ["POST /api/keys", 201, id],
      ["POST /api/keys", 201, id],
      ["POST /api/keys", 201, id],
      ["GET /api/audit", 200, id],
    ]);
    expect(firstBroken(rows, AUDIT_START, null)).toBeNull();
    expect([first.broken_at, second.broken_at]).toEqual([null, null]);
  });
});

it("this machine creates no key for itself without a key", async () => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"x","scopes":["run"]}',
  };
  expect(await codeOf(await ask("/api/keys", init))).toEqual([422, "request_invalid"]);
});
