import {
  type CrashPoint,
  type Failure,
  type Orders,
  type Seam,
  HALTED,
  type Observations,
} from "./orders";

/**
 * The orders of this process and its observations. All objects share one process and this state.
 */

/** The machine's time of day, Unix ms. Saved before `Date.now` is replaced. */
const machineNow = Date.now.bind(Date);

type PendingFailure = Failure & { remaining: number };

let orders: Orders = {};
let hasOrders = false;
/** The frozen time of day, unix ms. `null` if it is not frozen. */
let frozenAt: number | null = null;
let failures: PendingFailure[] = [];
const reachedCounts = new Map<string, number>();
let wrongTimes = 0;
let lateAlarms = 0;

/** Applies new orders, resets all counters, and returns the previous counts. */
export function applyOrders(next: Orders): Observations {
  const met = failures.map(({ times, remaining }) => times - remaining);
  const observations = { reached: Object.fromEntries(reachedCounts), met, wrongTimes, lateAlarms };
  reachedCounts.clear();
  [wrongTimes, lateAlarms] = [0, 0];
  frozenAt = next.isFrozen ? machineNow() : null;
  orders = next;
  failures = (next.failures ?? []).map((failure) => ({ ...failure, remaining: failure.times }));
  hasOrders = true;
  return observations;
}

/**
 * Resolves once the harness has sent orders. Without this wait, a restarted process could pass a
 * crash point before the order to crash there arrives.
 */
export async function waitForOrders(): Promise<void> {
  while (!hasOrders) await scheduler.wait(1);
}

/** Whether a crash is ordered at a point whose name starts with this prefix. */
export const crashesAt = (prefix: string): boolean =>
  orders.crash?.point.startsWith(prefix) ?? false;

/**
 * Counts that a named point was reached. If a crash is ordered here, the process blocks until the
 * harness kills it.
 */
export function markPoint(point: string): void {
  const nth = (reachedCounts.get(point) ?? 0) + 1;
  reachedCounts.set(point, nth);
  if (isAt(orders.crash, point, nth)) halt(point, nth);
}

const isAt = (crash: CrashPoint | null | undefined, point: string, nth: number): boolean =>
  crash?.point === point && crash.nth === nth;

function halt(point: string, nth: number): void {
  console.log(`${HALTED} ${point}:${nth}`);
  for (;;) machineNow();
}

/**
 * The ordered failure of this call; `null` if there is none. Only a call that can find nothing can
 * be `stale`.
 */
export function failureOf(seam: Seam, callText: string, canBeStale = false): Failure | null {
  const failure = failures.find(
    (pending) =>
      pending.seam === seam &&
      pending.remaining > 0 &&
      callText.includes(pending.match) &&
      (pending.how !== "stale" || canBeStale),
  );
  if (!failure) return null;
  failure.remaining -= 1;
  return failure;
}

export const errorOf = ({ seam, message }: Failure): Error =>
  new Error(message ?? `${seam}: internal error`);

/**
 * Makes a call of a seam and applies its ordered failure. `emptyResult`: what the call returns if
 * it finds nothing; omitted if that cannot happen.
 */
export async function callSeam<T>(
  seam: Seam,
  callText: string,
  call: () => Promise<T>,
  emptyResult?: T,
): Promise<T> {
  const failure = failureOf(seam, callText, emptyResult !== undefined);
  if (failure?.how === "fails") throw errorOf(failure);
  if (failure?.how === "slow") await scheduler.wait(failure.slowMs ?? 1_000);
  if (failure?.how === "stale" && emptyResult !== undefined) return emptyResult;
  if (failure?.how === "twice") await call();
  const result = await call();
  if (failure?.how === "lost") throw errorOf(failure);
  return result;
}

/** The service's time of day minus the machine's, in ms. */
export const skewMs = (): number =>
  frozenAt === null ? (orders.skewMs ?? 0) : frozenAt - machineNow();

/** The time of day that the service reads, unix ms. */
export function serviceNow(): number {
  const skew = skewMs();
  if (skew !== 0) wrongTimes += 1;
  return machineNow() + skew;
}

/** Delay of the alarm that is being set, in ms. */
export function alarmLateMs(): number {
  const lateMs = orders.alarmLateMs ?? 0;
  if (lateMs > 0) lateAlarms += 1;
  return lateMs;
}
