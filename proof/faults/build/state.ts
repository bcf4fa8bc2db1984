import {
  type CrashPoint,
  type Failure,
  type Orders,
  type Seam,
  STANDSTILL,
  type Seen,
} from "./orders";

/** The orders of this life of the process, and what came of them. All objects of a process live together, and share it. */

/** Kept before anything replaces it. */
export const trueNow = Date.now.bind(Date);

type Standing = Failure & { left: number };

let orders: Orders = {};
let isArmed = false;
/** Where the time of day stands still, unix ms. */
let frozenAt: number | null = null;
let failures: Standing[] = [];
const reachedCounts = new Map<string, number>();
let wrongTimes = 0;
let lateAlarms = 0;

/** Counting begins anew with the orders; gives what was counted until now. */
export function obey(next: Orders): Seen {
  const met = failures.map(({ times, left }) => times - left);
  const seen = { reached: Object.fromEntries(reachedCounts), met, wrongTimes, lateAlarms };
  reachedCounts.clear();
  [wrongTimes, lateAlarms] = [0, 0];
  frozenAt = next.isFrozen ? trueNow() : null;
  orders = next;
  failures = (next.failures ?? []).map((failure) => ({ ...failure, left: failure.times }));
  isArmed = true;
  return seen;
}

/** Nothing begins before the orders are there: a restarted process could otherwise be past the point it shall be killed at. */
export async function armed(): Promise<void> {
  while (!isArmed) await scheduler.wait(1);
}

/** Whether the process shall stand still at a point whose name begins like this. */
export const awaits = (prefix: string): boolean => orders.crash?.point.startsWith(prefix) ?? false;

/** A named place. The process stands still here for good if it was told to; whoever told it ends it. */
export function reached(point: string): void {
  const nth = (reachedCounts.get(point) ?? 0) + 1;
  reachedCounts.set(point, nth);
  if (isAt(orders.crash, point, nth)) standStill(point, nth);
}

const isAt = (crash: CrashPoint | null | undefined, point: string, nth: number): boolean =>
  crash?.point === point && crash.nth === nth;

function standStill(point: string, nth: number): void {
  console.log(`${STANDSTILL} ${point}:${nth}`);
  for (;;) trueNow();
}

/** The failure that this call shall meet; null for none. What cannot be `stale` meets no such failure. */
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

/** A call of a seam, with what shall go wrong with it. `nothing` is what is found where nothing is. */
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

/** How far the service's time of day is from the machine's, in ms. */
export const skewMs = (): number =>
  frozenAt === null ? (orders.skewMs ?? 0) : frozenAt - trueNow();

/** The time of day as the service is told it, unix ms. */
export function toldNow(): number {
  const skew = skewMs();
  if (skew !== 0) wrongTimes += 1;
  return trueNow() + skew;
}

/** How much later than asked the alarm shall ring that is being set. */
export function alarmLateMs(): number {
  const lateMs = orders.alarmLateMs ?? 0;
  if (lateMs > 0) lateAlarms += 1;
  return lateMs;
}
