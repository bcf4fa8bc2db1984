import { createCipheriv, createDecipheriv } from "node:crypto";

/**
 * Encryption of callers' keys at rest: AES-256-GCM under the operator's secret `SEALING_KEYS`,
 * `2:<base64>,1:<base64>`. The first version seals, all can open. A sealed key opens only for its
 * tenant, session, agent and origin, so a moved or changed row is useless. Pure: randomness is an
 * argument.
 */
const ALGORITHM = "aes-256-gcm";
export const NONCE_BYTES = 12;
export const SEALING_KEY_BYTES = 32;
const TAG_BYTES = 16;

const ENTRY = /^([1-9]\d{0,8}):([A-Za-z0-9+/_-]{43}=?)$/;
const SEALED = /^([1-9]\d{0,8}):([A-Za-z0-9_-]+)$/;

type SealingKey = { version: number; key: Buffer };
/** In the order of the secret. */
export type SealingKeys = { first: SealingKey; all: readonly SealingKey[] };

/** The owner of a key, and the only origin it is sent to. */
export type Binding = { tenant: string; session: string; agent: string; origin: string };

export type OpenedSecret =
  | { ok: true; secret: string }
  | { ok: false; why: "unknown_version" | "not_opened"; version: number };

/** An entry of the secret. Throws unless `random` has 256 bits. */
export function toSealingKey(version: number, random: Uint8Array): string {
  if (random.byteLength !== SEALING_KEY_BYTES) throw new Error("a sealing key has 256 bits");
  return `${version}:${Buffer.from(random).toString("base64")}`;
}

/**
 * Parses the operator's secret. `problem`, a clause without any of its content, explains why no key
 * can be sealed.
 */
export function parseSealingKeys(
  text: string | undefined,
): { ok: true; keys: SealingKeys } | { ok: false; problem: string } {
  if (text === undefined || text.trim() === "")
    return { ok: false, problem: "SEALING_KEYS is not set" };
  const all: SealingKey[] = [];
  for (const [nth, entry] of text.split(",").entries()) {
    const parsed = parseEntry(entry.trim());
    if (!parsed)
      return {
        ok: false,
        problem: `entry ${nth + 1} of SEALING_KEYS is not a version with 32 bytes in base64`,
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
  const [, version, encoded] = ENTRY.exec(entry) ?? [];
  if (version === undefined || encoded === undefined) return null;
  const key = Buffer.from(encoded, "base64");
  return key.byteLength === SEALING_KEY_BYTES ? { version: Number(version), key } : null;
}

/** The sealed secret. `nonce`: 96 random bits, never reused. Throws for another length. */
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

/**
 * The opened secret. `why` not: its version is not among the keys, or it was sealed with another
 * key or binding.
 */
export function open({ all }: SealingKeys, sealed: string, binding: Binding): OpenedSecret {
  const version = versionOf(sealed);
  const known = all.find((one) => one.version === version);
  if (!known) return { ok: false, why: "unknown_version", version };
  const bytes = Buffer.from(SEALED.exec(sealed)?.[2] ?? "", "base64url");
  const end = bytes.byteLength - TAG_BYTES;
  if (end < NONCE_BYTES) return { ok: false, why: "not_opened", version };
  try {
    const decipher = createDecipheriv(ALGORITHM, known.key, bytes.subarray(0, NONCE_BYTES), {
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

/** The version of a sealed key; 0 if the text is not one. */
export const versionOf = (sealed: string): number => Number(SEALED.exec(sealed)?.[1] ?? 0);

/** As JSON, so that different bindings never give the same text. */
const toAad = (version: number, { tenant, session, agent, origin }: Binding): Buffer =>
  Buffer.from(JSON.stringify(["massgen-edge caller key", version, tenant, session, agent, origin]));
