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
const again = (hash = "a"): WantedAttachment => ({ sha256: hash.repeat(64), name: null });
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

const { bytes, textBytes, count } = ATTACHMENT_LIMITS;

describe("the attachments of a new turn", () => {
  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[] }>([
    {
      name: "are accepted up to the limit of one question",
      earlier: [],
      wanted: [newAttachment("pdf", bytes)],
    },
    {
      name: "are accepted with as much again from earlier turns",
      earlier: [attachment("pdf", bytes)],
      wanted: [again()],
    },
    {
      name: "are accepted half new, half from earlier turns",
      earlier: [attachment("pdf", bytes / 2)],
      wanted: [again(), newAttachment("pdf", bytes / 2)],
    },
    {
      name: "are accepted up to the limit of text",
      earlier: [attachment("text", textBytes)],
      wanted: [again()],
    },
    {
      name: "are accepted up to the limit of their number",
      earlier: [attachment("image", 1)],
      wanted: times(count, again()),
    },
  ])("$name", ({ earlier, wanted }) => {
    const accepted = acceptAttachments(team, wanted, () => earlier);
    expect(accepted.ok && accepted.attached?.attachments).toHaveLength(wanted.length);
  });

  it.each<{ name: string; earlier: Attachment[]; wanted: WantedAttachment[]; excess: object }>([
    {
      name: "are refused if one large file is repeated many times",
      earlier: [attachment("pdf", bytes)],
      wanted: times(count, again()),
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "are refused at the limit of one question plus as much from earlier turns and more",
      earlier: [attachment("pdf", bytes)],
      wanted: [newAttachment("pdf", bytes), again()],
      excess: { limit: "bytes", most: bytes },
    },
    {
      name: "are refused if a long text is repeated",
      earlier: [attachment("text", textBytes)],
      wanted: [again(), again()],
      excess: { limit: "textBytes", most: textBytes },
    },
    {
      name: "are refused beyond the limit of their number",
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

  it("are refused if the team does not support an earlier turn's attachment", () => {
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

  it("are looked up once in the session, however often they are named", () => {
    let reads = 0;
    const earlier = () => {
      reads += 1;
      return [attachment("image", 1)];
    };
    acceptAttachments(team, times(count, again()), earlier);
    expect(reads).toBe(1);
    acceptAttachments(team, [newAttachment("image", 1)], earlier);
    expect(reads).toBe(1);
  });
});
