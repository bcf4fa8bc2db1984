import { expect, it } from "vitest";
import { BlobWriter, MAX_PENDING_BYTES } from "../../src/uploads/blob-writer";

/** Whether a producer of blobs of these sizes may continue while all puts are open. */
async function goesOnBesides(sizes: readonly number[]): Promise<boolean> {
  const open = Promise.withResolvers<void>();
  const writer = new BlobWriter(() => open.promise);
  const puts = (async () => {
    for (const [nth, size] of sizes.entries()) await writer.put(`${nth}`, new Uint8Array(size));
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
  { name: "four small blobs are stored concurrently", sizes: [1, 1, 1, 1], then: true },
  { name: "a fifth blob waits", sizes: [1, 1, 1, 1, 1], then: false },
  {
    name: "the limit of bytes is stored concurrently",
    sizes: [MAX_PENDING_BYTES - 1, 1],
    then: true,
  },
  { name: "a byte more waits", sizes: [MAX_PENDING_BYTES, 1], then: false },
  {
    name: "a blob above the limit is stored before the next is prepared",
    sizes: [MAX_PENDING_BYTES + 1],
    then: false,
  },
])("for a producer of blobs, $name", async ({ sizes, then }) => {
  expect(await goesOnBesides(sizes)).toBe(then);
});
