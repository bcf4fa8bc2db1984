import { expect, it } from "vitest";
import { checkedSize } from "../../local/bundle/bundle-size";

const MIB = 1024 * 1024;

it("says how large the bundle is, raw and compressed", () => {
  expect(checkedSize({ raw: 2 * MIB, gzip: 3 * MIB })).toBe(
    "Bundle: 2048 KiB raw, 3072 KiB gzip (limit 3072 KiB gzip)",
  );
});

it("refuses a bundle that compresses to one byte too much", () => {
  expect(() => checkedSize({ raw: 9 * MIB, gzip: 3 * MIB + 1 })).toThrow(
    /3073 KiB gzip.*\n.*too large/,
  );
});
