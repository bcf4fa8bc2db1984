import { env } from "cloudflare:workers";
import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/api/app";
import type { Services } from "../../../src/api/services";
import { LOCAL_TENANT } from "../../../src/tenancy/principal";
import { noContexts } from "../../builders/no-contexts";
import { noEvals } from "../../builders/no-evals";
import { noSessions } from "../../builders/no-sessions";
import { OPEN_TENANCY } from "../tenancy-fakes";
import { ask, askWith, keys, makeKey } from "../keyed-client";
import { noSecrets } from "../../builders/no-secrets";

const UNKNOWN = "/api/sessions/session_unknown00";
const statusAndCode = async (response: Response) => [
  response.status,
  (await response.json<{ code: string }>()).code,
];

const validKey = await makeKey("acme");

describe("a key", () => {
  it.each(["Bearer", "bearer", "BEARER"])("A2 gives access with the scheme %s", async (scheme) => {
    const response = await ask(UNKNOWN, {
      headers: { authorization: `${scheme} ${validKey.key}` },
    });
    expect(await statusAndCode(response)).toEqual([404, "session_not_found"]);
  });

  it("gives access at every host name of the service", async () => {
    const headers = { authorization: `Bearer ${validKey.key}` };
    expect((await ask(`https://massgen.example.com${UNKNOWN}`, { headers })).status).toBe(404);
  });

  it.each([
    {
      row: "A2",
      name: "it has the scheme Basic",
      authorization: () => `Basic ${btoa(`user:${validKey.key}`)}`,
    },
    { row: "A2", name: "it has no scheme", authorization: () => validKey.key },
    {
      row: "A3",
      name: "it has a wrong secret",
      authorization: () => `Bearer ${validKey.key.slice(0, -4)}AAAA`,
    },
    {
      row: "A3",
      name: "it is unknown",
      authorization: () => `Bearer mge_${"0".repeat(26)}_${"A".repeat(43)}`,
    },
    {
      row: "A3",
      name: "it belongs to another service",
      authorization: () => "Bearer sk-proj-0123456789abcdef",
    },
    { row: "A4", name: "it is SQL", authorization: () => "Bearer sk_'OR(1=1)--" },
    {
      row: "A3",
      name: "it has ten thousand characters",
      authorization: () => `Bearer ${"x".repeat(10_000)}`,
    },
    { row: "A2", name: "it is missing after the scheme", authorization: () => "Bearer" },
    {
      row: "A3",
      name: "another key follows",
      authorization: () => `Bearer ${validKey.key}, Bearer ${validKey.key}`,
    },
  ])(
    "$row is refused with always the same 401 response, also on loopback, if $name",
    async ({ authorization }) => {
      const response = await ask(UNKNOWN, { headers: { authorization: authorization() } });
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      const { request_id, ...problem } = await response.json<Record<string, unknown>>();
      expect(request_id).toEqual(expect.any(String));
      expect(problem).toEqual({
        type: "about:blank",
        title: "unauthorized",
        status: 401,
        detail: expect.stringContaining("Authorization: Bearer"),
        code: "unauthorized",
      });
    },
  );

  it.each([
    { name: "was revoked", more: { revoked_at: 1 } },
    { name: "has expired", more: { expires_at: 1 } },
  ])("A5 that $name gives no access", async ({ more }) => {
    const { key } = await makeKey("acme", more);
    expect(await statusAndCode(await askWith(key, UNKNOWN))).toEqual([401, "unauthorized"]);
  });

  it("A5 gives no access from the first request after it is revoked", async () => {
    const { key, id } = await makeKey("acme");
    expect((await askWith(key, UNKNOWN)).status).toBe(404);
    await keys.revoke("acme", id, Date.now());
    expect((await askWith(key, UNKNOWN)).status).toBe(401);
  });

  it.each(["api_key", "key", "token", "access_token", "API_KEY", "q"])(
    "A6 in the query parameter %s is refused as a leaked key",
    async (name) => {
      const logSpies = [
        vi.spyOn(console, "log"),
        vi.spyOn(console, "error"),
        vi.spyOn(console, "warn"),
      ];
      for (const headers of [{}, { authorization: `Bearer ${validKey.key}` }]) {
        const response = await ask(`${UNKNOWN}?${name}=${validKey.key}`, { headers });
        const text = await response.text();
        expect([response.status, text.includes("revoke"), text.includes(validKey.key)]).toEqual([
          401,
          true,
          false,
        ]);
      }
      expect(JSON.stringify(logSpies.map(({ mock }) => mock.calls))).not.toContain(validKey.key);
      vi.restoreAllMocks();
    },
  );

  it.each([
    { name: "unescaped", tenant: "pasted", pathForm: (key: string) => key },
    { name: "escaped", tenant: "pasted_escaped", pathForm: (key: string) => `%6D${key.slice(1)}` },
  ])(
    "A6 $name in the path in place of its id is refused as a leaked key, and is in no audit log",
    async (row) => {
      const admin = await makeKey(row.tenant, { scopes: "admin" });
      const response = await askWith(admin.key, `/api/keys/${row.pathForm(admin.key)}`, {
        method: "DELETE",
      });
      const text = await response.text();
      expect([response.status, text.includes("revoke"), text.includes(admin.key)]).toEqual([
        401,
        true,
        false,
      ]);
      expect(await (await askWith(admin.key, "/api/audit")).text()).not.toContain(
        admin.key.slice(4),
      );
    },
  );

  it.each([
    { kind: "a provider's key", name: "sk-proj-0123456789abcdef" },
    { kind: "an own key between words", name: "my mge_01kb0000000000000000000000 laptop" },
  ])(
    "A6 as the name of another key is refused and not repeated if it is $kind",
    async ({ name }) => {
      const admin = await makeKey("named", { scopes: "admin" });
      const response = await askWith(admin.key, "/api/keys", {
        method: "POST",
        body: { name, scopes: ["read"] },
      });
      const text = await response.text();
      expect([response.status, text.includes(name)]).toEqual([422, false]);
      expect(JSON.parse(text)).toMatchObject({
        code: "request_invalid",
        errors: [{ pointer: "/name" }],
      });
      const listed = await (await askWith(admin.key, "/api/keys")).json<{
        data: { name: string }[];
      }>();
      expect(new Set(listed.data.map((row) => row.name))).toEqual(new Set(["test"]));
    },
  );

  it.each([
    { "x-tenant-id": "acme" },
    { "x-caller-tenant": "acme" },
    { "cf-access-jwt-assertion": "eyJhbGciOiJub25lIn0.e30." },
    { "cf-access-authenticated-user-email": "admin@example.com" },
    { "x-forwarded-for": "127.0.0.1", "cf-connecting-ip": "127.0.0.1" },
    { "x-forwarded-host": "127.0.0.1" },
  ])("cannot be replaced by the headers %j", async (headers) => {
    expect((await ask(`https://massgen.example.com${UNKNOWN}`, { headers })).status).toBe(401);
  });

  it("has its last use recorded at most once a minute", async () => {
    const { key, id } = await makeKey("acme");
    await askWith(key, UNKNOWN);
    await vi.waitFor(
      async () => expect((await keys.find(id))?.last_used_at).toBeGreaterThan(Date.now() - 30_000),
      10_000,
    );
    const recordedUse = (await keys.find(id))?.last_used_at;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await askWith(key, UNKNOWN);
    expect((await keys.find(id))?.last_used_at).toBe(recordedUse);
    await env.DB.prepare("UPDATE api_keys SET last_used_at = last_used_at - 61000 WHERE id = ?")
      .bind(id)
      .run();
    await askWith(key, UNKNOWN);
    await vi.waitFor(
      async () => expect((await keys.find(id))?.last_used_at).toBeGreaterThan(Date.now() - 30_000),
      10_000,
    );
  });
});

describe("A13 a key's scopes", () => {
  it.each([
    { scopes: "read", method: "GET", path: UNKNOWN, status: 404 },
    { scopes: "read", method: "POST", path: `${UNKNOWN}/cancel`, status: 403 },
    { scopes: "read", method: "POST", path: "/api/runs", status: 403 },
    { scopes: "read", method: "DELETE", path: UNKNOWN, status: 403 },
    { scopes: "run", method: "POST", path: `${UNKNOWN}/cancel`, status: 404 },
    { scopes: "run", method: "GET", path: "/api/keys", status: 403 },
    { scopes: "run", method: "GET", path: "/api/audit", status: 403 },
    { scopes: "", method: "GET", path: UNKNOWN, status: 403 },
  ])("`$scopes` lead to $status for $method $path", async ({ scopes, method, path, status }) => {
    const { key } = await makeKey("acme", { scopes });
    const response = await askWith(key, path, { method });
    expect(response.status).toBe(status);
    if (status === 403) expect(await response.json()).toMatchObject({ code: "insufficient_scope" });
  });
});

describe("a service", () => {
  const services = (more: Partial<Services["tenancy"]>): Services => ({
    session: () => {
      throw new Error("no session may be reached");
    },
    tenancy: { ...OPEN_TENANCY, ...more },
    secrets: noSecrets,
    config: { storedKeys: [], allowedOrigins: [], variables: {} },
    teams: {},
    evals: noEvals,
    contexts: noContexts,
    stored: noSessions,
    version: { version: "0.0.0", deployment: null },
    openOnLoopback: false,
  });
  const responseFor = async (more: Partial<Services["tenancy"]>) => {
    const response = await createApp().fetch(
      new Request(`http://127.0.0.1${UNKNOWN}`),
      services(more),
    );
    const { code, detail } = await response.json<{ code: string; detail: string }>();
    return {
      status: response.status,
      code,
      detail,
      authenticateHeader: response.headers.get("www-authenticate"),
    };
  };

  it("without keys names the command that creates the first key", async () => {
    expect(await responseFor({ hasMasterKey: true })).toMatchObject({
      status: 401,
      code: "access_closed",
      detail: expect.stringContaining("npm run keys -- create"),
    });
  });

  it("without its master key names the command that sets it", async () => {
    expect(await responseFor({ keys })).toMatchObject({
      status: 401,
      detail: expect.stringContaining("wrangler secret put MASTER_KEY"),
    });
  });

  it("A1 with keys refuses requests without a key", async () => {
    expect(await responseFor({ keys, hasMasterKey: true })).toMatchObject({
      status: 401,
      code: "unauthorized",
      authenticateHeader: "Bearer",
    });
  });

  it("refuses too many requests with a key, and returns a time to retry", async () => {
    const app = createApp();
    const tenancy = {
      ...OPEN_TENANCY,
      keys,
      hasMasterKey: true,
      withinRate: async (id: string) => id !== validKey.id,
    };
    const response = await app.fetch(
      new Request(`http://127.0.0.1${UNKNOWN}`, {
        headers: { authorization: `Bearer ${validKey.key}` },
      }),
      { ...services({}), tenancy },
    );
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "10"]);
    expect(await response.json()).toMatchObject({ code: "rate_limited" });
  });

  it("refuses too many requests with all keys of a tenant; requests beyond a key's own limit do not count (M13)", async () => {
    const app = createApp();
    const countedTenants: string[] = [];
    const [one, two, other] = [
      await makeKey("crowd"),
      await makeKey("crowd"),
      await makeKey("quiet"),
    ];
    const tenancy = {
      ...OPEN_TENANCY,
      keys,
      hasMasterKey: true,
      withinRate: async (id: string) => id !== one.id,
      withinTenantRate: async (tenant: string) => {
        countedTenants.push(tenant);
        return tenant !== "crowd";
      },
    };
    const codeFor = async ({ key }: { key: string }) => {
      const request = new Request("http://127.0.0.1/api/sessions/x", {
        headers: { authorization: `Bearer ${key}` },
      });
      const response = await app.fetch(request, { ...services({}), tenancy });
      return (await response.json<{ code: string }>()).code;
    };
    expect(await codeFor(one)).toBe("rate_limited");
    expect(countedTenants).toEqual([]);
    expect(await codeFor(two)).toBe("rate_limited");
    expect(await codeFor(other)).toBe("bad_id");
  });

  it("allows a tenant five times as many requests as a key (M13)", { retry: 2 }, async () => {
    const [key, limiter] = [crypto.randomUUID(), env.TENANT_RATE_LIMITER];
    const results = await Promise.all(Array.from({ length: 3_001 }, () => limiter?.limit({ key })));
    expect(results.filter((result) => result?.success).length).toBe(3_000);
  });

  it("refuses too many requests without a valid key from one client address", async () => {
    const app = createApp();
    const tenancy = {
      ...OPEN_TENANCY,
      keys,
      hasMasterKey: true,
      withinRate: async (name: string) => !name.includes("203.0.113.9"),
    };
    const statusOf = async (headers: Record<string, string>) =>
      (
        await app.fetch(new Request(`http://127.0.0.1${UNKNOWN}`, { headers }), {
          ...services({}),
          tenancy,
        })
      ).status;
    const wrongKeyHeader = { authorization: `Bearer mge_${"0".repeat(26)}_${"A".repeat(43)}` };
    expect(await statusOf({ ...wrongKeyHeader, "cf-connecting-ip": "203.0.113.9" })).toBe(429);
    expect(await statusOf({ "cf-connecting-ip": "203.0.113.9" })).toBe(429);
    expect(await statusOf({ ...wrongKeyHeader, "cf-connecting-ip": "203.0.113.10" })).toBe(401);
    expect(await statusOf(wrongKeyHeader)).toBe(401);
  });

  it("allows 600 requests a minute with a key", { retry: 2 }, async () => {
    // The count restarts each minute. If a minute ends during the test, the test is repeated.
    const [key, limiter] = [crypto.randomUUID(), env.RATE_LIMITER];
    const results = await Promise.all(Array.from({ length: 601 }, () => limiter?.limit({ key })));
    expect(results.filter((result) => result?.success).length).toBe(600);
    expect(await limiter?.limit({ key: "another key" })).toEqual({ success: true });
  });
});

describe("the audit log", () => {
  const rowsOf = async (tenant: string) => {
    const { rows } = await env.TENANTS.get(env.TENANTS.idFromName(tenant)).auditPage({
      after: 0,
      limit: 100,
    });
    return rows.map(({ action, result, keyId, from }) => ({ action, result, keyId, from }));
  };

  it("records the key, action, client address and result of a request, but no read requests", async () => {
    const { key, id } = await makeKey("audited");
    const reader = await makeKey("audited", { scopes: "read" });
    await askWith(key, UNKNOWN);
    await askWith(key, `${UNKNOWN}/cancel?x=secret`, { method: "POST" });
    await askWith(reader.key, "/api/runs", { method: "POST" });
    expect(await rowsOf("audited")).toEqual([
      { action: `POST ${UNKNOWN}/cancel`, result: 404, keyId: id, from: null },
      { action: "POST /api/runs", result: 403, keyId: reader.id, from: null },
    ]);
  });

  it.each(["sk-canary-0123456789", "%73k-canary-0123456789", "x%2Fsk-canary-0123456789"])(
    "A6 contains no key that a client has put into a path as %s",
    async (segment) => {
      const { key } = await makeKey("misplaced");
      await askWith(key, `/api/sessions/${segment}/cancel`, { method: "POST" });
      const last = (await rowsOf("misplaced")).at(-1)?.action;
      expect([last?.includes("[redacted]"), last?.includes("canary")]).toEqual([true, false]);
    },
  );

  it("also records requests from the local machine", async () => {
    await ask(`${UNKNOWN}/cancel`, {
      method: "POST",
      headers: { "cf-connecting-ip": "203.0.113.9" },
    });
    expect(await rowsOf(LOCAL_TENANT)).toContainEqual({
      action: `POST ${UNKNOWN}/cancel`,
      result: 404,
      keyId: null,
      from: "203.0.113.9",
    });
  });
});
