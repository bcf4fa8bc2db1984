import { describe, expect, it } from "vitest";
import { AttachmentStore } from "../../../../durable-objects/session/admission/attachments";
import { initialState } from "../../../../durable-objects/session/files/context-states";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";
import { SessionContexts } from "../../../../durable-objects/session/files/session-contexts";
import { READ_AHEAD, STORAGE_CONNECTIONS } from "../../../../durable-objects/shared/object-limits";
import type { OpenContext } from "../../../../src/uploads/context-reader";
import { hashOf } from "../../../../src/workspace/snapshot";
import { Shelf } from "./files-session";

/**
 * Requests of one session to R2 and D1. The platform allows an object only six connections, so the
 * number of requests at the same time is limited.
 */

const SITE = initialState("site", "v1", null);
const FILES = Object.fromEntries([1, 2, 3, 4, 5, 6].map((nth) => [`f${nth}`, `text ${nth}`]));
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Delays reads, and counts how many run at the same time. */
class CountedReads {
  current = 0;
  maximum = 0;

  async slowly<T>(read: () => Promise<T>): Promise<T> {
    this.current += 1;
    this.maximum = Math.max(this.maximum, this.current);
    await new Promise((resolve) => setTimeout(resolve, 2));
    this.current -= 1;
    return read();
  }
}

class SlowShelf extends Shelf {
  readonly counted = new CountedReads();

  override async open(
    tenant: string,
    name: string,
    version: string | null,
  ): Promise<OpenContext | null> {
    const found = await this.counted.slowly(() => super.open(tenant, name, version));
    return found && { ...found, read: (entry) => this.counted.slowly(() => found.read(entry)) };
  }
}

function begin() {
  const shelf = new SlowShelf();
  shelf.put("v1", FILES);
  const storageQueue = new StorageQueue();
  const contexts = new SessionContexts({ reader: shelf, tenant: "t", storageQueue });
  const read = async (text: string) =>
    contexts.read({ hash: await hashOf(bytesOf(text)), size: text.length });
  return { shelf, storageQueue, contexts, read };
}

describe("six agents that read files of a context for the first time", () => {
  it("get four files at a time", async () => {
    const { shelf, contexts, read } = begin();
    await contexts.load(1, [SITE]);
    const found = await Promise.all(Object.values(FILES).map(read));
    expect(found).toEqual(Object.values(FILES).map(bytesOf));
    expect(shelf.counted.maximum).toBe(STORAGE_CONNECTIONS);
  });

  it("share one request for the same file, and each gets its own copy of the bytes", async () => {
    const { shelf, contexts, read } = begin();
    await contexts.load(1, [SITE]);
    const found = await Promise.all(Array.from({ length: 6 }, () => read("text 1")));
    expect(shelf.asked).toEqual(["text 1"]);
    for (const bytes of found) {
      expect(bytes).toEqual(bytesOf("text 1"));
      bytes.fill(0);
    }
    expect(await read("text 1")).toEqual(bytesOf("text 1"));
  });
});

it("trees of contexts, their files, and attachments share the connections of the session", async () => {
  const { shelf, storageQueue, contexts, read } = begin();
  shelf.put("v2", { other: "text" });
  await contexts.load(1, [SITE]);
  const get = () =>
    shelf.counted.slowly(async () => ({ arrayBuffer: async () => bytesOf("came").buffer }));
  const unused = () => Promise.reject(new Error("nothing is written in this test"));
  const bucket = { get, put: unused, delete: unused } as unknown as ConstructorParameters<
    typeof AttachmentStore
  >[0]["bucket"];
  const attachments = new AttachmentStore({
    bucket,
    tenant: "t",
    session: "s",
    readMs: 1_000,
    storageQueue,
  });
  const [attached] = await Promise.all([
    attachments.read({
      kind: "text",
      name: "a.txt",
      media_type: "text/plain",
      size: 4,
      sha256: "a",
    }),
    read("text 1"),
    contexts.load(1, [SITE, initialState("docs", "v2", null)]),
    ...[2, 3, 4, 5].map((nth) => read(`text ${nth}`)),
  ]);
  expect(attached).toEqual(bytesOf("came"));
  expect(shelf.counted.maximum).toBe(STORAGE_CONNECTIONS);
});

describe("a search that reads one file after the other", () => {
  it("reads the next files before it needs them, and each only once", async () => {
    const { shelf, contexts, read } = begin();
    const texts = Array.from({ length: 20 }, (_, nth) => `line ${nth}`);
    shelf.put("v2", Object.fromEntries(texts.map((text, nth) => [`f${100 + nth}`, text])));
    await contexts.load(1, [initialState("docs", "v2", null)]);
    const aheadOf: number[] = [];
    for (const [nth, text] of texts.entries()) {
      expect(await read(text)).toEqual(bytesOf(text));
      aheadOf.push(shelf.asked.length - nth - 1);
    }
    expect(shelf.asked.toSorted()).toEqual(texts.toSorted());
    expect(aheadOf.slice(0, 2)).toEqual([0, 0]);
    expect(Math.max(...aheadOf)).toBeGreaterThan(1);
    expect(Math.max(...aheadOf)).toBeLessThanOrEqual(READ_AHEAD.objects);
    expect(shelf.counted.maximum).toBeLessThanOrEqual(STORAGE_CONNECTIONS);
  });
});
