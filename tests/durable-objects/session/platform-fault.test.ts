import { expect, it } from "vitest";
import { isPlatformFault } from "../../../durable-objects/session/platform-fault";

it.each([
  "Durable Object reset because its code was updated.",
  "The Durable Object's code has been updated, this version can no longer access storage.",
  "Cannot access storage because object has moved to a different machine",
  "Durable Object's isolate exceeded its memory limit and was reset.",
  "internal error; reference = abc123",
  "Durable Object is overloaded. Requests queued for too long.",
  "database or disk is full: SQLITE_FULL",
])("recognizes a fault of the platform: %s", (message) => {
  expect(isPlatformFault(new Error(message))).toBe(true);
  expect(isPlatformFault(new Error("while writing", { cause: new Error(message) }))).toBe(true);
});

it.each([
  "no agent at index 3",
  "the rules do not come to rest",
  "Unexpected token in JSON",
  "operator overloaded twice",
])("recognizes no fault of the platform: %s", (message) => {
  expect(isPlatformFault(new Error(message))).toBe(false);
});

it("recognizes no fault in a value that is not an Error", () =>
  expect(isPlatformFault("Durable Object reset")).toBe(false));
