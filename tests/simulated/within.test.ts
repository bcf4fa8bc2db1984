import { expect, it } from "vitest";
import { within } from "../../simulated/service/within";

const never = new Promise<never>(() => {});

it("gives what the work gives, also what it throws", async () => {
  expect(await within(1_000, "seven", Promise.resolve(7))).toBe(7);
  await expect(within(1_000, "seven", Promise.reject(new Error("no seven")))).rejects.toThrow(
    "no seven",
  );
});

it("names what it waited for if it times out", async () => {
  await expect(within(5, "a word", never)).rejects.toThrow(
    "Timed out after 5 ms: waited for a word.",
  );
});
