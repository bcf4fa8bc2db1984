import { expect, it } from "vitest";
import { checkedSize } from "../../local/bundle/bundle-size";

const MIB = 1024 * 1024;

it("returns the bundle's size, raw and compressed", () => {
  expect(checkedSize({ raw: 2 * MIB, gzip: 3 * MIB })).toBe(
    "Bundle: 2048 KiB raw, 3072 KiB gzip (limit 3072 KiB gzip)",
  );
});

it("rejects a bundle that is one byte too large when compressed", () => {
  expect(() => checkedSize({ raw: 9 * MIB, gzip: 3 * MIB + 1 })).toThrow(
    /3073 KiB gzip.*\n.*too large/,
  );
});
