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
    const created = await put("GITHUB");
    expect(created.status).toBe(201);
    expect(SecretSchema.parse(await created.json())).toMatchObject({
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
    const responses = [await remove("MINE", other.key), await remove("NOBODYS", other.key)];
    const texts = await Promise.all(
      responses.map(async (one) => (await one.text()).replace(/"request_id":"[^"]*"/, "")),
    );
    expect([...responses.map(({ status }) => status), texts[0]]).toEqual([404, 404, texts[1]]);
    await put("MINE", { value: "the-others-value", bindings: BINDINGS }, other.key);
    expect([await valueFor("holders", "MINE"), await valueFor("others", "MINE")]).toEqual([
      CANARY,
      "the-others-value",
    ]);
  });

  it("takes precedence over the operator's secret of the same name, even with other origins; an operator's secret may be for one tenant (M11)", async () => {
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

  it("is stored encrypted, and cannot be decrypted for another tenant, name or binding", async () => {
    await put("SEALED");
    const rows = await env.DB.prepare("SELECT * FROM tenant_secrets").all();
    expect(JSON.stringify(rows.results)).not.toContain(CANARY);
    const insertMovedRow =
      "INSERT OR REPLACE INTO tenant_secrets SELECT ?, ?, sealed, ?, 1, 1 FROM tenant_secrets WHERE tenant = 'holders' AND name = 'SEALED'";
    const bindings = JSON.stringify(BINDINGS);
    const widerBindings = JSON.stringify([{ origin: "https://api.example.com" }]);
    const otherPlaces = [
      ["others", "SEALED", bindings],
      ["holders", "RENAMED", bindings],
      ["holders", "SEALED", widerBindings],
    ] as const;
    for (const [tenant, name, otherBindings] of otherPlaces) {
      await env.DB.prepare(insertMovedRow).bind(tenant, name, otherBindings).run();
      expect(await valueFor(tenant, name)).toBeUndefined();
    }
  });

  it("is encrypted again with the first sealing key if it was encrypted with an older key", async () => {
    const { SEALING_KEYS: oldKeys = "" } = env;
    await put("ROTATED");
    const newKey = `9:${Buffer.alloc(32, 9).toString("base64")}`;
    const findWith = (keys: string) =>
      new SecretStore({ DB: env.DB, SEALING_KEYS: keys }).find("holders", "ROTATED");
    expect(await findWith(`${newKey},${oldKeys}`)).toMatchObject({ ok: true, value: CANARY });
    expect(await findWith(newKey)).toMatchObject({ ok: true, value: CANARY });
    expect(await findWith(oldKeys)).toEqual({ ok: false, version: 9 });
  });

  it("is refused beyond a hundred secrets, also if two are set concurrently", async () => {
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
      problem: "the key lacks the scope admin",
      sendRequest: () => put("X", undefined, runner.key),
      code: [403, "insufficient_scope"],
    },
    {
      problem: "a list is requested without the scope admin",
      sendRequest: () => askWith(runner.key, "/api/secrets"),
      code: [403, "insufficient_scope"],
    },
    {
      problem: "configs cannot contain its name",
      sendRequest: () => put("a-b"),
      code: [400, "bad_id"],
    },
    {
      problem: "its name looks like a secret",
      sendRequest: () => put(`ghp_${"a".repeat(36)}`),
      code: [422, "request_invalid"],
    },
    {
      problem: "its value is too short to be hidden in texts",
      sendRequest: () => put("X", { value: "12345", bindings: BINDINGS }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its value is not allowed in headers",
      sendRequest: () => put("X", { value: "a\nb: c-d-e", bindings: BINDINGS }),
      code: [422, "request_invalid"],
    },
    {
      problem: "it has no binding",
      sendRequest: () => put("X", { value: CANARY, bindings: [] }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its origin is not a URL",
      sendRequest: () => put("X", { value: CANARY, bindings: [{ origin: "api" }] }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its origin is private",
      sendRequest: () => put("X", { value: CANARY, bindings: [{ origin: "https://10.0.0.1" }] }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its origin has a path",
      sendRequest: () => put("X", { value: CANARY, bindings: [{ origin: "https://a.net/v1" }] }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its path contains a parent path",
      sendRequest: () =>
        put("X", { value: CANARY, bindings: [{ origin: "https://a.net", paths: ["/a/../b"] }] }),
      code: [422, "request_invalid"],
    },
    {
      problem: "its method is unknown",
      sendRequest: () =>
        put("X", { value: CANARY, bindings: [{ origin: "https://a.net", methods: ["get"] }] }),
      code: [422, "request_invalid"],
    },
  ])("is refused, and not in the response, if $problem", async ({ sendRequest, code }) => {
    const response = await sendRequest();
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

describe("a config", () => {
  const configWith = (url: string, name: string, method = "GET") => ({
    agents: [
      {
        id: "a",
        backend: {
          type: "chatcompletion",
          model: "m",
          base_url: "http://127.0.0.1:9/v1",
          custom_tools: [
            {
              name: "look_up",
              description: "Looks up.",
              url,
              method,
              headers: { authorization: `Bearer \${${name}}` },
            },
          ],
        },
      },
    ],
  });
  const findingsIn = async (key: string, choice: { config: object } | { config_yaml: string }) => {
    const body = await (
      await askWith(key, "/api/configs/validate", { method: "POST", body: choice })
    ).json<{
      errors: { code: string }[];
    }>();
    return body.errors.map(({ code }) => code).filter((code) => code.startsWith("key_"));
  };
  const findingsFor = (key: string, ...use: Parameters<typeof configWith>) =>
    findingsIn(key, { config: configWith(...use) });

  it("may use a secret of its own tenant only for the bindings of the secret", async () => {
    await put("NAMED");
    expect(await findingsFor(admin.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([]);
    expect(await findingsFor(admin.key, "https://api.example.com/{version}/x", "NAMED")).toEqual(
      [],
    );
    expect(await findingsFor(admin.key, "https://api.example.com/v2/{id}", "NAMED")).toEqual([
      "key_bound_elsewhere",
    ]);
    expect(
      await findingsFor(admin.key, "https://api.example.com/v1/{id}", "NAMED", "DELETE"),
    ).toEqual(["key_bound_elsewhere"]);
    expect(await findingsFor(other.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([
      "key_unknown",
    ]);
    await remove("NAMED");
    expect(await findingsFor(admin.key, "https://api.example.com/v1/{id}", "NAMED")).toEqual([
      "key_unknown",
    ]);
  });

  it("may name a secret with an escape of YAML", async () => {
    await put("ESCAPED");
    const url = "https://api.example.com/v1/{id}";
    const config_yaml = JSON.stringify(configWith(url, "ESCAPED")).replace("$", "\\u0024");
    expect(config_yaml).not.toContain("$");
    expect(await findingsIn(admin.key, { config_yaml })).toEqual([]);
    expect(await findingsIn(other.key, { config_yaml })).toEqual(["key_unknown"]);
  });
});
