import { expect, it } from "vitest";
import { ExpectedBlobs } from "../../src/uploads/expected-blobs";

const blobs = new Map([["hash", 1]]);

it("the blobs of the two latest uploads are read once, and per tenant", async () => {
  const expected = new ExpectedBlobs();
  const reads: string[] = [];
  const ask = (tenant: string, version: string) =>
    expected.of({ tenant, version }, async () => {
      reads.push(`${tenant} ${version}`);
      return blobs;
    });
  for (const [tenant, version] of [
    ["a", "v1"],
    ["a", "v1"],
    ["b", "v1"],
    ["a", "v1"],
    ["a", "v2"],
    ["a", "v1"],
    ["b", "v1"],
  ] as const)
    expect(await ask(tenant, version)).toBe(blobs);
  expect(reads).toEqual(["a v1", "b v1", "a v2", "b v1"]);
});

it("a missing manifest is not remembered", async () => {
  const expected = new ExpectedBlobs();
  const place = { tenant: "a", version: "v1" };
  expect(await expected.of(place, async () => null)).toBeNull();
  expect(await expected.of(place, async () => blobs)).toBe(blobs);
});
