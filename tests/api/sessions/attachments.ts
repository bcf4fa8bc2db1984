import { Buffer } from "node:buffer";
import { inject } from "vitest";
import type { QuestionPart } from "../../../src/protocol/attachments";

/** Small valid files, parts of questions with these files, and teams that read them. */

const PNG_HEX =
  "89504e470d0a1a0a0000000d4948445200000001000000010806000000" +
  "1f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082";

export const PNG = Buffer.from(PNG_HEX, "hex");
export const PDF = Buffer.from(
  "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n",
);
export const GIF = Buffer.from("GIF89a\x01\x00\x01\x00\x00\x00\x00;", "latin1");

/** A silent PCM WAV. `data`: number of bytes after the header. */
export function wav({ tag = 1, channels = 1, rate = 24_000, bits = 16, data = 8 } = {}): Buffer {
  const bytesPerFrame = channels * Math.ceil(bits / 8);
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(0xffff_ffff, 4); // the size that servers send if they do not know it yet
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate * bytesPerFrame, 28);
  header.writeUInt16LE(bytesPerFrame, 32);
  header.writeUInt16LE(bits, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(0xffff_ffff, 40);
  return Buffer.concat([header, Buffer.alloc(data)]);
}

/** Two frames of MPEG 1, layer III, 128 kbit/s at 44.1 kHz, which are 417 bytes each. */
export const MP3_FRAME = Buffer.concat([Buffer.from("fffb9000", "hex"), Buffer.alloc(413)]);
export const MP3 = Buffer.concat([MP3_FRAME, MP3_FRAME]);

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export const text = (content: string): QuestionPart => ({ type: "text", text: content });
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

/** A team with one agent for each wire format. All agents have the same simulated model. */
export function teamOfAllFormats(model: string): {
  agents: { id: string; backend: Record<string, unknown> }[];
} {
  const origin = new URL(inject("providersUrl")).origin;
  const agents = FORMATS.map(({ id, type, path }) => ({
    id,
    backend: { type, model, base_url: `${origin}${path}`, api_key: "caller-key" },
  }));
  return { agents };
}
