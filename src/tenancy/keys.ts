import { createHash, timingSafeEqual } from "node:crypto";
import { isScope, type Principal, withIncluded } from "./principal";

/**
 * The service's own keys: `mge_<id>_<secret>`. The id is public and finds the row, the secret is 256 random bits of which only
 * the SHA-256 is kept: a fast hash is right for what nobody can guess. Pure: randomness and time come in.
 */
const PREFIX = "mge";
const ID = /^[0-9a-z]{26}$/;
const KEY = /^mge_([0-9a-z]{26})_([A-Za-z0-9_-]{43})$/;
export const SECRET_BYTES = 32;

/** Ids of keys, as they stand in addresses. */
export const isKeyId = (text: string): boolean => ID.test(text);

export type ParsedKey = { id: string; secret: string };

/** A key as its owner gets it, once. `id`: 26 lower-case letters and digits that sort by time. */
export function toKey(id: string, random: Uint8Array): ParsedKey & { key: string } {
  if (!ID.test(id) || random.byteLength !== SECRET_BYTES)
    throw new Error("a key has an id of 26 characters and 256 bits");
  const secret = Buffer.from(random).toString("base64url");
  return { id, secret, key: `${PREFIX}_${id}_${secret}` };
}

/** The parts of a key; null for what is none. */
export function parseKey(text: string): ParsedKey | null {
  const [, id, secret] = KEY.exec(text) ?? [];
  return id === undefined || secret === undefined ? null : { id, secret };
}

/** What is kept of a secret: its SHA-256, in hex. */
export const hashSecret = (secret: string): string =>
  createHash("sha256").update(secret).digest("hex");

/** A key as the database has it. Times in unix ms. */
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

/** Whether the key still opens anything at this time. */
export const isLive = (
  { expires_at, revoked_at }: Pick<KeyRow, "expires_at" | "revoked_at">,
  now: number,
): boolean => revoked_at === null && (expires_at === null || expires_at > now);

/** Keys of one tenant that open something. */
export const MOST_LIVE_KEYS = 50;
/** Revoked and expired keys of one tenant that stay listed, the newest first. */
export const MOST_DEAD_KEYS = 500;

/**
 * When a new key ends, in unix ms; `null`: never. `wished`: as the request says, `null` if it says nothing. A key never outlives the
 * key that makes it (`minterEnds`): without a wish it ends with that one. Returns `too_late` if the wish is later.
 */
export function endOfNewKey(
  wished: number | null,
  minterEnds: number | null,
): number | null | "too_late" {
  if (minterEnds === null) return wished;
  if (wished !== null && wished > minterEnds) return "too_late";
  return wished ?? minterEnds;
}

/** Compared with where there is no key of the id, so that both take the same time. */
const NOBODY = hashSecret("nobody");

/** Who shows this secret with this row; null if the row is none, is no longer good, or the secret is not its own. */
export function judgeKey(row: KeyRow | null, secret: string, now: number): Principal | null {
  const isSecret = timingSafeEqual(digest(row?.secret_hash ?? NOBODY), digest(hashSecret(secret)));
  if (!row || !isSecret || !isLive(row, now)) return null;
  return toPrincipal(row);
}

/** A hash of the hash: two buffers of one length, whatever the row holds. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

export const toPrincipal = ({
  tenant,
  id,
  scopes,
}: Pick<KeyRow, "tenant" | "id" | "scopes">): Principal => ({
  tenant,
  keyId: id,
  scopes: withIncluded(scopes.split(",").filter(isScope)),
});

/** Writing down every use would cost a write a request. */
export const USE_NOTED_EVERY_MS = 60_000;

/** Whether this use is to be written down. */
export const isUseToNote = ({ last_used_at }: KeyRow, now: number): boolean =>
  last_used_at === null || now - last_used_at >= USE_NOTED_EVERY_MS;

const BEARER = /^bearer +([^\s]+) *$/i;

/** What stands after `Bearer`, in whatever letter case that is written; null for other schemes. */
export const bearerOf = (authorization: string): string | null =>
  BEARER.exec(authorization)?.[1] ?? null;

const DURATION = /^([1-9]\d{0,4})([hd])$/;
const HOUR_MS = 3_600_000;

/** The length of `90d` or `12h` in ms; null for what is no such text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = DURATION.exec(text) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === "d" ? 24 * HOUR_MS : HOUR_MS);
}
