import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../local/sha256";
import { pacedPut } from "../../r2-layout/paced-bucket";
import { nextMacrotask } from "../../src/async/sleep";

const IF_NEW = { onlyIf: { etagDoesNotMatch: "*" } };
const MB = 1024 * 1024;
const bytesOf = (length: number): Uint8Array<ArrayBuffer> =>
  Uint8Array.from({ length }, (_, index) => (index * 31 + (index >> 8)) % 256);
const storedBytes = async (key: string): Promise<Uint8Array> => {
  const object = await env.BUCKET.get(key);
  if (!object) throw new Error(`${key} is not stored`);
  return new Uint8Array(await object.arrayBuffer());
};

describe("a paced write", () => {
  it.each([0, 1, 128 * 1024, 128 * 1024 + 1, 3 * MB])("stores all of %i bytes", async (length) => {
    const bytes = bytesOf(length);
    const put = await pacedPut(env.BUCKET, `paced/${length}`, bytes, {
      ...IF_NEW,
      sha256: sha256(bytes),
    });
    expect(put?.size).toBe(length);
    expect(sha256(await storedBytes(`paced/${length}`))).toBe(sha256(bytes));
  });

  it("stores a text as UTF-8", async () => {
    const text = "é😀".repeat(100_000);
    await pacedPut(env.BUCKET, "paced/text", text, IF_NEW);
    expect(new TextDecoder().decode(await storedBytes("paced/text"))).toBe(text);
  });

  it("lets other work run between its pieces", async () => {
    let turns = 0;
    let isDone = false;
    const others = (async () => {
      for (; !isDone; turns += 1) await nextMacrotask();
    })();
    await pacedPut(env.BUCKET, "paced/others", bytesOf(4 * MB), IF_NEW);
    isDone = true;
    await others;
    expect(turns).toBeGreaterThan(16);
  });

  it("returns null for an existing object, and does not change the object", async () => {
    const before = bytesOf(2 * MB);
    await pacedPut(env.BUCKET, "paced/twice", before, IF_NEW);
    expect(await pacedPut(env.BUCKET, "paced/twice", new Uint8Array(2 * MB), IF_NEW)).toBeNull();
    expect(sha256(await storedBytes("paced/twice"))).toBe(sha256(before));
  });

  it("rejects contents with another hash, and stores nothing", async () => {
    const wrong = { ...IF_NEW, sha256: sha256(bytesOf(1)) };
    await expect(pacedPut(env.BUCKET, "paced/wrong", bytesOf(2 * MB), wrong)).rejects.toThrow();
    expect(await env.BUCKET.head("paced/wrong")).toBeNull();
  });

  it("fails if the bucket fails before it has read all bytes", async () => {
    const failing = { put: () => Promise.reject(new Error("R2 is away")) };
    await expect(
      pacedPut(failing as never, "paced/failed", bytesOf(2 * MB), IF_NEW),
    ).rejects.toThrow("R2 is away");
  });
});
