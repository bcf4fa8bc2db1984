import { createHash, timingSafeEqual } from "node:crypto";
import { isScope, type Principal, withIncluded } from "./principal";

/**
 * API keys of the service: `mge_<id>_<secret>`. The id is public and identifies the database row.
 * The secret has 256 random bits. Only its SHA-256 is stored: a fast hash suffices, because such a
 * secret cannot be guessed. All functions are pure: randomness and time are arguments.
 */
const PREFIX = "mge";
const ID_PATTERN = /^[0-9a-z]{26}$/;
const KEY_PATTERN = /^mge_([0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;
export const SECRET_BYTES = 32;

/** Whether a text is a key id. */
export const isKeyId = (text: string): boolean => ID_PATTERN.test(text);

type ParsedKey = { id: string; secret: string };

/**
 * Makes a key. `id`: a new ULID in lower case. `random`: the random bits of the secret. The owner
 * receives `key` only once.
 */
export function toKey(id: string, random: Uint8Array): ParsedKey & { key: string } {
  if (!ID_PATTERN.test(id) || random.byteLength !== SECRET_BYTES)
    throw new Error("a key has an id of 26 characters and 256 bits");
  const secret = Buffer.from(random).toString("base64url");
  return { id, secret, key: `${PREFIX}_${id}_${secret}` };
}

/** The parts of a key; `null` if the text is not a key. */
export function parseKey(text: string): ParsedKey | null {
  const [, id, secret] = KEY_PATTERN.exec(text) ?? [];
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

/** Maximum number of valid keys of a tenant. */
export const MOST_LIVE_KEYS = 50;
/** Number of revoked and expired keys of a tenant that lists still show: the newest ones. */
export const MOST_DEAD_KEYS = 500;

/**
 * Expiry of a new key in Unix ms; `null` means never. `requested`: the expiry in the request;
 * `null` if omitted. `creatorExpiry`: the expiry of the key that creates the new key, which is also
 * the default. Returns `too_late` if the requested expiry is after `creatorExpiry`.
 */
export function expiryOfNewKey(
  requested: number | null,
  creatorExpiry: number | null,
): number | null | "too_late" {
  if (creatorExpiry === null) return requested;
  if (requested !== null && requested > creatorExpiry) return "too_late";
  return requested ?? creatorExpiry;
}

/**
 * Compared if no key has the presented id, so that the response takes the same time as for an
 * existing key.
 */
const DUMMY_HASH = hashSecret("nobody");

/**
 * The principal for a presented secret. Returns `null` if there is no row, the key is revoked or
 * expired, or the secret is wrong.
 */
export function verifyKey(row: KeyRow | null, secret: string, now: number): Principal | null {
  const isSecret = timingSafeEqual(
    digest(row?.secret_hash ?? DUMMY_HASH),
    digest(hashSecret(secret)),
  );
  if (!row || !isSecret || !isLive(row, now)) return null;
  return toPrincipal(row);
}

/** Hashes a stored hash again: `timingSafeEqual` needs buffers of equal length for any row. */
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

/** Minimum time between two recorded uses of a key, to avoid a database write per request. */
export const USE_NOTED_EVERY_MS = 60_000;

/** Whether this use of the key must be recorded. */
export const shouldRecordUse = ({ last_used_at }: KeyRow, now: number): boolean =>
  last_used_at === null || now - last_used_at >= USE_NOTED_EVERY_MS;

const BEARER = /^bearer +([^\s]+) *$/i;

/** The token of an `Authorization` header with the scheme `Bearer`; `null` for other schemes. */
export const bearerOf = (authorization: string): string | null =>
  BEARER.exec(authorization)?.[1] ?? null;

const DURATION = /^([1-9]\d{0,4})([hd])$/;
const HOUR_MS = 3_600_000;

/** Parses a duration such as `90d` or `12h` to ms. Returns `null` for other texts. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
}
