import { describe, expect, it } from "vitest";
import { longestOrder, type Operation, type Told } from "../clients/linear";

const at = (from: number, to: number, told: Told): Operation => ({ from, to, told });
const started = (turn: number): Told => ({ type: "started", turn });
const refused = (turn: number): Told => ({ type: "refused", turn });
const cancelled = (turn: number, status = "cancelled"): Told => ({
  type: "cancelled",
  turn,
  status,
});
const read = (sequence: number, ...statuses: string[]): Told => ({
  type: "read",
  statuses,
  sequence,
});
const erased: Told = { type: "erased" };
const gone: Told = { type: "gone" };

describe("a history has an order", () => {
  it.each([
    {
      name: "of one after the other",
      operations: [at(0, 1, cancelled(1)), at(2, 3, started(2)), at(4, 5, refused(2))],
    },
    {
      name: "that is not that of the questions",
      operations: [at(0, 9, refused(2)), at(1, 8, started(2)), at(2, 7, cancelled(1))],
    },
    {
      name: "in which a turn completes by itself",
      operations: [at(0, 1, refused(1)), at(2, 3, read(5, "completed")), at(4, 5, started(2))],
    },
    {
      name: "with an end",
      operations: [
        at(0, 1, read(5, "running")),
        at(2, 9, erased),
        at(3, 4, started(2)),
        at(5, 6, gone),
      ],
    },
  ])("$name", ({ operations }) => {
    // A turn has to be over before the next: it may have completed at any moment.
    expect(longestOrder(operations)).toBe(operations.length);
  });
});

describe("a history has no order", () => {
  it.each([
    {
      name: "if two are given the same turn",
      operations: [at(0, 5, started(2)), at(1, 6, started(2))],
    },
    {
      name: "if a turn is refused that was over before",
      operations: [at(0, 1, cancelled(1)), at(2, 3, refused(1))],
    },
    {
      name: "if a read forgets what another had seen",
      operations: [at(0, 1, read(9, "running")), at(2, 3, read(8, "running"))],
    },
    {
      name: "if a cancelled turn completes",
      operations: [at(0, 1, cancelled(1)), at(2, 3, read(9, "completed"))],
    },
    {
      name: "if what is erased comes back",
      operations: [at(0, 1, erased), at(2, 3, read(9, "completed"))],
    },
    {
      name: "if it is gone before anybody erased it",
      operations: [at(0, 1, gone), at(2, 3, erased)],
    },
  ])("$name", ({ operations }) => {
    expect(longestOrder(operations)).toBeLessThan(operations.length);
  });
});
