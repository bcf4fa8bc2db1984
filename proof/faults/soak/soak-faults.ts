import type { Orders } from "../build/orders";
import { kindOf } from "../runs/kinds";
import { STORAGE_FAULTS } from "../storage-faults/list";
import type { StorageFault } from "../storage-faults/storage-fault";

/** One temporary fault that needs no restart of the service. */
export type SoakFault = { name: string } & (
  | { does: "orders"; orders: Orders }
  /** Fires the alarm of some sessions `times` times concurrently. */
  | { does: "alarms"; times: number }
  /** The platform resets the objects of some sessions. */
  | { does: "resets" }
  /** More readers of some sessions connect and vanish. */
  | { does: "vanishes"; readers: number }
  /** The providers of some sessions lose every connection. */
  | { does: "cuts" }
);

const LATE_MS = 5_000;
const VANISHING_READERS = 25;

const OTHER_FAULTS: readonly SoakFault[] = [
  // Not ten minutes, as in the storage fault: all work that waits for an alarm would be that late.
  { name: "alarms are five seconds late", does: "orders", orders: { alarmLateMs: LATE_MS } },
  { name: "alarms fire three times at once", does: "alarms", times: 3 },
  { name: "objects are reset", does: "resets" },
  {
    name: `${VANISHING_READERS} readers of a session connect and vanish`,
    does: "vanishes",
    readers: VANISHING_READERS,
  },
  { name: "providers lose every connection", does: "cuts" },
];

/**
 * The faults of a soak: other faults, and the failures of those storage faults that need no kill,
 * do not change the clock, and use at least one kind of run that a soak draws.
 */
export const SOAK_FAULTS: readonly SoakFault[] = [
  ...STORAGE_FAULTS.filter(isTemporary).flatMap(toSoakFaults),
  ...OTHER_FAULTS,
];

function isTemporary({ row, kinds, steps = [] }: StorageFault): boolean {
  const canBeDrawn = kinds.some((kind) => !kindOf(kind).isOnlyByName);
  return row !== "Clock" && canBeDrawn && !steps.some((step) => "kills" in step);
}

function toSoakFaults({ name, from, steps = [] }: StorageFault): SoakFault[] {
  const allOrders = [from, ...steps.map((step) => ("orders" in step ? step.orders : undefined))];
  return allOrders.flatMap((orders) =>
    orders?.failures ? [{ name, does: "orders" as const, orders }] : [],
  );
}
