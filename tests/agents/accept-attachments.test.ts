import { describe, expect, it } from "vitest";
import { acceptAttachments, type WantedAttachment } from "../../src/agents/attached";
import {
  ATTACHMENT_LIMITS,
  type Attachment,
  type AttachmentKind,
} from "../../src/protocol/attachments";
import { teamOf } from "./team-run";

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
const newAttachment = (kind: AttachmentKind, size: number): WantedAttachment => ({
  attachment: attachment(kind, size, "b"),
  bytes: new Uint8Array(0),
});
const repeated = (hash = "a"): WantedAttachment => ({ sha256: hash.repeat(64), name: null });
const repeatItem = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

const { bytes, textBytes, count } = ATTACHMENT_LIMITS;

describe("the attachments of a new turn", () => {
  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[] }>([
    {
      name: "are accepted up to the limit of one question",
      earlier: [],
      wanted: [newAttachment("pdf", bytes)],
    },
    {
      name: "are accepted up to the same limit if they repeat attachments of earlier turns",
      earlier: [attachment("pdf", bytes)],
      wanted: [repeated()],
    },
    {
      name: "are accepted up to the limit if half of them are new and half are from earlier turns",
      earlier: [attachment("pdf", bytes / 2)],
      wanted: [repeated(), newAttachment("pdf", bytes / 2)],
    },
    {
      name: "are accepted up to the limit of text bytes",
      earlier: [attachment("text", textBytes)],
      wanted: [repeated()],
    },
    {
      name: "are accepted up to the maximum number",
      earlier: [attachment("image", 1)],
      wanted: repeatItem(count, repeated()),
    },
  ])("$name", ({ earlier, wanted }) => {
    const accepted = acceptAttachments(team, wanted, () => earlier);
    expect(accepted.ok && accepted.attached?.attachments).toHaveLength(wanted.length);
  });

  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[]; excess: object }>([
    {
      name: "are refused if one large file is repeated many times",
      earlier: [attachment("pdf", bytes)],
      wanted: repeatItem(count, repeated()),
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "are refused if new and repeated attachments together exceed the limit",
      earlier: [attachment("pdf", bytes)],
      wanted: [newAttachment("pdf", bytes), repeated()],
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "are refused if a long text is repeated",
      earlier: [attachment("text", textBytes)],
      wanted: [repeated(), repeated()],
      excess: { limit: "textBytes", most: textBytes },
    },
    {
      name: "are refused beyond the maximum number",
      earlier: [attachment("image", 1)],
      wanted: repeatItem(count + 1, repeated()),
      excess: { limit: "count", most: count },
    },
  ])("$name", ({ earlier, wanted, excess }) => {
    expect(acceptAttachments(team, wanted, () => earlier)).toEqual({
      ok: false,
      code: "attachments_too_large",
      excess,
    });
  });

  it("are refused if the team does not support an earlier turn's attachment", () => {
    const [agent] = team.agents;
    const textOnlyTeam = {
      ...team,
      agents: agent ? [{ ...agent, backend: { ...agent.backend, model: "gpt-oss-120b" } }] : [],
    };
    expect(
      acceptAttachments(textOnlyTeam, [repeated()], () => [attachment("image", 1)]),
    ).toMatchObject({
      code: "attachment_refused",
      refused: [{ agent: "a", model: "gpt-oss-120b", mediaType: "image/png" }],
    });
    expect(
      acceptAttachments(textOnlyTeam, [repeated()], () => [attachment("text", 1)]),
    ).toMatchObject({
      ok: true,
    });
  });

  it("are looked up in the session at most once, and only if one is repeated", () => {
    let reads = 0;
    const earlier = () => {
      reads += 1;
      return [attachment("image", 1)];
    };
    acceptAttachments(team, repeatItem(count, repeated()), earlier);
    expect(reads).toBe(1);
    acceptAttachments(team, [newAttachment("image", 1)], earlier);
    expect(reads).toBe(1);
  });
});
