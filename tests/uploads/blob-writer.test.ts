import { expect, it } from "vitest";
import { BlobWriter, ON_THEIR_WAY_BYTES } from "../../src/uploads/blob-writer";

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
  { name: "four small ones may be on their way", sizes: [1, 1, 1, 1], then: true },
  { name: "a fifth waits for them", sizes: [1, 1, 1, 1, 1], then: false },
  {
    name: "as many bytes as may be on their way are",
    sizes: [ON_THEIR_WAY_BYTES - 1, 1],
    then: true,
  },
  { name: "a byte more waits for them", sizes: [ON_THEIR_WAY_BYTES, 1], then: false },
  {
    name: "what is larger by itself is stored before anything else is made ready",
    sizes: [ON_THEIR_WAY_BYTES + 1],
    then: false,
  },
])("of blobs that are stored $name", async ({ sizes, then }) => {
  expect(await goesOnBesides(sizes)).toBe(then);
});
