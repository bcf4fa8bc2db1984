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

describe("what a call will take for what came with the question, at a guess", () => {
  it.each<{ name: string; attachments: Attachment[]; tokens: number }>([
    { name: "is nothing where nothing came", attachments: [], tokens: 0 },
    {
      name: "is some 1,500 tokens for an image, whatever its size",
      attachments: [attachment("image", 2_000_000)],
      tokens: 1_700,
    },
    { name: "is a PDF's bytes by eight", attachments: [attachment("pdf", 48_000)], tokens: 6_200 },
    { name: "is a text's bytes by four", attachments: [attachment("text", 8_000)], tokens: 2_200 },
    {
      name: "is a sound's bytes by 250",
      attachments: [attachment("audio", 50_000, "audio/mpeg")],
      tokens: 400,
    },
    {
      name: "is all of it together",
      attachments: [attachment("image", 1), attachment("text", 400)],
      tokens: 2_000,
    },
  ])("$name", ({ attachments, tokens }) =>
    expect(expectedAttachmentTokens(MODEL, attachments)).toBe(tokens),
  );

  it("leaves room for several calls a minute where the bound would not", () => {
    const pdf = [attachment("pdf", 48_000)];
    expect(expectedAttachmentTokens(MODEL, pdf)).toBeLessThan(100_000 / 10);
    expect(attachmentTokens(team, pdf)).toBeGreaterThan(100_000);
  });

  it.each(["image", "pdf", "audio", "text"] as const)(
    "is never over the bound, for a %s of any size",
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
