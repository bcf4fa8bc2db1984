import { describe, expect, it } from "vitest";
import { detectMedia } from "../../src/workspace/detect-media";
import { MP3, MP3_FRAME, wav } from "../api/sessions/attachments";

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
/** An Ogg file: the header of its first page, and the codec's name. */
const ogg = (codec: string): Buffer =>
  Buffer.concat([latin1("OggS"), Buffer.alloc(24), latin1(codec), Buffer.alloc(8)]);
/** An ID3 tag of 128 bytes, as before the audio of an MP3. */
const TAG = Buffer.concat([latin1("ID3\x04\x00\x00\x00\x00\x01\x00"), Buffer.alloc(128)]);
/** Two equal MP3 frames. `header` in hex; `bytes` is the size of a frame. */
const frames = (header: string, bytes: number): Buffer => {
  const frame = Buffer.concat([Buffer.from(header, "hex"), Buffer.alloc(bytes - 4)]);
  return Buffer.concat([frame, frame]);
};
/** A WAV with an additional chunk before its audio data. */
const withChunk = (name: string, chunk: Buffer): Buffer => {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(chunk.length);
  return Buffer.concat([wav().subarray(0, 36), latin1(name), size, chunk, wav().subarray(36)]);
};
/** A WAV whose format tag is in the extended header. */
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
      input: wav(),
      mediaType: "audio/wav",
    },
    {
      name: "the smallest WAV, 8 bits at 8 kHz",
      input: wav({ rate: 8_000, bits: 8 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV of floating point in stereo",
      input: wav({ tag: 3, channels: 2, bits: 32 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV of mu-law from a telephone",
      input: wav({ tag: 7, rate: 8_000, bits: 8 }),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV with an extended header",
      input: extensible(1),
      mediaType: "audio/wav",
    },
    {
      name: "a WAV with metadata before its audio data",
      input: withChunk("LIST", Buffer.alloc(7 + 1)),
      mediaType: "audio/wav",
    },
    { name: "an MP3", input: MP3, mediaType: "audio/mpeg" },
    { name: "an MP3 after an ID3 tag", input: Buffer.concat([TAG, MP3]), mediaType: "audio/mpeg" },
    {
      name: "an MP3 of one frame after an ID3 tag",
      input: Buffer.concat([TAG, MP3_FRAME]),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 after padding that the tag's size does not include",
      input: Buffer.concat([TAG, Buffer.alloc(9), MP3]),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 of MPEG 2 at 24 kHz with the lowest bit rate",
      input: frames("fff31400", 24),
      mediaType: "audio/mpeg",
    },
    {
      name: "an MP3 of MPEG 2.5 at 8 kHz with the lowest bit rate",
      input: frames("ffe31800", 72),
      mediaType: "audio/mpeg",
    },
    { name: "an Ogg of Vorbis", input: ogg("\x01vorbis"), mediaType: "audio/ogg" },
    { name: "an Ogg of Opus", input: ogg("OpusHead"), mediaType: "audio/ogg" },
    { name: "a FLAC", input: latin1("fLaC\x00\x00\x00\x22"), mediaType: "audio/flac" },
  ])("$name", ({ input, mediaType }) =>
    expect(detectMedia(input, undefined)).toEqual({ kind: "audio", mediaType }),
  );

  it("is detected by its bytes, for any declared type", () => {
    expect(detectMedia(MP3, "audio/wav")).toEqual({ kind: "audio", mediaType: "audio/mpeg" });
    expect(detectMedia(latin1("la la"), "audio/mpeg")).toEqual({
      kind: "text",
      mediaType: "text/plain",
    });
  });
});

describe("audio without an upper bound of tokens is refused", () => {
  it.each([
    { name: "a WAV with a compressing codec", input: wav({ tag: 0x31, bits: 8 }) },
    { name: "a WAV with very few bytes a second", input: wav({ rate: 100, bits: 8 }) },
    { name: "a WAV without a channel", input: wav({ channels: 0 }) },
    { name: "a compressed WAV with an extended header", input: extensible(0x55) },
    { name: "a WAV with two headers", input: withChunk("fmt ", wav().subarray(20, 36)) },
    { name: "a WAV without audio data", input: wav().subarray(0, 36) },
    { name: "a WAV with an incomplete header", input: wav().subarray(0, 30) },
    { name: "an MP3 with a free bit rate", input: frames("fffb0000", 417) },
    { name: "an MP3 with an invalid bit rate", input: frames("fffbf000", 417) },
    { name: "MPEG of layer II", input: frames("fffd9000", 417) },
    { name: "AAC, whose frame headers resemble those of MP3", input: frames("fff19000", 417) },
    {
      name: "one MP3 frame before other bytes",
      input: Buffer.concat([MP3_FRAME, latin1("\x00\x01\x02\x03")]),
    },
    { name: "one MP3 frame without a tag", input: MP3_FRAME },
    { name: "an ID3 tag without an MP3", input: Buffer.concat([TAG, latin1("\x00\x00no sound")]) },
    { name: "an invalid ID3 tag", input: latin1("ID3\x04\x00\x00\xff\xff\xff\xff") },
    { name: "an Ogg with video", input: ogg("\x80theora") },
    { name: "a video", input: latin1("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00") },
  ])("$name", ({ input }) => expect(detectMedia(input, undefined)).toBeNull());

  it("a sentence about tags is text", () => {
    expect(detectMedia(latin1("ID3 tags name the singer."), undefined)).toEqual({
      kind: "text",
      mediaType: "text/plain",
    });
  });
});
