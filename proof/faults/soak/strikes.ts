import type { Orders } from "../build/orders";
import { kindOf } from "../runs/kinds";
import { TROUBLES } from "../troubles/list";
import type { Trouble } from "../troubles/trouble";

/** One temporary fault that needs no restart of the service. */
export type Strike = { name: string } & (
  | { does: "orders"; orders: Orders }
  /** Fires the alarms of some sessions so many times at once. */
  | { does: "rings"; times: number }
  /** The platform resets the objects of some sessions. */
  | { does: "resets" }
  /** More readers of some sessions connect and vanish. */
  | { does: "vanishes"; readers: number }
  /** The providers of some sessions lose every connection. */
  | { does: "cuts" }
);

const LATE_MS = 5_000;
const READERS = 25;

const OTHERS: readonly Strike[] = [
  // Not ten minutes, as in the single fault: everything due would be delayed by that.
  { name: "alarms ring five seconds late", does: "orders", orders: { alarmLateMs: LATE_MS } },
  { name: "alarms ring three times at once", does: "rings", times: 3 },
  { name: "objects are taken down", does: "resets" },
  { name: `${READERS} readers of a session come and vanish`, does: "vanishes", readers: READERS },
  { name: "providers lose every connection", does: "cuts" },
];

/**
 * The storage faults that need no kill, do not change the clock, and can meet drawn kinds of runs.
 */
export const STRIKES: readonly Strike[] = [
  ...TROUBLES.filter(isForAnyTime).flatMap(toStrikes),
  ...OTHERS,
];

function isForAnyTime({ row, kinds, steps = [] }: Trouble): boolean {
  const isMet = kinds.some((kind) => !kindOf(kind).isAskedFor);
  return row !== "Clock" && isMet && !steps.some((step) => "kills" in step);
}

function toStrikes({ name, from, steps = [] }: Trouble): Strike[] {
  const all = [from, ...steps.map((step) => ("orders" in step ? step.orders : undefined))];
  return all.flatMap((orders) =>
    orders?.failures ? [{ name, does: "orders" as const, orders }] : [],
  );
}
