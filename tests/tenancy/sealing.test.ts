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
const HERE: Binding = {
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

const [OLD, BOTH, NEW] = [keysOf(entryOf(1)), keysOf(entryOf(2), entryOf(1)), keysOf(entryOf(2))];
const sealed = seal(OLD, SECRET, HERE, nonce(7));

describe("a sealed key", () => {
  it("opens with its own binding, and contains none of the secret", () => {
    expect(open(OLD, sealed, HERE)).toEqual({ ok: true, secret: SECRET });
    const bytes = Buffer.from(sealed.split(":")[1] ?? "", "base64url").toString("latin1");
    expect([sealed.includes(SECRET), bytes.includes("sk-caller")]).toEqual([false, false]);
  });

  it("is a different text each time", () =>
    expect(seal(OLD, SECRET, HERE, nonce(8))).not.toBe(sealed));

  it("is sealed with the first version, and opened with the version that sealed it", () => {
    expect(versionOf(seal(BOTH, SECRET, HERE, nonce(7)))).toBe(2);
    expect(versionOf(sealed)).toBe(1);
    expect(open(BOTH, sealed, HERE)).toEqual({ ok: true, secret: SECRET });
  });

  it("does not open once its version is removed", () => {
    expect(open(NEW, sealed, HERE)).toEqual({ ok: false, why: "unknown_version", version: 1 });
  });

  it("does not open with another key of the same version", () => {
    const other = keysOf(toSealingKey(1, new Uint8Array(32).fill(9)));
    expect(open(other, sealed, HERE)).toEqual({ ok: false, why: "not_opened", version: 1 });
  });

  it.each([
    { name: "another tenant", binding: { ...HERE, tenant: "other" } },
    { name: "another session", binding: { ...HERE, session: "session_two" } },
    { name: "another agent", binding: { ...HERE, agent: "b" } },
    { name: "another origin", binding: { ...HERE, origin: "https://evil.example.org" } },
    {
      name: "names with the same concatenation",
      binding: { ...HERE, tenant: "acmes", session: "ession_one" },
    },
  ])("does not open for $name", ({ binding }) => {
    expect(open(OLD, sealed, binding)).toEqual({ ok: false, why: "not_opened", version: 1 });
  });

  it.each([
    {
      name: "declared with another version",
      text: sealed.replace("1:", "2:"),
      keys: BOTH,
      why: "not_opened",
    },
    {
      name: "with one letter changed",
      text: sealed.replace(/.$/, (last) => (last === "A" ? "Q" : "A")),
      keys: OLD,
      why: "not_opened",
    },
    { name: "that was cut", text: sealed.slice(0, 30), keys: OLD, why: "not_opened" },
    { name: "without contents after its version", text: "1:", keys: OLD, why: "unknown_version" },
    { name: "that is not sealed", text: SECRET, keys: OLD, why: "unknown_version" },
  ])("does not open $name", ({ text, keys, why }) => {
    expect(open(keys, text, HERE)).toMatchObject({ ok: false, why });
  });

  it("is not made with a nonce of another length", () => {
    expect(() => seal(OLD, SECRET, HERE, new Uint8Array(11))).toThrow("96 bits");
  });
});

describe("SEALING_KEYS", () => {
  it("is read with spaces, in base64 of either alphabet, with and without padding", () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const text = ` 3:${bytes.toString("base64url")} , 1:${bytes.toString("base64")} `;
    expect(keysOf(text).all.map(({ version, key }) => [version, key.equals(bytes)])).toEqual([
      [3, true],
      [1, true],
    ]);
  });

  const key = entryOf(1).slice(2);
  it.each([
    { name: "nothing", text: undefined, problem: "SEALING_KEYS is not set" },
    { name: "spaces", text: "  ", problem: "SEALING_KEYS is not set" },
    { name: "a key without a version", text: key, problem: "entry 1" },
    { name: "version 0", text: `0:${key}`, problem: "entry 1" },
    {
      name: "a key of 31 bytes",
      text: `1:${Buffer.alloc(31).toString("base64")}`,
      problem: "entry 1",
    },
    {
      name: "a key of 33 bytes",
      text: `1:${Buffer.alloc(33).toString("base64")}`,
      problem: "entry 1",
    },
    { name: "a comma at the end", text: `1:${key},`, problem: "entry 2" },
    { name: "one version twice", text: `1:${key},1:${key}`, problem: "version 1 twice" },
  ])("of $name is refused without being repeated", ({ text, problem }) => {
    const parsed = parseSealingKeys(text);
    expect(parsed).toEqual({ ok: false, problem: expect.stringContaining(problem) });
    expect(JSON.stringify(parsed)).not.toContain(key.slice(0, 8));
  });

  it("has entries of 256 bits", () =>
    expect(() => toSealingKey(1, new Uint8Array(16))).toThrow("256 bits"));
});
