import { describe, expect, it } from "vitest";
import { attachmentTokens, expectedAttachmentTokens } from "../../src/agents/attached";
import type { Attachment, AttachmentKind } from "../../src/protocol/attachments";
import { teamOf } from "./team-run";

const attachment = (kind: AttachmentKind, size: number, media_type: string = kind): Attachment => ({
  kind,
  name: "a",
  media_type,
  size,
  sha256: "0".repeat(64),
});
const MODEL = "gemini-3.8-flash";
const team = teamOf(["a"]);

describe("the estimated tokens of attachments", () => {
  it.each<{ name: string; attachments: Attachment[]; tokens: number }>([
    { name: "are 0 without attachments", attachments: [], tokens: 0 },
    {
      name: "are 1,500 for an image of any size, and 200 for its text",
      attachments: [attachment("image", 2_000_000)],
      tokens: 1_700,
    },
    {
      name: "are the bytes of a PDF divided by 8",
      attachments: [attachment("pdf", 48_000)],
      tokens: 6_200,
    },
    {
      name: "are the bytes of a text divided by 4",
      attachments: [attachment("text", 8_000)],
      tokens: 2_200,
    },
    {
      name: "are the bytes of an audio file divided by 250",
      attachments: [attachment("audio", 50_000, "audio/mpeg")],
      tokens: 400,
    },
    {
      name: "are the sum of all attachments",
      attachments: [attachment("image", 1), attachment("text", 400)],
      tokens: 2_000,
    },
  ])("$name", ({ attachments, tokens }) =>
    expect(expectedAttachmentTokens(MODEL, attachments)).toBe(tokens),
  );

  it("are far below the upper bound, so that rate limits allow several calls per minute", () => {
    const pdf = [attachment("pdf", 48_000)];
    expect(expectedAttachmentTokens(MODEL, pdf)).toBeLessThan(100_000 / 10);
    expect(attachmentTokens(team, pdf)).toBeGreaterThan(100_000);
  });

  it.each(["image", "pdf", "audio", "text"] as const)(
    "are never above the upper bound, for a %s of any size",
    (kind) => {
      for (const size of [1, 1_000, 100_000, 3_000_000]) {
        const attachments = [attachment(kind, size, kind === "audio" ? "audio/wav" : kind)];
        expect(expectedAttachmentTokens("model-a", attachments)).toBeLessThanOrEqual(
          attachmentTokens(team, attachments),
        );
      }
    },
  );
});
