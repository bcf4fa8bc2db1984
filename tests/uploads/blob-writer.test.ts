import { expect, it } from "vitest";
import { BlobWriter, MAX_PENDING_BYTES } from "../../src/uploads/blob-writer";

/** Whether a caller can add blobs of these sizes without waiting while no put has ended. */
async function canContinue(sizes: readonly number[]): Promise<boolean> {
  const open = Promise.withResolvers<void>();
  const writer = new BlobWriter(() => open.promise);
  const puts = (async () => {
    for (const [index, size] of sizes.entries()) await writer.put(`${index}`, new Uint8Array(size));
    return true;
  })();
  const first = await Promise.race([
    puts,
    new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 5)),
  ]);
  open.resolve();
  await puts;
  await writer.end();
  return first;
}

it.each([
  { name: "can add four small blobs without waiting", sizes: [1, 1, 1, 1], expected: true },
  { name: "waits for a fifth blob", sizes: [1, 1, 1, 1, 1], expected: false },
  {
    name: "can add as many bytes as the limit without waiting",
    sizes: [MAX_PENDING_BYTES - 1, 1],
    expected: true,
  },
  { name: "waits for one byte above the limit", sizes: [MAX_PENDING_BYTES, 1], expected: false },
  {
    name: "waits until a blob above the limit is stored",
    sizes: [MAX_PENDING_BYTES + 1],
    expected: false,
  },
])("a caller of the writer $name", async ({ sizes, expected }) => {
  expect(await canContinue(sizes)).toBe(expected);
});
