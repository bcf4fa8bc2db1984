import type { Orders } from "../build/orders";
import { kindOf } from "../runs/kinds";
import { TROUBLES } from "../troubles/list";
import type { Trouble } from "../troubles/trouble";

/** One thing that goes wrong for a moment, around a service that is not started again for it. */
export type Strike = { name: string } & (
  | { does: "orders"; orders: Orders }
  /** Some sessions' alarms ring, so many times at once. */
  | { does: "rings"; times: number }
  /** The platform takes some sessions' objects down. */
  | { does: "resets" }
  /** So many more readers of some sessions come, and go without a word. */
  | { does: "vanishes"; readers: number }
  /** The providers of some sessions lose every connection. */
  | { does: "cuts" }
);

const LATE_MS = 5_000;
const READERS = 25;

const OTHERS: readonly Strike[] = [
  // Not by ten minutes, as those that are on their own: what is owed then would be owed for as long.
  { name: "alarms ring five seconds late", does: "orders", orders: { alarmLateMs: LATE_MS } },
  { name: "alarms ring three times at once", does: "rings", times: 3 },
  { name: "objects are taken down", does: "resets" },
  { name: `${READERS} readers of a session come and vanish`, does: "vanishes", readers: READERS },
  { name: "providers lose every connection", does: "cuts" },
];

/** Of the troubles those that nobody has to be killed for, that leave the clock alone, and that runs which are drawn may meet. */
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
