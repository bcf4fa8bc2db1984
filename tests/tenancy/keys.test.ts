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
const made = toKey(ID, new Uint8Array(32).fill(7));
const row = (more: Partial<KeyRow> = {}): KeyRow => ({
  id: ID,
  tenant: "acme",
  name: "laptop",
  secret_hash: hashSecret(made.secret),
  scopes: "run",
  created_at: NOW - 1,
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
  ...more,
});

describe("a key", () => {
  it("is made of a prefix, its id and 256 bits, and is parsed to the same parts", () => {
    expect(made.key).toMatch(/^mge_01jd0000000000000000000abc_[\w-]{43}$/);
    expect(parseKey(made.key)).toEqual({ id: ID, secret: made.secret });
  });

  it.each([
    ["nothing", ""],
    ["another prefix", made.key.replace("mge", "sk")],
    ["a secret that is cut", made.key.slice(0, -1)],
    ["a secret with something behind it", `${made.key}x`],
    ["an id in capitals", made.key.replace(ID, ID.toUpperCase())],
    ["SQL", "sk_' OR 1=1--"],
    ["SQL in the place of the id", made.key.replace(ID, "' OR 1=1 OR '000000000000'")],
    ["ten thousand characters", `mge_${"a".repeat(10_000)}`],
    ["a line break behind it", `${made.key}\n`],
  ])("is not %s", (_, text) => {
    expect(parseKey(text)).toBeNull();
  });

  it.each([
    { name: "too few bits", make: () => toKey(ID, new Uint8Array(31)) },
    { name: "an id of another form", make: () => toKey("ID", new Uint8Array(32)) },
  ])("is not made of $name", ({ make }) => {
    expect(make).toThrow("256 bits");
  });
});

describe("a check of a key", () => {
  it.each([
    {
      name: "with its own secret returns its tenant and scopes",
      row: row(),
      secret: made.secret,
      scopes: ["read", "run"],
    },
    {
      name: "for reading returns only that scope",
      row: row({ scopes: "read" }),
      secret: made.secret,
      scopes: ["read"],
    },
    {
      name: "with all scopes returns them",
      row: row({ scopes: "admin" }),
      secret: made.secret,
      scopes: ["read", "run", "admin"],
    },
    {
      name: "with an unknown scope returns none",
      row: row({ scopes: "root" }),
      secret: made.secret,
      scopes: [],
    },
    {
      name: "that expires later returns its scopes",
      row: row({ expires_at: NOW + 1 }),
      secret: made.secret,
      scopes: ["read", "run"],
    },
    {
      name: "that expires now returns none",
      row: row({ expires_at: NOW }),
      secret: made.secret,
      scopes: null,
    },
    {
      name: "that was revoked returns none",
      row: row({ revoked_at: NOW - 1 }),
      secret: made.secret,
      scopes: null,
    },
    {
      name: "with another secret returns none",
      row: row(),
      secret: made.secret.replace(/.$/, "!"),
      scopes: null,
    },
    { name: "without a secret returns none", row: row(), secret: "", scopes: null },
    {
      name: "with a row without a hash returns none",
      row: row({ secret_hash: "" }),
      secret: made.secret,
      scopes: null,
    },
    { name: "without a row returns none", row: null, secret: made.secret, scopes: null },
    {
      name: "without a row, with the placeholder secret, returns none",
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
    { name: "the first", last: null, noted: true },
    { name: "a second within the minute", last: NOW - 59_999, noted: false },
    { name: "a second a minute later", last: NOW - 60_000, noted: true },
  ])("records $name use: $noted", ({ last, noted }) => {
    expect(shouldRecordUse(row({ last_used_at: last }), NOW)).toBe(noted);
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
])("of `%s` the key is %s", (header, key) => {
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
])("%s lasts %s ms", (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
});
