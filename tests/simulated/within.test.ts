import { expect, it } from "vitest";
import { within } from "../../simulated/service/within";

const never = new Promise<never>(() => {});

it("returns the result of the work, or throws the error of the work", async () => {
  expect(await within(1_000, "seven", Promise.resolve(7))).toBe(7);
  await expect(within(1_000, "seven", Promise.reject(new Error("no seven")))).rejects.toThrow(
    "no seven",
  );
});

it("names the work in its error after a timeout", async () => {
  await expect(within(5, "a word", never)).rejects.toThrow(
    "Timed out after 5 ms: waited for a word.",
  );
});
