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

describe("a key with the scope admin", () => {
  it("creates keys of its own tenant with the requested scopes and expiry; each is shown only once", async () => {
    const response = await create({ name: "ci", scopes: ["read"], expires_in_days: 30 });
    expect(response.status).toBe(201);
    const created = NewKeySchema.parse(await response.json());
    expect(created).toMatchObject({
      tenant: "acme",
      name: "ci",
      scopes: ["read"],
      revoked_at: null,
      last_used_at: null,
    });
    expect((created.expires_at ?? 0) - created.created_at).toBe(30 * 86_400);
    expect((await askWith(created.key, "/api/sessions/session_unknown00")).status).toBe(404);
    const listed = await (await askWith(admin.key, "/api/keys")).text();
    expect(listed).toContain(created.id);
    expect(listed).not.toContain(created.key.slice(-43));
  });

  it("revokes keys; to revoke a key again changes nothing", async () => {
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

  it("lists keys in pages, newest first", async () => {
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

  it("creates keys only up to 50 valid keys of the tenant; revoked keys do not count (M13)", async () => {
    const { key } = await makeKey("minter", { scopes: "admin" });
    const created = await Promise.all(
      Array.from({ length: 49 }, (_, index) =>
        create({ name: `key ${index}`, scopes: ["read"] }, key),
      ),
    );
    expect(new Set(created.map(({ status }) => status))).toEqual(new Set([201]));
    const refused = await Promise.all(
      [1, 2].map((number) => create({ name: `over ${number}`, scopes: ["read"] }, key)),
    );
    expect(await Promise.all(refused.map(codeOf))).toEqual([
      [409, "too_many_keys"],
      [409, "too_many_keys"],
    ]);
    const { id } = NewKeySchema.parse(await created[0]?.json());
    await askWith(key, `/api/keys/${id}`, { method: "DELETE" });
    const results = await Promise.all(
      [1, 2].map((number) => create({ name: `again ${number}`, scopes: ["read"] }, key)),
    );
    expect(results.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await create({ name: "another tenant's", scopes: ["read"] }, other.key)).status).toBe(
      201,
    );
  });

  it("lists only the newest 500 revoked and expired keys (M13)", async () => {
    const past = Date.now() - 1;
    for (let index = 0; index < 503; index += 1)
      await makeKey("mortal", { expires_at: past, name: `old ${index}` });
    const { key } = await makeKey("mortal", { scopes: "admin" });
    await create({ name: "fresh", scopes: ["read"] }, key);
    const count = env.DB.prepare("SELECT count(*) AS n FROM api_keys WHERE tenant = 'mortal'");
    expect(await count.first("n")).toBe(502);
    expect((await askWith(key, "/api/keys")).status).toBe(200);
  });

  it("creates no key that expires after itself; its own expiry is also the default (M13)", async () => {
    const creatorExpiry = Date.now() + 10 * 86_400_000;
    const { key } = await makeKey("mortals", { scopes: "admin", expires_at: creatorExpiry });
    const keyWithDefault = NewKeySchema.parse(
      await (await create({ name: "a", scopes: ["admin"] }, key)).json(),
    );
    expect(keyWithDefault.expires_at).toBe(creatorExpiry / 1000);
    const shorterKey = NewKeySchema.parse(
      await (await create({ name: "b", scopes: ["run"], expires_in_days: 9 }, key)).json(),
    );
    expect((shorterKey.expires_at ?? 0) - shorterKey.created_at).toBe(9 * 86_400);
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
  ])("is refused for %s with %s", async (path, code) => {
    expect(await codeOf(await askWith(admin.key, path))).toEqual([400, code]);
  });

  it("reads the audit log in pages; the hashes form a chain without a gap", async () => {
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

it("a request from the local machine without a key creates no key for its own tenant", async () => {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"name":"x","scopes":["run"]}',
  };
  expect(await codeOf(await ask("/api/keys", init))).toEqual([422, "request_invalid"]);
});
