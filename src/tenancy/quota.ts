/**
 * What a tenant may use: turns at a time, and dollars a day (UTC). Pure: what runs and what was spent comes in. A turn reserves its
 * budget, or all that is left of the day where it has none, so the sum of what was spent and what may yet be never passes the cap.
 */
export type Quota = {
  /** null: any number. */
  concurrentTurns: number | null;
  /** null: no cap. */
  usdPerDay: number | null;
};

export const UNLIMITED: Quota = { concurrentTurns: null, usdPerDay: null };

/** A turn that runs. Its lease ends by itself, so that no lost message keeps a place for ever. */
export type Lease = { session: string; turn: number; reservedUsd: number; endsAt: number };

/** `spentUsd`: what turns that ended today were charged. */
export type Usage = { leases: readonly Lease[]; spentUsd: number };

/** A turn that wants to start. `unpriced`: agents whose price nobody knows, so that no cap in dollars can hold them. */
export type TurnWish = {
  session: string;
  turn: number;
  /** null: as much as it takes. */
  maxCostUsd: number | null;
  unpriced: readonly string[];
  /** With less than this its team could not send a first call. */
  leastUsd: number;
  endsAt: number;
  /** Of what comes with its question. */
  attachedBytes?: number;
};

/** What the tenant has used up. */
export type QuotaRefusal =
  | StorageRefusal
  | { ok: false; code: "quota_exceeded"; limit: number; running: number }
  | { ok: false; code: "spend_exceeded"; limitUsd: number; spentUsd: number; reservedUsd: number };

/** No cap in dollars can hold these agents. `isDaily`: the cap is that of the tenant's day, and not the run's own. */
export type PriceRefusal = {
  ok: false;
  code: "price_unknown";
  agents: readonly string[];
  isDaily?: true;
};

export type QuotaDecision =
  /** `maxCostUsd`: what the turn may spend; null: no cap. */
  { ok: true; lease: Lease; maxCostUsd: number | null } | QuotaRefusal | PriceRefusal;

/** Whether the turn may start now. Asked again for a turn that has its lease, the answer is the same. */
export function judgeTurn(quota: Quota, usage: Usage, wish: TurnWish, now: number): QuotaDecision {
  const { session, turn, maxCostUsd, unpriced, leastUsd, endsAt } = wish;
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
  // Too little for a first call would be a run that is taken and fails. A budget within what is left is the caller's own choice, and
  // one of 0 spends nothing.
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

/** How long until the next UTC day, in whole seconds. */
export const secondsToNextDay = (now: number): number =>
  Math.ceil((DAY_MS - (now % DAY_MS)) / 1000);

/** A limit as the operator writes it: a number; `0` means no limit, and so does nothing. Throws for anything else. */
export function parseLimit(text: string | undefined): number | null {
  if (!isSet(text) || Number(text) === 0) return null;
  const limit = Number(text);
  if (!Number.isFinite(limit) || limit < 0)
    throw new Error(`"${text}" is no limit: write a number, or 0 for none`);
  return limit;
}

/** A variable that is empty is not set. */
const isSet = (text: string | undefined): text is string =>
  text !== undefined && text.trim() !== "";

/** The variables with the limits of tenants that have none of their own. */
const LIMIT_VARIABLES = [
  "TENANT_CONCURRENT_TURNS",
  "TENANT_USD_PER_DAY",
  "TENANT_STORED_BYTES",
] as const;
type LimitVariable = (typeof LIMIT_VARIABLES)[number];
type LimitVariables = Readonly<Partial<Record<LimitVariable, string>>>;

/** Turns at a time of a tenant with keys, where the deployment sets no limit. */
const DEFAULT_CONCURRENT_TURNS = "20";

/**
 * The limits of a tenant that has none of its own, from the deployment's variables. `isLocal`: the tenant of open local access, which
 * has only the limits that are set. Throws for a variable that is no limit.
 */
export function deploymentQuota(variables: LimitVariables, isLocal: boolean): Quota {
  const turns = variables.TENANT_CONCURRENT_TURNS;
  return {
    concurrentTurns: parseLimit(isSet(turns) || isLocal ? turns : DEFAULT_CONCURRENT_TURNS),
    usdPerDay: parseLimit(variables.TENANT_USD_PER_DAY),
  };
}

/** The first of the variables that is no limit; null if all are good. */
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

/** What a tenant may store. Pure: what it stores comes in. */

/** Bytes that a tenant stores where the deployment sets no limit: 10 GB. */
export const DEFAULT_STORED_BYTES = "10000000000";

/** `limitBytes` null: no limit. */
export type StorageUse = { storedBytes: number; limitBytes: number | null };
type StorageRefusal = { ok: false; code: "storage_exceeded" } & {
  storedBytes: number;
  limitBytes: number;
};

/** Why the tenant may not store so many bytes more; null if it may. Nothing more goes into a storage that is full. */
export function judgeStorage(
  { storedBytes, limitBytes }: StorageUse,
  moreBytes: number,
): StorageRefusal | null {
  if (limitBytes === null) return null;
  if (storedBytes < limitBytes && storedBytes + moreBytes <= limitBytes) return null;
  return { ok: false, code: "storage_exceeded", storedBytes, limitBytes };
}
