import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { inject } from "vitest";
import type { QuestionPart } from "../../src/protocol/attachments";

/** Small files that are what they say, and teams that look at them. */

const PNG_HEX =
  "89504e470d0a1a0a0000000d4948445200000001000000010806000000" +
  "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082";

export const PNG = Buffer.from(PNG_HEX, "hex");
export const PDF = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n");
export const GIF = Buffer.from("GIF89a\x01\x00\x01\x00\x00\x00\x00;", "latin1");

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

export const text = (said: string): QuestionPart => ({ type: "text", text: said });
export const image = (bytes: Uint8Array, name?: string): QuestionPart => ({
  type: "image",
  data: base64(bytes),
  ...(name !== undefined && { name }),
});
export const file = (bytes: Uint8Array, name?: string): QuestionPart => ({
  type: "file",
  data: base64(bytes),
  ...(name !== undefined && { name }),
});

const FORMATS = [
  { id: "chat", type: "chatcompletion", path: "/v1" },
  { id: "responses", type: "openai", path: "/v1" },
  { id: "messages", type: "claude", path: "" },
  { id: "gemini", type: "gemini", path: "" },
] as const;

/** An agent of each wire format, all of them the same simulated model. */
export function teamOfAllFormats(model: string): Record<string, unknown> {
  const origin = new URL(inject("providersUrl")).origin;
  const agents = FORMATS.map(({ id, type, path }) => ({
    id,
    backend: { type, model, base_url: `${origin}${path}`, api_key: "caller-key" },
  }));
  return { agents };
}
