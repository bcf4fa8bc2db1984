import { describe, expect, it } from "vitest";
import {
  acceptAttachments,
  AttachmentStore,
  type WantedAttachment,
} from "../../../../durable-objects/session/admission/attachments";
import { StorageQueue } from "../../../../durable-objects/session/files/storage-queue";
import {
  ATTACHMENT_LIMITS,
  type Attachment,
  type AttachmentKind,
} from "../../../../src/protocol/attachments";
import { teamOf } from "../../../agents/team-run";

const team = teamOf(["a"]);

const MEDIA: Record<AttachmentKind, string> = {
  image: "image/png",
  pdf: "application/pdf",
  audio: "audio/wav",
  text: "text/plain",
};
const attachment = (kind: AttachmentKind, size: number, hash = "a"): Attachment => ({
  kind,
  name: `${kind} of ${hash}`,
  media_type: MEDIA[kind],
  size,
  sha256: hash.repeat(64),
});
const brought = (kind: AttachmentKind, size: number): WantedAttachment => ({
  attachment: attachment(kind, size, "b"),
  bytes: new Uint8Array(0),
});
const again = (hash = "a"): WantedAttachment => ({ sha256: hash.repeat(64), name: null });
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const { bytes, textBytes, count } = ATTACHMENT_LIMITS;

describe("what may begin a turn", () => {
  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[] }>([
    { name: "is as much as a question may bring", earlier: [], wanted: [brought("pdf", bytes)] },
    { name: "is as much as that again", earlier: [attachment("pdf", bytes)], wanted: [again()] },
    {
      name: "is half of each",
      earlier: [attachment("pdf", bytes / 2)],
      wanted: [again(), brought("pdf", bytes / 2)],
    },
    {
      name: "is as much text as it may bring",
      earlier: [attachment("text", textBytes)],
      wanted: [again()],
    },
    {
      name: "is as many as there may be",
      earlier: [attachment("image", 1)],
      wanted: times(count, again()),
    },
  ])("$name", ({ earlier, wanted }) => {
    const accepted = acceptAttachments(team, wanted, () => earlier);
    expect(accepted.ok && accepted.attached?.attachments).toHaveLength(wanted.length);
  });

  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[]; excess: object }>([
    {
      name: "is not one large file many times over",
      earlier: [attachment("pdf", bytes)],
      wanted: times(count, again()),
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "is not the most that may be brought and as much again from earlier",
      earlier: [attachment("pdf", bytes)],
      wanted: [brought("pdf", bytes), again()],
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "is not a long text twice",
      earlier: [attachment("text", textBytes)],
      wanted: [again(), again()],
      excess: { limit: "textBytes", most: textBytes },
    },
    {
      name: "is not one more than there may be",
      earlier: [attachment("image", 1)],
      wanted: times(count + 1, again()),
      excess: { limit: "count", most: count },
    },
  ])("$name", ({ earlier, wanted, excess }) => {
    expect(acceptAttachments(team, wanted, () => earlier)).toEqual({
      ok: false,
      code: "attachments_too_large",
      excess,
    });
  });

  it("is refused where the team cannot take what an earlier turn brought", () => {
    const [agent] = team.agents;
    const blind = {
      ...team,
      agents: agent ? [{ ...agent, backend: { ...agent.backend, model: "gpt-oss-120b" } }] : [],
    };
    expect(acceptAttachments(blind, [again()], () => [attachment("image", 1)])).toMatchObject({
      code: "attachment_refused",
      refused: [{ agent: "a", model: "gpt-oss-120b", mediaType: "image/png" }],
    });
    expect(acceptAttachments(blind, [again()], () => [attachment("text", 1)])).toMatchObject({
      ok: true,
    });
  });

  it("is looked up in the session once, however much is named again", () => {
    let reads = 0;
    const earlier = () => {
      reads += 1;
      return [attachment("image", 1)];
    };
    acceptAttachments(team, times(count, again()), earlier);
    expect(reads).toBe(1);
    acceptAttachments(team, [brought("image", 1)], earlier);
    expect(reads).toBe(1);
  });
});

describe("what lies in R2", () => {
  const store = (get: () => Promise<never>) => {
    const unused = () => Promise.reject(new Error("nobody writes"));
    const bucket = { get, put: unused, delete: unused };
    return new AttachmentStore({
      bucket,
      tenant: "t",
      session: "s",
      turns: new StorageQueue(),
      readMs: 20,
    });
  };

  it.each([
    { name: "does not answer", get: () => new Promise<never>(() => undefined) },
    { name: "cannot be reached", get: () => Promise.reject(new Error("internal error")) },
  ])("is asked for again by another try of the call where it $name", async ({ get }) => {
    await expect(store(get).read(attachment("image", 1))).rejects.toMatchObject({
      failureClass: "transient",
      code: "attachment_unreadable",
    });
  });
});
