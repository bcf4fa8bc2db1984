import { describe, expect, it } from "vitest";
import { AttachmentStore } from "../../../../durable-objects/session/admission/attachments";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";
import type { Attachment } from "../../../../src/protocol/attachments";

const IMAGE: Attachment = {
  kind: "image",
  name: "image of a",
  media_type: "image/png",
  size: 1,
  sha256: "a".repeat(64),
};

describe("the read of an attachment in R2", () => {
  const storeWith = (get: () => Promise<never>) => {
    const unused = () => Promise.reject(new Error("nothing is written in this test"));
    const bucket = { get, put: unused, delete: unused };
    return new AttachmentStore({
      bucket,
      tenant: "t",
      session: "s",
      storageQueue: new StorageQueue(),
      readMs: 20,
    });
  };

  it.each([
    { name: "does not answer", get: () => new Promise<never>(() => undefined) },
    { name: "cannot be reached", get: () => Promise.reject(new Error("internal error")) },
  ])("fails as transient if R2 $name, so that the call is tried again", async ({ get }) => {
    await expect(storeWith(get).read(IMAGE)).rejects.toMatchObject({
      failureClass: "transient",
      code: "attachment_unreadable",
    });
  });
});
