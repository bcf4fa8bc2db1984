/**
 * Limits of a tenant: concurrent turns, and dollars per day (UTC). Pure: usage is an argument. A
 * turn reserves its budget, or the rest of the day if it has none. So spent plus reserved never
 * exceeds the cap.
 */
export type Quota = {
  /** `null` for no limit. */
  concurrentTurns: number | null;
  /** `null` for no cap. */
  usdPerDay: number | null;
};

export const UNLIMITED: Quota = { concurrentTurns: null, usdPerDay: null };

/** A running turn. Its lease expires, so that a lost message does not occupy a slot forever. */
export type Lease = { session: string; turn: number; reservedUsd: number; endsAt: number };

/** `spentUsd`: charges of turns that ended today. */
export type Usage = { leases: readonly Lease[]; spentUsd: number };

/**
 * A turn that wants to start. `unpriced` are agents without a known price, which no cap in dollars
 * can limit.
 */
export type TurnRequest = {
  session: string;
  turn: number;
  /** `null` for no budget. */
  maxCostUsd: number | null;
  unpriced: readonly string[];
  /** The minimum for the team's first calls. */
  leastUsd: number;
  endsAt: number;
  /** Bytes of the question's attachments. */
  attachedBytes?: number;
};

/** A limit of the tenant is exhausted. */
export type QuotaRefusal =
  | StorageRefusal
  | { ok: false; code: "quota_exceeded"; limit: number; running: number }
  | { ok: false; code: "spend_exceeded"; limitUsd: number; spentUsd: number; reservedUsd: number };

/**
 * A cap in dollars cannot limit these agents. `isDaily`: it is the tenant's daily cap, not the
 * run's own.
 */
export type PriceRefusal = {
  ok: false;
  code: "price_unknown";
  agents: readonly string[];
  isDaily?: true;
};

export type QuotaDecision =
  /** `maxCostUsd`: what the turn may spend; `null` for no cap. */
  { ok: true; lease: Lease; maxCostUsd: number | null } | QuotaRefusal | PriceRefusal;

/** Whether the turn may start now. Repeating it for a turn with a lease gives the same result. */
export function judgeTurn(
  quota: Quota,
  usage: Usage,
  request: TurnRequest,
  now: number,
): QuotaDecision {
  const { session, turn, maxCostUsd, unpriced, leastUsd, endsAt } = request;
  const others = usage.leases.filter(
    (lease) => lease.endsAt > now && !(lease.session === session && lease.turn === turn),
  );
  const { concurrentTurns, usdPerDay } = quota;
  if (concurrentTurns !== null && others.length >= concurrentTurns) {
    return { ok: false, code: "quota_exceeded", limit: concurrentTurns, running: others.length };
  }
  if (usdPerDay === null) {
    return { ok: true, lease: { session, turn, reservedUsd: maxCostUsd ?? 0, endsAt }, maxCostUsd };
  }
  if (unpriced.length > 0)
    return { ok: false, code: "price_unknown", agents: [...unpriced], isDaily: true };
  const reservedUsd = others.reduce((sum, lease) => sum + lease.reservedUsd, 0);
  const left = usdPerDay - usage.spentUsd - reservedUsd;
  // With too little for a first call, an accepted run would fail. A budget within the rest is the
  // caller's own choice, and a budget of 0 spends nothing.
  if (
    left < (maxCostUsd ?? Number.POSITIVE_INFINITY) &&
    left < Math.max(leastUsd, Number.MIN_VALUE) &&
    maxCostUsd !== 0
  ) {
    return {
      ok: false,
      code: "spend_exceeded",
      limitUsd: usdPerDay,
      spentUsd: usage.spentUsd,
      reservedUsd,
    };
  }
  const granted = Math.max(0, Math.min(maxCostUsd ?? Number.POSITIVE_INFINITY, left));
  return { ok: true, lease: { session, turn, reservedUsd: granted, endsAt }, maxCostUsd: granted };
}

const DAY_MS = 86_400_000;

/** The UTC day, as `2026-11-21`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whole seconds until the next UTC day. */
export const secondsToNextDay = (now: number): number =>
  Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);

/** Parses a limit: a number; `0` or empty means no limit. Throws otherwise. */
export function parseLimit(text: string | undefined): number | null {
  if (!isSet(text) || Number(text) === 0) return null;
  const limit = Number(text);
  if (!Number.isFinite(limit) || limit < 0)
    throw new Error(`"${text}" is not a valid limit: use a number, or 0 for no limit`);
  return limit;
}

/** An empty variable counts as not set. */
const isSet = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== "";

/** Variables with the default limits of tenants. */
const LIMIT_VARIABLES = [
  "TENANT_CONCURRENT_TURNS",
  "TENANT_USD_PER_DAY",
  "TENANT_STORED_BYTES",
] as const;
type LimitVariable = (typeof LIMIT_VARIABLES)[number];
type LimitVariables = Readonly<Partial<Record<LimitVariable, string>>>;

/** Default concurrent turns of a tenant with keys. */
const DEFAULT_CONCURRENT_TURNS = "20";

/**
 * The default limits from the deployment's variables. `isLocal`: the tenant of local access without
 * keys, which has only explicit limits. Throws for an invalid variable.
 */
export function deploymentQuota(variables: LimitVariables, isLocal: boolean): Quota {
  const turns = variables.TENANT_CONCURRENT_TURNS;
  return {
    concurrentTurns: parseLimit(isSet(turns) || isLocal ? turns : DEFAULT_CONCURRENT_TURNS),
    usdPerDay: parseLimit(variables.TENANT_USD_PER_DAY),
  };
}

/** The first invalid variable; `null` if all are valid. */
export function badLimit(variables: LimitVariables): LimitVariable | null {
  return LIMIT_VARIABLES.find((name) => !isLimit(variables[name])) ?? null;
}

function isLimit(text: string | undefined): boolean {
  try {
    parseLimit(text);
    return true;
  } catch {
    return false;
  }
}

/** The storage limit of a tenant. Pure: usage is an argument. */

/** Default limit in bytes: 10 GB. */
export const DEFAULT_STORED_BYTES = "10000000000";

/** `limitBytes` is `null` for no limit. */
export type StorageUse = { storedBytes: number; limitBytes: number | null };
type StorageRefusal = { ok: false; code: "storage_exceeded" } & {
  storedBytes: number;
  limitBytes: number;
};

/** Why the tenant cannot store more bytes; `null` if it can. A full storage accepts nothing. */
export function judgeStorage(
  { storedBytes, limitBytes }: StorageUse,
  moreBytes: number,
): StorageRefusal | null {
  if (limitBytes === null) return null;
  if (storedBytes < limitBytes && storedBytes + moreBytes <= limitBytes) return null;
  return { ok: false, code: "storage_exceeded", storedBytes, limitBytes };
}
