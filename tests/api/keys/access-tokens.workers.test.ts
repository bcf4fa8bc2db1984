import { sign } from "hono/jwt";
import { beforeAll, describe, expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { ask, makeKey } from "../keyed-client";

// Valid and forged tokens of an access proxy. The service trusts no such proxy, so no token
// authenticates a request.

const UNKNOWN = "/api/sessions/session_unknown00";
const PUBLIC_ORIGIN = "https://massgen.example.com";
const RSA = {
  name: "RSASSA-PKCS1-v1_5",
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: "SHA-256",
};
const TEAM = "https://acme.cloudflareaccess.com";
const CLAIMS = {
  iss: TEAM,
  aud: ["the-service"],
  email: "admin@example.com",
  sub: "admin",
  tenant: "acme",
  scopes: "admin",
};

const base64url = (value: unknown) => btoa(JSON.stringify(value)).replace(/=+$/, "");
const expiry = Math.floor(Date.now() / 1000) + 3_600;
const keyPair = newKeyPair();

async function newKeyPair(): Promise<CryptoKeyPair> {
  const pair = await crypto.subtle.generateKey(RSA, true, ["sign", "verify"]);
  return "publicKey" in pair ? pair : expect.fail("no pair of keys");
}

async function publicPem(): Promise<string> {
  const { publicKey } = await keyPair;
  const exported = await crypto.subtle.exportKey("spki", publicKey);
  const text =
    exported instanceof ArrayBuffer
      ? Buffer.from(exported).toString("base64")
      : expect.fail("no bytes");
  return `-----BEGIN PUBLIC KEY-----\n${text}\n-----END PUBLIC KEY-----`;
}

const signToken = async (claims: Record<string, unknown>) =>
  sign({ exp: expiry, ...CLAIMS, ...claims }, (await keyPair).privateKey, "RS256");
const tokenWithHeader = async (header: Record<string, unknown>) => {
  const [, payload, signature] = (await signToken({})).split(".");
  return [base64url({ alg: "RS256", typ: "JWT", ...header }), payload, signature].join(".");
};

const TOKENS: readonly { row: string; name: string; token: () => Promise<string> }[] = [
  { row: "A11", name: "a token that was not signed for this service", token: () => signToken({}) },
  { row: "A11", name: "a text that is not a token", token: async () => "admin" },
  { row: "A11", name: "ten thousand characters", token: async () => "x".repeat(10_000) },
  {
    row: "A12",
    name: "the algorithm none and no signature",
    token: async () =>
      `${base64url({ alg: "none", typ: "JWT" })}.${base64url({ ...CLAIMS, exp: expiry })}.`,
  },
  {
    row: "A12",
    name: "the algorithm None and a signature",
    token: () => tokenWithHeader({ alg: "None" }),
  },
  {
    row: "A12",
    name: "the algorithm HS256 and the public key as its secret",
    token: async () => sign({ exp: expiry, ...CLAIMS }, await publicPem(), "HS256"),
  },
  { row: "A12", name: "the wrong audience", token: () => signToken({ aud: ["another-service"] }) },
  { row: "A12", name: "an expiry in the past", token: () => signToken({ exp: 1 }) },
  { row: "A12", name: "an unknown key id (kid)", token: () => tokenWithHeader({ kid: "unknown" }) },
  {
    row: "A12",
    name: "a key id (kid) that is a path, and a URL of the attacker's keys",
    token: () => tokenWithHeader({ kid: "../../etc/passwd", jku: "https://evil.example/keys" }),
  },
];

/** All headers by which such a proxy identifies the user. */
const proxyHeaders = (token: string): Record<string, string> => ({
  "cf-access-jwt-assertion": token,
  "cf-access-authenticated-user-email": "admin@example.com",
  cookie: `CF_Authorization=${token}`,
});
const countSessions = () => env.DB.prepare("SELECT count(*) AS sessions FROM sessions").first();

describe("a token of an access proxy", () => {
  let reader: { key: string };
  beforeAll(async () => {
    reader = await makeKey("tokens", { scopes: "read" });
  });

  it.each(TOKENS)("$row gives no access: $name", async ({ token }) => {
    const before = await countSessions();
    const headers = { ...proxyHeaders(await token()), "content-type": "application/json" };
    const responses = [
      await ask(PUBLIC_ORIGIN + UNKNOWN, { headers }),
      await ask(`${PUBLIC_ORIGIN}/api/keys`, { headers }),
      await ask(`${PUBLIC_ORIGIN}/api/runs`, { method: "POST", headers, body: '{"question":"x"}' }),
    ];
    for (const response of responses) {
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await response.json()).toMatchObject({ code: "unauthorized" });
    }
    expect(await countSessions()).toEqual(before);
  });

  it.each(TOKENS)("$row does not change the scopes of a key: $name", async ({ token }) => {
    const headers = { ...proxyHeaders(await token()), authorization: `Bearer ${reader.key}` };
    const readResponse = await ask(PUBLIC_ORIGIN + UNKNOWN, { headers });
    const listResponse = await ask(`${PUBLIC_ORIGIN}/api/keys`, { headers });
    expect([readResponse.status, listResponse.status]).toEqual([404, 403]);
  });
});
