import { describe, expect, it } from "vitest";
import {
  type Binding,
  open,
  parseSealingKeys,
  seal,
  type SealingKeys,
  toSealingKey,
  versionOf,
} from "../../src/tenancy/sealing";
import { entryOf } from "../builders/sealing-keys";

const SECRET = "sk-caller-0123456789-ünï";
const BINDING: Binding = {
  tenant: "acme",
  session: "session_one",
  agent: "a",
  origin: "https://api.example.org",
};
const nonce = (fill: number) => new Uint8Array(12).fill(fill);

function keysOf(...entries: string[]): SealingKeys {
  const parsed = parseSealingKeys(entries.join(","));
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.keys;
}

const [OLD_KEYS, BOTH_KEYS, NEW_KEYS] = [
  keysOf(entryOf(1)),
  keysOf(entryOf(2), entryOf(1)),
  keysOf(entryOf(2)),
];
const sealedSecret = seal(OLD_KEYS, SECRET, BINDING, nonce(7));

describe("a sealed secret", () => {
  it("can be opened with its own binding, and does not contain the secret as text", () => {
    expect(open(OLD_KEYS, sealedSecret, BINDING)).toEqual({ ok: true, secret: SECRET });
    const bytes = Buffer.from(sealedSecret.split(":")[1] ?? "", "base64url").toString("latin1");
    expect([sealedSecret.includes(SECRET), bytes.includes("sk-caller")]).toEqual([false, false]);
  });

  it("is a different text each time", () =>
    expect(seal(OLD_KEYS, SECRET, BINDING, nonce(8))).not.toBe(sealedSecret));

  it("is sealed with the first key, and opened with the key that sealed it", () => {
    expect(versionOf(seal(BOTH_KEYS, SECRET, BINDING, nonce(7)))).toBe(2);
    expect(versionOf(sealedSecret)).toBe(1);
    expect(open(BOTH_KEYS, sealedSecret, BINDING)).toEqual({ ok: true, secret: SECRET });
  });

  it("cannot be opened after its key was removed", () => {
    expect(open(NEW_KEYS, sealedSecret, BINDING)).toEqual({
      ok: false,
      why: "unknown_version",
      version: 1,
    });
  });

  it("cannot be opened with another key of the same version", () => {
    const other = keysOf(toSealingKey(1, new Uint8Array(32).fill(9)));
    expect(open(other, sealedSecret, BINDING)).toEqual({
      ok: false,
      why: "not_opened",
      version: 1,
    });
  });

  it.each([
    { name: "another tenant", binding: { ...BINDING, tenant: "other" } },
    { name: "another session", binding: { ...BINDING, session: "session_two" } },
    { name: "another agent", binding: { ...BINDING, agent: "b" } },
    { name: "another origin", binding: { ...BINDING, origin: "https://evil.example.org" } },
    {
      name: "a tenant and a session whose concatenation is the same",
      binding: { ...BINDING, tenant: "acmes", session: "ession_one" },
    },
  ])("cannot be opened for $name", ({ binding }) => {
    expect(open(OLD_KEYS, sealedSecret, binding)).toEqual({
      ok: false,
      why: "not_opened",
      version: 1,
    });
  });

  it.each([
    {
      name: "if its version was changed",
      text: sealedSecret.replace("1:", "2:"),
      keys: BOTH_KEYS,
      why: "not_opened",
    },
    {
      name: "if one letter was changed",
      text: sealedSecret.replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
      keys: OLD_KEYS,
      why: "not_opened",
    },
    {
      name: "if it is cut off",
      text: sealedSecret.slice(0, 30),
      keys: OLD_KEYS,
      why: "not_opened",
    },
    { name: "if it has only a version", text: "1:", keys: OLD_KEYS, why: "unknown_version" },
    {
      name: "if it is a text that is not sealed",
      text: SECRET,
      keys: OLD_KEYS,
      why: "unknown_version",
    },
  ])("cannot be opened $name", ({ text, keys, why }) => {
    expect(open(keys, text, BINDING)).toMatchObject({ ok: false, why });
  });

  it("cannot be created with a nonce of another length", () => {
    expect(() => seal(OLD_KEYS, SECRET, BINDING, new Uint8Array(11))).toThrow("96 bits");
  });
});

describe("SEALING_KEYS", () => {
  it("may have spaces, both alphabets of base64, and missing padding", () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const text = ` 3:${bytes.toString("base64url")} , 1:${bytes.toString("base64")} `;
    expect(keysOf(text).all.map(({ version, key }) => [version, key.equals(bytes)])).toEqual([
      [3, true],
      [1, true],
    ]);
  });

  const key = entryOf(1).slice(2);
  it.each([
    { name: "if it is not set", text: undefined, problem: "SEALING_KEYS is not set" },
    { name: "if it has only spaces", text: "  ", problem: "SEALING_KEYS is not set" },
    { name: "with a key without a version", text: key, problem: "entry 1" },
    { name: "with version 0", text: `0:${key}`, problem: "entry 1" },
    {
      name: "with a key of 31 bytes",
      text: `1:${Buffer.alloc(31).toString("base64")}`,
      problem: "entry 1",
    },
    {
      name: "with a key of 33 bytes",
      text: `1:${Buffer.alloc(33).toString("base64")}`,
      problem: "entry 1",
    },
    { name: "with a comma at the end", text: `1:${key},`, problem: "entry 2" },
    { name: "with the same version twice", text: `1:${key},1:${key}`, problem: "version 1 twice" },
  ])("is refused $name, and the problem does not contain the key", ({ text, problem }) => {
    const parsed = parseSealingKeys(text);
    expect(parsed).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(parsed)).not.toContain(key.slice(0, 8));
  });

  it("has entries of 256 bits", () =>
    expect(() => toSealingKey(1, new Uint8Array(16))).toThrow("256 bits"));
});
