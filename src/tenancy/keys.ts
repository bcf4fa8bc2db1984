import { createHash, timingSafeEqual } from "node:crypto";
import { isScope, type Principal, withIncluded } from "./principal";

/**
 * The service's own keys: `mge_<id>_<secret>`. The id is public and finds the row. The secret is
 * 256 random bits, of which only the SHA-256 is stored: a fast hash suffices for a secret that
 * cannot be guessed. Pure: randomness and time are arguments.
 */
const PREFIX = "mge";
const ID = /^[0-9a-z]{26}$/;
const KEY = /^mge_([0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;
export const SECRET_BYTES = 32;

/** Whether a text is a key id, as in addresses. */
export const isKeyId = (text: string): boolean => ID.test(text);

type ParsedKey = { id: string; secret: string };

/**
 * A key as its owner receives it, once. `id`: 26 lower-case letters and digits that sort by time.
 */
export function toKey(id: string, random: Uint8Array): ParsedKey & { key: string } {
  if (!ID.test(id) || random.byteLength !== SECRET_BYTES)
    throw new Error("a key has an id of 26 characters and 256 bits");
  const secret = Buffer.from(random).toString("base64url");
  return { id, secret, key: `${PREFIX}_${id}_${secret}` };
}

/** The parts of a key; `null` if the text is not a key. */
export function parseKey(text: string): ParsedKey | null {
  const [, id, secret] = KEY.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}

/** The stored SHA-256 of a secret, in hex. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** A key's database row. Times in Unix ms. */
export type KeyRow = {
  id: string;
  tenant: string;
  name: string;
  secret_hash: string;
  /** Separated by commas. */
  scopes: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
};

/** Whether the key is valid at this time. */
export const isLive = (
  { expires_at, revoked_at }: Pick<KeyRow, "expires_at" | "revoked_at">,
  now: number,
): boolean => revoked_at === null && (expires_at === null || expires_at > now);

/** Valid keys of a tenant. */
export const MOST_LIVE_KEYS = 50;
/** Revoked and expired keys per tenant that stay listed, the newest first. */
export const MOST_DEAD_KEYS = 500;

/**
 * Expiry of a new key in Unix ms; `null` for never. `requested`: the expiry in the request; `null`
 * if omitted. A key never outlives the key that creates it (`minterEnds`), which is also the
 * default. Returns `too_late` if the request is later.
 */
export function endOfNewKey(
  requested: number | null,
  minterEnds: number | null,
): number | null | "too_late" {
  if (minterEnds === null) return requested;
  if (requested !== null && requested > minterEnds) return "too_late";
  return requested ?? minterEnds;
}

/** Compared if the id has no key, so that both cases take the same time. */
const DUMMY_HASH = hashSecret("nobody");

/**
 * The principal of a presented secret; `null` if there is no row, the key is not valid, or the
 * secret is wrong.
 */
export function judgeKey(row: KeyRow | null, secret: string, now: number): Principal | null {
  const isSecret = timingSafeEqual(
    digest(row?.secret_hash ?? DUMMY_HASH),
    digest(hashSecret(secret)),
  );
  if (!row || !isSecret || !isLive(row, now)) return null;
  return toPrincipal(row);
}

/** Hashes again: two buffers of equal length for any row. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const toPrincipal = ({
  tenant,
  id,
  scopes,
}: Pick<KeyRow, "tenant" | "id" | "scopes">): Principal => ({
  tenant,
  keyId: id,
  scopes: withIncluded(scopes.split(",").filter(isScope)),
});

/** Recording every use would cost a write per request. */
export const USE_NOTED_EVERY_MS = 60_000;

/** Whether this use is to be recorded. */
export const isUseToNote = ({ last_used_at }: KeyRow, now: number): boolean =>
  last_used_at === null || now - last_used_at >= USE_NOTED_EVERY_MS;

const BEARER = /^bearer +([^\s]+) *$/i;

/** The token after `Bearer`, in any case; `null` for other schemes. */
export const bearerOf = (authorization: string): string | null =>
  BEARER.exec(authorization)?.[1] ?? null;

const DURATION = /^([1-9]\d{0,4})([hd])$/;
const HOUR_MS = 3_600_000;

/** The duration `90d` or `12h` in ms; `null` for other texts. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
}
