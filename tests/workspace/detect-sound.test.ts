import { describe, expect, it } from "vitest";
import { detectMedia } from "../../src/workspace/detect-media";
import { MP3, MP3_FRAME, wav } from "../api/sessions/attachments";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
/** The header of the first page of an Ogg, and the start of its packet. */
const ogg = (codec: string): Buffer =>
  Buffer.concat([latin1("OggS"), Buffer.alloc(24), latin1(codec), Buffer.alloc(8)]);
/** A tag of 128 bytes before the sound. */
const TAG = Buffer.concat([latin1("ID3\x04\x00\x00\x00\x00\x01\x00"), Buffer.alloc(128)]);
const frames = (head: string, bytes: number): Buffer => {
  const one = Buffer.concat([Buffer.from(head, "hex"), Buffer.alloc(bytes - 4)]);
  return Buffer.concat([one, one]);
};
/** A WAV with a chunk between its head and its sound. */
const withChunk = (name: string, chunk: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunk.length);
  return Buffer.concat([wav().subarray(0, 36), latin1(name), size, chunk, wav().subarray(36)]);
};
const extensible = (tag: number): Buffer => {
  const plain = wav({ tag: 0xfffe });
  plain.writeUInt32LE(40, 16);
  const more = Buffer.alloc(24);
  more.writeUInt16LE(tag, 8);
  return Buffer.concat([plain.subarray(0, 36), more, plain.subarray(36)]);
};

describe("accepted audio", () => {
  it.each([
    {
      name: "a PCM WAV whose header does not know its length",
      given: wav(),
      mediaType: "audio/wav",
    },
    {
      name: "the smallest WAV, 8 bits at 8 kHz",
      given: wav({ rate: 8_000, bits: 8 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV of floating point in stereo",
      given: wav({ tag: 3, channels: 2, bits: 32 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV of mu-law from a telephone",
      given: wav({ tag: 7, rate: 8_000, bits: 8 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV with an extended header",
      given: extensible(1),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV with its title before its sound",
      given: withChunk("LIST", Buffer.alloc(7 + 1)),
      mediaType: "audio/wav",
    },
    { name: "an MP3", given: MP3, mediaType: "audio/mpeg" },
    { name: "an MP3 after its title", given: Buffer.concat([TAG, MP3]), mediaType: "audio/mpeg" },
    {
      name: "an MP3 of one frame after its title",
      given: Buffer.concat([TAG, MP3_FRAME]),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 after zeros that its title does not count",
      given: Buffer.concat([TAG, Buffer.alloc(9), MP3]),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 of MPEG 2 at 24 kHz with the lowest bit rate",
      given: frames("fff31400", 24),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 of MPEG 2.5 at 8 kHz with the lowest bit rate",
      given: frames("ffe31800", 72),
      mediaType: "audio/mpeg",
    },
    { name: "an Ogg of Vorbis", given: ogg("\x01vorbis"), mediaType: "audio/ogg" },
    { name: "an Ogg of Opus", given: ogg("OpusHead"), mediaType: "audio/ogg" },
    { name: "a FLAC", given: latin1("fLaC\x00\x00\x00\x22"), mediaType: "audio/flac" },
  ])("$name", ({ given, mediaType }) =>
    expect(detectMedia(given, undefined)).toEqual({ kind: "audio", mediaType }),
  );

  it("is detected by its bytes, for any type that the client names", () => {
    expect(detectMedia(MP3, "audio/wav")).toEqual({ kind: "audio", mediaType: "audio/mpeg" });
    expect(detectMedia(latin1("la la"), "audio/mpeg")).toEqual({
      kind: "text",
      mediaType: "text/plain",
    });
  });
});

describe("audio without an upper bound of tokens is refused", () => {
  it.each([
    { name: "a WAV of a codec that compresses", given: wav({ tag: 0x31, bits: 8 }) },
    { name: "a WAV with very few bytes a second", given: wav({ rate: 100, bits: 8 }) },
    { name: "a WAV of no channel", given: wav({ channels: 0 }) },
    { name: "a compressed WAV with an extended header", given: extensible(0x55) },
    { name: "a WAV with two headers", given: withChunk("fmt ", wav().subarray(20, 36)) },
    { name: "a WAV without sound", given: wav().subarray(0, 36) },
    { name: "a WAV cut in its header", given: wav().subarray(0, 30) },
    { name: "an MP3 of a free bit rate", given: frames("fffb0000", 417) },
    { name: "an MP3 of no bit rate", given: frames("fffbf000", 417) },
    { name: "MPEG of layer II", given: frames("fffd9000", 417) },
    { name: "AAC, whose marks are similar to those of MP3", given: frames("fff19000", 417) },
    {
      name: "one mark of an MP3 in noise",
      given: Buffer.concat([MP3_FRAME, latin1("\x00\x01\x02\x03")]),
    },
    { name: "one frame without a title", given: MP3_FRAME },
    { name: "a title without an MP3", given: Buffer.concat([TAG, latin1("\x00\x00no sound")]) },
    { name: "a title that is broken", given: latin1("ID3\x04\x00\x00\xff\xff\xff\xff") },
    { name: "an Ogg with pictures", given: ogg("\x80theora") },
    { name: "a video", given: latin1("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00") },
  ])("$name", ({ given }) => expect(detectMedia(given, undefined)).toBeNull());

  it("a sentence about tags is text", () => {
    expect(detectMedia(latin1("ID3 tags name the singer."), undefined)).toEqual({
      kind: "text",
      mediaType: "text/plain",
    });
  });
});
