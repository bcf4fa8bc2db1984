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

describe("an attachment in R2", () => {
  const store = (get: () => Promise<never>) => {
    const unused = () => Promise.reject(new Error("nobody writes"));
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
  ])("is requested again by the next try of the call if R2 $name", async ({ get }) => {
    await expect(store(get).read(IMAGE)).rejects.toMatchObject({
      failureClass: "transient",
      code: "attachment_unreadable",
    });
  });
});
