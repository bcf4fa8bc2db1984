import { describe, expect, it } from "vitest";
import {
  bearerOf,
  hashSecret,
  shouldRecordUse,
  verifyKey,
  type KeyRow,
  parseDuration,
  parseKey,
  toKey,
} from "../../src/tenancy/keys";

const NOW = 1_800_000_000_000;
const ID = "01jd0000000000000000000abc";
const newKey = toKey(ID, new Uint8Array(32).fill(7));
const row = (more: Partial<KeyRow> = {}): KeyRow => ({
  id: ID,
  tenant: "acme",
  name: "laptop",
  secret_hash: hashSecret(newKey.secret),
  scopes: "run",
  created_at: NOW - 1,
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  ...more,
});

describe("a key", () => {
  it("consists of a prefix, its id and 256 bits, and is parsed to these parts", () => {
    expect(newKey.key).toMatch(/^mge_01jd0000000000000000000abc_[\w-]{43}$/);
    expect(parseKey(newKey.key)).toEqual({ id: ID, secret: newKey.secret });
  });

  it.each([
    ["an empty text", ""],
    ["a text with another prefix", newKey.key.replace("mge", "sk")],
    ["a text with a shorter secret", newKey.key.slice(0, -1)],
    ["a text with a longer secret", `${newKey.key}x`],
    ["a text with an id in upper case", newKey.key.replace(ID, ID.toUpperCase())],
    ["SQL", "sk_' OR 1=1--"],
    ["a text with SQL in place of the id", newKey.key.replace(ID, "' OR 1=1 OR '000000000000'")],
    ["a text of ten thousand characters", `mge_${"a".repeat(10_000)}`],
    ["a key with a line break at its end", `${newKey.key}\n`],
  ])("is not %s", (_, text) => {
    expect(parseKey(text)).toBeNull();
  });

  it.each([
    { name: "from too few bits", make: () => toKey(ID, new Uint8Array(31)) },
    { name: "with an invalid id", make: () => toKey("ID", new Uint8Array(32)) },
  ])("cannot be created $name", ({ make }) => {
    expect(make).toThrow("256 bits");
  });
});

describe("the check of a key", () => {
  it.each([
    {
      name: "with the correct secret returns its tenant and scopes",
      row: row(),
      secret: newKey.secret,
      scopes: ["read", "run"],
    },
    {
      name: "with the scope read returns only this scope",
      row: row({ scopes: "read" }),
      secret: newKey.secret,
      scopes: ["read"],
    },
    {
      name: "with the scope admin returns all scopes",
      row: row({ scopes: "admin" }),
      secret: newKey.secret,
      scopes: ["read", "run", "admin"],
    },
    {
      name: "with an unknown scope returns no scopes",
      row: row({ scopes: "root" }),
      secret: newKey.secret,
      scopes: [],
    },
    {
      name: "that expires later returns its scopes",
      row: row({ expires_at: NOW + 1 }),
      secret: newKey.secret,
      scopes: ["read", "run"],
    },
    {
      name: "that expires now fails",
      row: row({ expires_at: NOW }),
      secret: newKey.secret,
      scopes: null,
    },
    {
      name: "that was revoked fails",
      row: row({ revoked_at: NOW - 1 }),
      secret: newKey.secret,
      scopes: null,
    },
    {
      name: "with another secret fails",
      row: row(),
      secret: newKey.secret.replace(/.$/, "!"),
      scopes: null,
    },
    { name: "without a secret fails", row: row(), secret: "", scopes: null },
    {
      name: "whose row has no hash fails",
      row: row({ secret_hash: "" }),
      secret: newKey.secret,
      scopes: null,
    },
    { name: "without a row fails", row: null, secret: newKey.secret, scopes: null },
    {
      name: "without a row fails, even with the secret of the placeholder hash",
      row: null,
      secret: "nobody",
      scopes: null,
    },
  ])("$name", ({ row, secret, scopes }) => {
    const principal = verifyKey(row, secret, NOW);
    expect(principal && [...principal.scopes]).toEqual(scopes);
    if (principal) expect(principal).toMatchObject({ tenant: "acme", keyId: ID });
  });

  it.each([
    { name: "the first use: true", last: null, isRecorded: true },
    { name: "a use less than a minute later: false", last: NOW - 59_999, isRecorded: false },
    { name: "a use a minute later: true", last: NOW - 60_000, isRecorded: true },
  ])("whether it must record $name", ({ last, isRecorded }) => {
    expect(shouldRecordUse(row({ last_used_at: last }), NOW)).toBe(isRecorded);
  });
});

it.each([
  ["Bearer abc", "abc"],
  ["bearer abc", "abc"],
  ["BEARER   abc ", "abc"],
  ["Basic abc", null],
  ["abc", null],
  ["Bearer", null],
  ["Bearer a b", null],
  ["Bearerabc", null],
  ["", null],
])("the header `%s` contains the key %s", (header, key) => {
  expect(bearerOf(header)).toBe(key);
});

it.each([
  ["90d", 90 * 86_400_000],
  ["12h", 12 * 3_600_000],
  ["0d", null],
  ["-1d", null],
  ["1e3d", null],
  ["90", null],
  ["d", null],
])("the duration %s is %s ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
