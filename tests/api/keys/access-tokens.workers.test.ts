import { sign } from "hono/jwt";
import { beforeAll, describe, expect, it } from "vitest";
import { env } from "cloudflare:workers";
import { ask, makeKey } from "../keyed-client";

/**
 * Tokens of an access proxy, valid or forged. The service trusts no such proxy, so none of them
 * authenticates a request.
 */
const UNKNOWN = "/api/sessions/session_unknown00";
const ELSEWHERE = "https://massgen.example.com";
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
const inAnHour = Math.floor(Date.now() / 1000) + 3_600;
const keyPair = newKeyPair();

async function newKeyPair(): Promise<CryptoKeyPair> {
  const made = await crypto.subtle.generateKey(RSA, true, ["sign", "verify"]);
  return "publicKey" in made ? made : expect.fail("no pair of keys");
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

const signed = async (claims: Record<string, unknown>) =>
  sign({ exp: inAnHour, ...CLAIMS, ...claims }, (await keyPair).privateKey, "RS256");
const withHeader = async (header: Record<string, unknown>) => {
  const [, payload, signature] = (await signed({})).split(".");
  return [base64url({ alg: "RS256", typ: "JWT", ...header }), payload, signature].join(".");
};

const TOKENS: readonly { row: string; name: string; token: () => Promise<string> }[] = [
  { row: "A11", name: "a token that was not signed for this service", token: () => signed({}) },
  { row: "A11", name: "a text that is no token", token: async () => "admin" },
  { row: "A11", name: "ten thousand characters", token: async () => "x".repeat(10_000) },
  {
    row: "A12",
    name: "alg none without a signature",
    token: async () =>
      `${base64url({ alg: "none", typ: "JWT" })}.${base64url({ ...CLAIMS, exp: inAnHour })}.`,
  },
  { row: "A12", name: "alg None with a signature", token: () => withHeader({ alg: "None" }) },
  {
    row: "A12",
    name: "HS256 with the public key as its secret",
    token: async () => sign({ exp: inAnHour, ...CLAIMS }, await publicPem(), "HS256"),
  },
  { row: "A12", name: "the wrong audience", token: () => signed({ aud: ["another-service"] }) },
  { row: "A12", name: "a time that is over", token: () => signed({ exp: 1 }) },
  { row: "A12", name: "an unknown kid", token: () => withHeader({ kid: "unknown" }) },
  {
    row: "A12",
    name: "a kid and a key of its own",
    token: () => withHeader({ kid: "../../etc/passwd", jku: "https://evil.example/keys" }),
  },
];

/** All headers in which such a proxy names the user. */
const carrying = (token: string): Record<string, string> => ({
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

  it.each(TOKENS)("$row with $name opens nothing", async ({ token }) => {
    const before = await countSessions();
    const headers = { ...carrying(await token()), "content-type": "application/json" };
    const asked = [
      await ask(ELSEWHERE + UNKNOWN, { headers }),
      await ask(`${ELSEWHERE}/api/keys`, { headers }),
      await ask(`${ELSEWHERE}/api/runs`, { method: "POST", headers, body: '{"question":"x"}' }),
    ];
    for (const response of asked) {
      expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
      expect(await response.json()).toMatchObject({ code: "unauthorized" });
    }
    expect(await countSessions()).toEqual(before);
  });

  it.each(TOKENS)("$row with $name does not change what a key may do", async ({ token }) => {
    const headers = { ...carrying(await token()), authorization: `Bearer ${reader.key}` };
    const look = await ask(ELSEWHERE + UNKNOWN, { headers });
    const change = await ask(`${ELSEWHERE}/api/keys`, { headers });
    expect([look.status, change.status]).toEqual([404, 403]);
  });
});
