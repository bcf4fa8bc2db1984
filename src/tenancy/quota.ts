/**
 * Limits of a tenant: concurrent turns, and dollars per day (UTC). A turn reserves its own budget.
 * A turn without a budget reserves all that remains of the day. So the sum of spent and reserved
 * dollars never exceeds the daily limit.
 */
export type Quota = {
  /** `null` means no limit. */
  concurrentTurns: number | null;
  /** `null` means no limit. */
  usdPerDay: number | null;
};

export const UNLIMITED: Quota = { concurrentTurns: null, usdPerDay: null };

/**
 * The reservation of a running turn. It expires at `endsAt` (Unix ms), so that a turn whose end was
 * not reported does not count forever.
 */
export type Lease = { session: string; turn: number; reservedUsd: number; endsAt: number };

/** Current use of a tenant. `spentUsd`: charges of turns that ended today. */
export type Usage = { leases: readonly Lease[]; spentUsd: number };

/**
 * A turn that requests to start. `unpriced`: agents without a known price. A limit in dollars is
 * not possible for these agents.
 */
export type TurnRequest = {
  session: string;
  turn: number;
  /** The run's own budget; `null` if it has none. */
  maxCostUsd: number | null;
  unpriced: readonly string[];
  /** The minimum cost of the team's first calls. */
  leastUsd: number;
  /** Latest end of the turn, in Unix ms. */
  endsAt: number;
  /** Bytes of the question's attachments. */
  attachedBytes?: number;
};

/** The refusal of a turn because a limit of the tenant is exhausted. */
export type QuotaRefusal =
  | StorageRefusal
  | { ok: false; code: "quota_exceeded"; limit: number; running: number }
  | { ok: false; code: "spend_exceeded"; limitUsd: number; spentUsd: number; reservedUsd: number };

/**
 * The refusal of a turn whose agents have no known price, because a limit in dollars applies.
 * `isDaily`: the limit is the tenant's daily limit. If omitted, it is the run's own budget.
 */
export type PriceRefusal = {
  ok: false;
  code: "price_unknown";
  agents: readonly string[];
  isDaily?: true;
};

export type QuotaDecision =
  /** `maxCostUsd`: limit for the cost of the turn; `null` means no limit. */
  { ok: true; lease: Lease; maxCostUsd: number | null } | QuotaRefusal | PriceRefusal;

/**
 * Decides whether the turn may start now. The own lease of the turn does not count, so a repeated
 * request is not refused because of itself.
 */
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
  const remainingUsd = usdPerDay - usage.spentUsd - reservedUsd;
  // If the remaining dollars do not suffice for a first call, the run would fail after its start.
  // A smaller budget of the run is the caller's own choice, and a budget of 0 spends nothing.
  if (
    remainingUsd < (maxCostUsd ?? Number.POSITIVE_INFINITY) &&
    remainingUsd < Math.max(leastUsd, Number.MIN_VALUE) &&
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
  const grantedUsd = Math.max(0, Math.min(maxCostUsd ?? Number.POSITIVE_INFINITY, remainingUsd));
  return {
    ok: true,
    lease: { session, turn, reservedUsd: grantedUsd, endsAt },
    maxCostUsd: grantedUsd,
  };
}

const DAY_MS = 86_400_000;

/** The UTC day of a time, such as `2026-11-21`. */
export const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** Whole seconds until the next UTC day. */
export const secondsToNextDay = (now: number): number =>
  Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);

/** Parses a limit. Returns `null` (no limit) for `0` or an empty text. Throws if not a number. */
export function parseLimit(text: string | undefined): number | null {
  if (!isSet(text) || Number(text) === 0) return null;
  const limit = Number(text);
  if (!Number.isFinite(limit) || limit < 0)
    throw new Error(`"${text}" is not a valid limit: use a number, or 0 for no limit`);
  return limit;
}

/** Whether a variable is set. An empty variable counts as not set. */
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

/** Default limit of concurrent turns for a tenant with keys. */
const DEFAULT_CONCURRENT_TURNS = "20";

/**
 * The default limits of a tenant, from the deployment's variables. `isLocal`: the tenant is
 * `LOCAL_TENANT`, which has only the limits that are set. Throws for an invalid variable.
 */
export function deploymentQuota(variables: LimitVariables, isLocal: boolean): Quota {
  const turns = variables.TENANT_CONCURRENT_TURNS;
  return {
    concurrentTurns: parseLimit(isSet(turns) || isLocal ? turns : DEFAULT_CONCURRENT_TURNS),
    usdPerDay: parseLimit(variables.TENANT_USD_PER_DAY),
  };
}

/** The name of the first invalid variable; `null` if all are valid. */
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

/** Default limit in bytes: 10 GB. */
export const DEFAULT_STORED_BYTES = "10000000000";

/** Storage of a tenant. `limitBytes`: `null` means no limit. */
export type StorageUse = { storedBytes: number; limitBytes: number | null };
type StorageRefusal = { ok: false; code: "storage_exceeded" } & {
  storedBytes: number;
  limitBytes: number;
};

/**
 * The refusal if the tenant cannot store `moreBytes`; otherwise `null`. If the storage is full, the
 * function refuses 0 bytes too.
 */
export function judgeStorage(
  { storedBytes, limitBytes }: StorageUse,
  moreBytes: number,
): StorageRefusal | null {
  if (limitBytes === null) return null;
  if (storedBytes < limitBytes && storedBytes + moreBytes <= limitBytes) return null;
  return { ok: false, code: "storage_exceeded", storedBytes, limitBytes };
}
