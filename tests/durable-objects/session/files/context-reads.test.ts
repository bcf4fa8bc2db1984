import { describe, expect, it } from "vitest";
import { AttachmentStore } from "../../../../durable-objects/session/admission/attachments";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";
import { SessionContexts } from "../../../../durable-objects/session/files/session-contexts";
import type { OpenContext } from "../../../../src/uploads/context-reader";
import { hashOf } from "../../../../src/workspace/snapshot";
import { Shelf } from "./files-session";

/**
 * Requests of one session to R2 and D1. They must run one after the other, because they share the
 * platform's six connections with model calls.
 */

const SITE = { name: "site", version: "v1" };
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
  it("get the files one after the other", async () => {
    const { shelf, contexts, read } = begin();
    await contexts.load([SITE]);
    const found = await Promise.all(Object.values(FILES).map(read));
    expect(found).toEqual(Object.values(FILES).map(bytesOf));
    expect(shelf.counted.maximum).toBe(1);
  });

  it("share one request for the same file, and each gets its own copy of the bytes", async () => {
    const { shelf, contexts, read } = begin();
    await contexts.load([SITE]);
    const found = await Promise.all(Array.from({ length: 6 }, () => read("text 1")));
    expect(shelf.asked).toEqual(["text 1"]);
    for (const bytes of found) {
      expect(bytes).toEqual(bytesOf("text 1"));
      bytes.fill(0);
    }
    expect(await read("text 1")).toEqual(bytesOf("text 1"));
  });
});

it("trees of contexts, their files, and attachments are requested one after the other", async () => {
  const { shelf, storageQueue, contexts, read } = begin();
  shelf.put("v2", { other: "text" });
  await contexts.load([SITE]);
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
    contexts.load([SITE, { name: "docs", version: "v2" }]),
    read("text 2"),
  ]);
  expect(attached).toEqual(bytesOf("came"));
  expect(shelf.counted.maximum).toBe(1);
});
