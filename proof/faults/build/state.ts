import {
  type CrashPoint,
  type Failure,
  type Orders,
  type Seam,
  HALTED,
  type Observations,
} from "./orders";

/** Orders of this process and what it observed. All objects share one process and this state. */

/** Saved before `Date.now` is replaced. */
const machineNow = Date.now.bind(Date);

type PendingFailure = Failure & { left: number };

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
  const met = failures.map(({ times, left }) => times - left);
  const seen = { reached: Object.fromEntries(reachedCounts), met, wrongTimes, lateAlarms };
  reachedCounts.clear();
  [wrongTimes, lateAlarms] = [0, 0];
  frozenAt = next.isFrozen ? machineNow() : null;
  orders = next;
  failures = (next.failures ?? []).map((failure) => ({ ...failure, left: failure.times }));
  hasOrders = true;
  return seen;
}

/**
 * Resolves once orders are there. Without this wait a restarted process could pass its crash point
 * first.
 */
export async function ordersReceived(): Promise<void> {
  while (!hasOrders) await scheduler.wait(1);
}

/** Whether a crash is ordered at a point whose name starts with this prefix. */
export const crashesAt = (prefix: string): boolean =>
  orders.crash?.point.startsWith(prefix) ?? false;

/**
 * Marks a named point. If a crash is ordered here the process blocks for good, until the harness
 * kills it.
 */
export function reached(point: string): void {
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
 * The failure that this call must meet; `null` if none. `stale` applies only to calls that can find
 * nothing.
 */
export function failureOf(seam: Seam, words: string, canBeStale = false): Failure | null {
  const failure = failures.find(
    (one) =>
      one.seam === seam &&
      one.left > 0 &&
      words.includes(one.match) &&
      (one.how !== "stale" || canBeStale),
  );
  if (!failure) return null;
  failure.left -= 1;
  return failure;
}

export const errorOf = ({ seam, message }: Failure): Error =>
  new Error(message ?? `${seam}: internal error`);

/**
 * Makes a call of a seam with the ordered failure. `nothing`: the result of a call that finds
 * nothing.
 */
export async function through<T>(
  seam: Seam,
  words: string,
  call: () => Promise<T>,
  nothing?: T,
): Promise<T> {
  const failure = failureOf(seam, words, nothing !== undefined);
  if (failure?.how === "fails") throw errorOf(failure);
  if (failure?.how === "slow") await scheduler.wait(failure.slowMs ?? 1_000);
  if (failure?.how === "stale" && nothing !== undefined) return nothing;
  if (failure?.how === "twice") await call();
  const result = await call();
  if (failure?.how === "lost") throw errorOf(failure);
  return result;
}

/** Difference between the service's time of day and the machine's, in ms. */
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
