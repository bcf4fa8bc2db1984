import { createCipheriv, createDecipheriv } from "node:crypto";

/**
 * Encryption of secrets in the storage, such as provider keys of callers. The cipher is AES-256-GCM
 * with the operator's `SEALING_KEYS`: `2:<base64>,1:<base64>`. The first version encrypts (seals);
 * every version can decrypt (open). A sealed secret can be opened only for its tenant, session,
 * agent and origin, so a row that was moved or changed is useless. All functions are pure:
 * randomness is an argument.
 */
const ALGORITHM = "aes-256-gcm";
export const NONCE_BYTES = 12;
export const SEALING_KEY_BYTES = 32;
const TAG_BYTES = 16;

const ENTRY_PATTERN = /^([1-9]\d{0,8}):([A-Za-z0-9+/_-]{43}=?)$/;
const SEALED_PATTERN = /^([1-9]\d{0,8}):([A-Za-z0-9_-]+)$/;

type SealingKey = { version: number; key: Buffer };
/** All keys, in the order of `SEALING_KEYS`. */
export type SealingKeys = { first: SealingKey; all: readonly SealingKey[] };

/** The owner of a secret, and the only origin to which the secret is sent. */
export type Binding = { tenant: string; session: string; agent: string; origin: string };

/**
 * Result of `open`. `unknown_version`: `SEALING_KEYS` has no such version. `not_opened`: the secret
 * was sealed with another key or binding.
 */
export type OpenedSecret =
  | { ok: true; secret: string }
  | { ok: false; why: "unknown_version" | "not_opened"; version: number };

/** Makes an entry of `SEALING_KEYS`. Throws unless `random` has 256 bits. */
export function toSealingKey(version: number, random: Uint8Array): string {
  if (random.byteLength !== SEALING_KEY_BYTES) throw new Error("a sealing key has 256 bits");
  return `${version}:${Buffer.from(random).toString("base64")}`;
}

/**
 * Parses `SEALING_KEYS`. `problem` is a clause that explains why secrets cannot be sealed. It
 * contains no part of the keys.
 */
export function parseSealingKeys(
  text: string | undefined,
): { ok: true; keys: SealingKeys } | { ok: false; problem: string } {
  if (text === undefined || text.trim() === "")
    return { ok: false, problem: "SEALING_KEYS is not set" };
  const all: SealingKey[] = [];
  for (const [index, entry] of text.split(",").entries()) {
    const parsed = parseEntry(entry.trim());
    if (!parsed)
      return {
        ok: false,
        problem: `entry ${index + 1} of SEALING_KEYS is not a version with 32 bytes in base64`,
      };
    if (all.some(({ version }) => version === parsed.version)) {
      return { ok: false, problem: `SEALING_KEYS has version ${parsed.version} twice` };
    }
    all.push(parsed);
  }
  const [first] = all;
  return first
    ? { ok: true, keys: { first, all } }
    : { ok: false, problem: "SEALING_KEYS is not set" };
}

function parseEntry(entry: string): SealingKey | null {
  const [, version, encoded] = ENTRY_PATTERN.exec(entry) ?? [];
  if (version === undefined || encoded === undefined) return null;
  const key = Buffer.from(encoded, "base64");
  return key.byteLength === SEALING_KEY_BYTES ? { version: Number(version), key } : null;
}

/** Encrypts a secret. `nonce`: 96 random bits that are used only once. */
export function seal(
  { first }: SealingKeys,
  secret: string,
  binding: Binding,
  nonce: Uint8Array,
): string {
  if (nonce.byteLength !== NONCE_BYTES) throw new Error("a sealed key has a nonce of 96 bits");
  const cipher = createCipheriv(ALGORITHM, first.key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(toAad(first.version, binding));
  const parts = [nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()];
  return `${first.version}:${Buffer.concat(parts).toString("base64url")}`;
}

/** Decrypts a sealed secret. */
export function open({ all }: SealingKeys, sealed: string, binding: Binding): OpenedSecret {
  const version = versionOf(sealed);
  const sealingKey = all.find((key) => key.version === version);
  if (!sealingKey) return { ok: false, why: "unknown_version", version };
  const bytes = Buffer.from(SEALED_PATTERN.exec(sealed)?.[2] ?? "", "base64url");
  const end = bytes.byteLength - TAG_BYTES;
  if (end < NONCE_BYTES) return { ok: false, why: "not_opened", version };
  try {
    const decipher = createDecipheriv(ALGORITHM, sealingKey.key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(toAad(version, binding)).setAuthTag(bytes.subarray(end));
    const secret = Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES, end)),
      decipher.final(),
    ]);
    return { ok: true, secret: secret.toString("utf8") };
  } catch {
    return { ok: false, why: "not_opened", version };
  }
}

/** The version of the key that sealed a secret; 0 if the text is not a sealed secret. */
export const versionOf = (sealed: string): number => Number(SEALED_PATTERN.exec(sealed)?.[1] ?? 0);

/**
 * The authenticated data of a sealed secret. The text is JSON, so that different bindings never
 * give the same text.
 */
const toAad = (version: number, { tenant, session, agent, origin }: Binding): Buffer =>
  Buffer.from(JSON.stringify(["massgen-edge caller key", version, tenant, session, agent, origin]));
