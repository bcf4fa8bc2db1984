import type { Orders } from "../build/orders";
import { kindOf } from "../runs/kinds";
import { STORAGE_FAULTS } from "../storage-faults/list";
import type { StorageFault } from "../storage-faults/storage-fault";

/** One temporary fault that needs no restart of the service. */
export type SoakFault = { name: string } & (
  | { does: "orders"; orders: Orders }
  /** Fires the alarms of some sessions so many times at once. */
  | { does: "alarms"; times: number }
  /** The platform resets the objects of some sessions. */
  | { does: "resets" }
  /** More readers of some sessions connect and vanish. */
  | { does: "vanishes"; readers: number }
  /** The providers of some sessions lose every connection. */
  | { does: "cuts" }
);

const LATE_MS = 5_000;
const READERS = 25;

const OTHERS: readonly SoakFault[] = [
  // Not ten minutes, as in the single fault: everything due would be delayed by that.
  { name: "alarms are five seconds late", does: "orders", orders: { alarmLateMs: LATE_MS } },
  { name: "alarms fire three times at once", does: "alarms", times: 3 },
  { name: "objects are reset", does: "resets" },
  {
    name: `${READERS} readers of a session connect and vanish`,
    does: "vanishes",
    readers: READERS,
  },
  { name: "providers lose every connection", does: "cuts" },
];

/**
 * The storage faults that need no kill, do not change the clock, and can meet drawn kinds of runs.
 */
export const SOAK_FAULTS: readonly SoakFault[] = [
  ...STORAGE_FAULTS.filter(isTemporary).flatMap(toSoakFaults),
  ...OTHERS,
];

function isTemporary({ row, kinds, steps = [] }: StorageFault): boolean {
  const isMet = kinds.some((kind) => !kindOf(kind).isOnlyByName);
  return row !== "Clock" && isMet && !steps.some((step) => "kills" in step);
}

function toSoakFaults({ name, from, steps = [] }: StorageFault): SoakFault[] {
  const all = [from, ...steps.map((step) => ("orders" in step ? step.orders : undefined))];
  return all.flatMap((orders) =>
    orders?.failures ? [{ name, does: "orders" as const, orders }] : [],
  );
}
