import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { SecretStore } from "../../../d1/secret-store";
import { toolSecrets } from "../../../durable-objects/session/tools/tool-secrets";
import { SECRET_LIMITS, SecretListSchema, SecretSchema } from "../../../src/protocol/api/secrets";
import { askWith, makeKey } from "../keyed-client";

const CANARY = "tenant-canary-5b1c9e77";
const BINDINGS = [{ origin: "https://api.example.com", paths: ["/v1"], methods: ["GET"] }];
const [admin, other, runner] = [
  await makeKey("holders", { scopes: "admin" }),
  await makeKey("others", { scopes: "admin" }),
  await makeKey("holders", { scopes: "run" }),
];
const put = (
  name: string,
  body: unknown = { value: CANARY, bindings: BINDINGS },
  key = admin.key,
) => askWith(key, `/api/secrets/${name}`, { method: "PUT", body });
const remove = (name: string, key = admin.key) =>
  askWith(key, `/api/secrets/${name}`, { method: "DELETE" });
const list = async (key = admin.key) =>
  SecretListSchema.parse(await (await askWith(key, "/api/secrets")).json()).data;
const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code: string }>()).code,
];
const USE = { url: "https://api.example.com/v1/items", method: "GET" };
const valueFor = (tenant: string, name: string, use = USE) =>
  toolSecrets({ ...env, TOOL_SECRETS, ...OPERATORS }, tenant)(name, use);
const TOOL_SECRETS = "SHARED=https://api.example.com,ONLY@holders=https://api.example.com";
const OPERATORS = { SHARED: "the operator's", ONLY: "the operator's for holders" };

describe("a tenant's secret", () => {
  it("is set, listed without its value, replaced and deleted", async () => {
    const made = await put("GITHUB");
    expect(made.status).toBe(201);
    expect(SecretSchema.parse(await made.json())).toMatchObject({
      name: "GITHUB",
      bindings: BINDINGS,
    });
    expect(await list()).toMatchObject([{ name: "GITHUB", bindings: BINDINGS }]);
    expect(await valueFor("holders", "GITHUB")).toBe(CANARY);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const replaced = await put("GITHUB", {
      value: "another-value",
      bindings: [{ origin: "https://api.example.com" }],
    });
    expect([
      replaced.status,
      await valueFor("holders", "GITHUB", { ...USE, method: "DELETE" }),
    ]).toEqual([200, "another-value"]);
    expect([(await remove("GITHUB")).status, await valueFor("holders", "GITHUB")]).toEqual([
      204,
      undefined,
    ]);
    expect(await codeOf(await remove("GITHUB"))).toEqual([404, "secret_not_found"]);
    expect(await list()).toEqual([]);
  });

  it("is sent only to its bound origins", async () => {
    await put("BOUND");
    const uses = [
      USE,
      { ...USE, method: "POST" },
      { ...USE, url: "https://api.example.com/v2" },
      { ...USE, url: "https://evil.net/v1" },
    ];
    expect(await Promise.all(uses.map((use) => valueFor("holders", "BOUND", use)))).toEqual([
      CANARY,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("cannot be used, listed or deleted by another tenant, which may use the same name", async () => {
    await put("MINE");
    expect([await valueFor("others", "MINE"), await list(other.key)]).toEqual([undefined, []]);
    const answers = [await remove("MINE", other.key), await remove("NOBODYS", other.key)];
    const texts = await Promise.all(
      answers.map(async (one) => (await one.text()).replace(/"request_id":"[^"]*"/, "")),
    );
    expect([...answers.map(({ status }) => status), texts[0]]).toEqual([404, 404, texts[1]]);
    await put("MINE", { value: "the-others-value", bindings: BINDINGS }, other.key);
    expect([await valueFor("holders", "MINE"), await valueFor("others", "MINE")]).toEqual([
      CANARY,
      "the-others-value",
    ]);
  });

  it("replaces the operator's secret of the same name, even with other origins; the operator's may name a tenant (M11)", async () => {
    const names = ["SHARED", "ONLY"];
    expect(await Promise.all(names.map((name) => valueFor("holders", name)))).toEqual(
      Object.values(OPERATORS),
    );
    expect(await Promise.all(names.map((name) => valueFor("others", name)))).toEqual([
      OPERATORS.SHARED,
      undefined,
    ]);
    await put("SHARED", { value: CANARY, bindings: [{ origin: "https://own.example.com" }] });
    expect(await valueFor("holders", "SHARED")).toBeUndefined();
    expect(
      await valueFor("holders", "SHARED", { url: "https://own.example.com/", method: "GET" }),
    ).toBe(CANARY);
    expect(await valueFor("others", "SHARED")).toBe(OPERATORS.SHARED);
  });

  it("is stored sealed, and cannot be opened for another tenant, name or binding", async () => {
    await put("SEALED");
    const rows = await env.DB.prepare("SELECT * FROM tenant_secrets").all();
    expect(JSON.stringify(rows.results)).not.toContain(CANARY);
    const moved =
      "INSERT OR REPLACE INTO tenant_secrets SELECT ?, ?, sealed, ?, 1, 1 FROM tenant_secrets WHERE tenant = 'holders' AND name = 'SEALED'";
    const bindings = JSON.stringify(BINDINGS);
    const wider = JSON.stringify([{ origin: "https://api.example.com" }]);
    const places = [
      ["others", "SEALED", bindings],
      ["holders", "RENAMED", bindings],
      ["holders", "SEALED", wider],
    ] as const;
    for (const [tenant, name, bound] of places) {
      await env.DB.prepare(moved).bind(tenant, name, bound).run();
      expect(await valueFor(tenant, name)).toBeUndefined();
    }
  });

  it("is sealed again with the first version of the keys if an older one sealed it", async () => {
    const { SEALING_KEYS: old = "" } = env;
    await put("ROTATED");
    const next = `9:${Buffer.alloc(32, 9).toString("base64")}`;
    const find = (keys: string) =>
      new SecretStore({ DB: env.DB, SEALING_KEYS: keys }).find("holders", "ROTATED");
    expect(await find(`${next},${old}`)).toMatchObject({ ok: true, value: CANARY });
    expect(await find(next)).toMatchObject({ ok: true, value: CANARY });
    expect(await find(old)).toEqual({ ok: false, version: 9 });
  });

  it("is one of at most a hundred, also if two are set at once", async () => {
    const { key } = await makeKey("rich", { scopes: "admin" });
    await Promise.all(
      Array.from({ length: SECRET_LIMITS.secrets - 1 }, (_, nth) => put(`S${nth}`, undefined, key)),
    );
    const last = await Promise.all(["X", "Y"].map((name) => put(name, undefined, key)));
    expect(last.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await put("S0", undefined, key)).status).toBe(200);
  });

  it.each([
    {
      what: "no admin's key",
      ask: () => put("X", undefined, runner.key),
      code: [403, "insufficient_scope"],
    },
    {
      what: "no admin's key, only to look",
      ask: () => askWith(runner.key, "/api/secrets"),
      code: [403, "insufficient_scope"],
    },
    { what: "a name that configs cannot contain", ask: () => put("a-b"), code: [400, "bad_id"] },
    {
      what: "a name that is the secret",
      ask: () => put(`ghp_${"a".repeat(36)}`),
      code: [422, "request_invalid"],
    },
    {
      what: "a value that is too short to be hidden",
      ask: () => put("X", { value: "12345", bindings: BINDINGS }),
      code: [422, "request_invalid"],
    },
    {
      what: "a value that headers do not allow",
      ask: () => put("X", { value: "a\nb: c-d-e", bindings: BINDINGS }),
      code: [422, "request_invalid"],
    },
    {
      what: "no binding",
      ask: () => put("X", { value: CANARY, bindings: [] }),
      code: [422, "request_invalid"],
    },
    {
      what: "an origin that is no address",
      ask: () => put("X", { value: CANARY, bindings: [{ origin: "api" }] }),
      code: [422, "request_invalid"],
    },
    {
      what: "a private origin",
      ask: () => put("X", { value: CANARY, bindings: [{ origin: "https://10.0.0.1" }] }),
      code: [422, "request_invalid"],
    },
    {
      what: "an origin with a path",
      ask: () => put("X", { value: CANARY, bindings: [{ origin: "https://a.net/v1" }] }),
      code: [422, "request_invalid"],
    },
    {
      what: "a path that leads elsewhere",
      ask: () =>
        put("X", { value: CANARY, bindings: [{ origin: "https://a.net", paths: ["/a/../b"] }] }),
      code: [422, "request_invalid"],
    },
    {
      what: "an unknown method",
      ask: () =>
        put("X", { value: CANARY, bindings: [{ origin: "https://a.net", methods: ["get"] }] }),
      code: [422, "request_invalid"],
    },
  ])("is not set with $what, and no answer repeats it", async ({ ask, code }) => {
    const response = await ask();
    const text = await response.clone().text();
    expect([await codeOf(response), text.includes(CANARY)]).toEqual([code, false]);
  });

  it("is refused if the service has no sealing key", async () => {
    const store = new SecretStore({ DB: env.DB });
    const request = {
      tenant: "holders",
      name: "UNSEALED",
      value: CANARY,
      bindings: [{ origin: "https://api.example.com" }],
    };
    expect(await store.put(request, 1)).toEqual({
      ok: false,
      code: "not_sealed",
      problem: "SEALING_KEYS is not set",
    });
  });
});

describe("a config may name a secret", () => {
  const check = async (key: string, url: string, name: string, method = "GET") => {
    const tool = {
      name: "look_up",
      description: "Looks up.",
      url,
      method,
      headers: { authorization: `Bearer \${${name}}` },
    };
    const config = {
      agents: [
        {
          id: "a",
          backend: {
            type: "chatcompletion",
            model: "m",
            base_url: "http://127.0.0.1:9/v1",
            custom_tools: [tool],
          },
        },
      ],
    };
    const body = await (
      await askWith(key, "/api/configs/validate", { method: "POST", body: { config } })
    ).json<{
      errors: { code: string }[];
    }>();
    return body.errors.map(({ code }) => code).filter((code) => code.startsWith("key_"));
  };

  it("of its own tenant, for its bound origins", async () => {
    await put("NAMED");
    expect(await check(admin.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([]);
    expect(await check(admin.key, "https://api.example.com/{version}/x", "NAMED")).toEqual([]);
    expect(await check(admin.key, "https://api.example.com/v2/{id}", "NAMED")).toEqual([
      "key_bound_elsewhere",
    ]);
    expect(await check(admin.key, "https://api.example.com/v1/{id}", "NAMED", "DELETE")).toEqual([
      "key_bound_elsewhere",
    ]);
    expect(await check(other.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([
      "key_unknown",
    ]);
    await remove("NAMED");
    expect(await check(admin.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([
      "key_unknown",
    ]);
  });
});
