import { describe, expect, it } from "vitest";
import { longestOrder, type Operation, type OperationResult } from "../clients/linear";

const at = (from: number, to: number, result: OperationResult): Operation => ({ from, to, result });
const started = (turn: number): OperationResult => ({ type: "started", turn });
const refused = (turn: number): OperationResult => ({ type: "refused", turn });
const cancelled = (turn: number, status = "cancelled"): OperationResult => ({
  type: "cancelled",
  turn,
  status,
});
const read = (sequence: number, ...statuses: string[]): OperationResult => ({
  type: "read",
  statuses,
  sequence,
});
const erased: OperationResult = { type: "erased" };
const gone: OperationResult = { type: "gone" };

describe("a history has an order", () => {
  it.each([
    {
      name: "of sequential operations",
      operations: [at(0, 1, cancelled(1)), at(2, 3, started(2)), at(4, 5, refused(2))],
    },
    {
      name: "that differs from the order of the starts",
      operations: [at(0, 9, refused(2)), at(1, 8, started(2)), at(2, 7, cancelled(1))],
    },
    {
      name: "in which a turn completes by itself",
      operations: [at(0, 1, refused(1)), at(2, 3, read(5, "completed")), at(4, 5, started(2))],
    },
    {
      name: "that ends with an erase",
      operations: [
        at(0, 1, read(5, "running")),
        at(2, 9, erased),
        at(3, 4, started(2)),
        at(5, 6, gone),
      ],
    },
  ])("$name", ({ operations }) => {
    // Some rows have no operation that ends turn 1, because a turn may complete at any moment.
    expect(longestOrder(operations)).toBe(operations.length);
  });
});

describe("a history has no order", () => {
  it.each([
    {
      name: "if two starts return the same turn",
      operations: [at(0, 5, started(2)), at(1, 6, started(2))],
    },
    {
      name: "if a start is refused although the turn had ended",
      operations: [at(0, 1, cancelled(1)), at(2, 3, refused(1))],
    },
    {
      name: "if a read returns fewer events than an earlier one",
      operations: [at(0, 1, read(9, "running")), at(2, 3, read(8, "running"))],
    },
    {
      name: "if a cancelled turn completes",
      operations: [at(0, 1, cancelled(1)), at(2, 3, read(9, "completed"))],
    },
    {
      name: "if an erased session can be read",
      operations: [at(0, 1, erased), at(2, 3, read(9, "completed"))],
    },
    {
      name: "if the session is gone before the erase",
      operations: [at(0, 1, gone), at(2, 3, erased)],
    },
  ])("$name", ({ operations }) => {
    expect(longestOrder(operations)).toBeLessThan(operations.length);
  });
});
