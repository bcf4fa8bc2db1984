import type { AttachmentKind } from "../protocol/attachments";
import { hasSignature, isText, normalizedType, typeBySignature } from "./media-type";

/** Detects media types of attachments from their first bytes, not from the declared type. */

const KIND_BY_TYPE: ReadonlyMap<string, AttachmentKind> = new Map([
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["application/pdf", "pdf"],
]);

/** The media type for bytes of any kind. */
const ANY_BYTES = "application/octet-stream";
const TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

/**
 * The declared type in its normal spelling, without parameters; `undefined` if it is missing or
 * means bytes of any kind.
 */
export function declaredType(type: string | undefined): string | undefined {
  const normalized = normalizedType(type ?? "");
  return normalized === "" || normalized === ANY_BYTES ? undefined : normalized;
}

type DetectedMedia = { kind: AttachmentKind; mediaType: string };

/**
 * Determines the kind and the media type of the bytes; `null` if they are not supported.
 * `declared`: the type in the request, in its normal spelling. Text keeps any declared type that
 * does not belong to another format, because only models see this type.
 */
export function detectMedia(bytes: Uint8Array, declared: string | undefined): DetectedMedia | null {
  const signatureType = typeBySignature(bytes);
  const kind = signatureType === null ? undefined : KIND_BY_TYPE.get(signatureType);
  if (signatureType !== null && kind) return { mediaType: signatureType, kind };
  const audio = audioType(bytes);
  if (audio !== null) return { mediaType: audio, kind: "audio" };
  if (!isText(bytes)) return null;
  const canKeepType =
    declared !== undefined &&
    TYPE.test(declared) &&
    !hasSignature(declared) &&
    !isAudioType(declared);
  return { kind: "text", mediaType: canKeepType ? declared : "text/plain" };
}

/**
 * The supported audio types, detected from their headers. The size of such a file limits its
 * duration, because the format has a known minimum of bytes per second.
 */
const AUDIO_TYPES = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"] as const;
type AudioType = (typeof AUDIO_TYPES)[number];

/** Whether this is one of the audio types that are detected from bytes. */
const isAudioType = (mediaType: string): boolean => AUDIO_TYPES.some((type) => type === mediaType);

/**
 * Minimum rate of a WAV file: 8 bits at 8 kHz. Lower rates are refused, because the estimate of
 * tokens relies on this minimum.
 */
const MIN_WAV_BYTES_PER_SECOND = 8_000;

/**
 * The audio type; `null` for other bytes and for formats that are not supported: WAV that is not
 * PCM, MP3 with a free bit rate, Ogg with video.
 */
function audioType(bytes: Uint8Array): AudioType | null {
  if (hasTextAt(bytes, 0, "fLaC")) return "audio/flac";
  if (hasTextAt(bytes, 0, "OggS"))
    return OGG_AUDIO_CODECS.some((codec) => hasTextAt(bytes, OGG_CODEC_OFFSET, codec))
      ? "audio/ogg"
      : null;
  if (hasTextAt(bytes, 0, "RIFF") && hasTextAt(bytes, 8, "WAVE"))
    return isSupportedWav(bytes) ? "audio/wav" : null;
  return isMp3(bytes) ? "audio/mpeg" : null;
}

const hasTextAt = (bytes: Uint8Array, at: number, word: string): boolean =>
  bytes.length >= at + word.length &&
  [...word].every((letter, index) => bytes[at + index] === letter.charCodeAt(0));

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Offset of the codec's name. It follows the header of the first page, which has one segment. */
const OGG_CODEC_OFFSET = 28;
const OGG_AUDIO_CODECS = ["\x01vorbis", "OpusHead"];

/** Maximum number of chunks before the audio data. */
const MAX_CHUNKS = 64;
/** Formats with a constant number of bytes per second: PCM, floating point, A-law, mu-law. */
const CONSTANT_RATE_TAGS: ReadonlySet<number> = new Set([1, 3, 6, 7]);
const EXTENSIBLE_TAG = 0xfffe;

function isSupportedWav(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let hasValidFormat: boolean | null = null;
  let at = 12;
  for (let chunks = 0; chunks < MAX_CHUNKS && at + 8 <= bytes.length; chunks += 1) {
    if (hasTextAt(bytes, at, "data")) return hasValidFormat === true;
    const size = view.getUint32(at + 4, true);
    if (hasTextAt(bytes, at, "fmt ")) {
      // A second format chunk could contradict the first.
      if (hasValidFormat !== null) return false;
      hasValidFormat = isSupportedFormat(view, at + 8, size);
    }
    at += 8 + size + (size % 2);
  }
  return false;
}

function isSupportedFormat(view: DataView, at: number, size: number): boolean {
  if (size < 16 || at + size > view.byteLength) return false;
  const format = view.getUint16(at, true);
  const tag = format === EXTENSIBLE_TAG && size >= 26 ? view.getUint16(at + 24, true) : format;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const frameSize = channels * Math.ceil(view.getUint16(at + 14, true) / 8);
  return (
    CONSTANT_RATE_TAGS.has(tag) &&
    frameSize === view.getUint16(at + 12, true) &&
    rate * frameSize >= MIN_WAV_BYTES_PER_SECOND
  );
}

/** Maximum number of ID3 tags before the audio. */
const MAX_TAGS = 4;

/**
 * Whether the bytes begin with two consecutive frames of layer III, or with tags and a single
 * frame. One frame header alone also occurs by chance in other data.
 */
function isMp3(bytes: Uint8Array): boolean {
  const start = audioOffset(bytes);
  if (start === null) return false;
  const first = frameBytes(bytes, start);
  if (first === null) return false;
  const second = start + first;
  return second >= bytes.length ? start > 0 : frameBytes(bytes, second) !== null;
}

/** Offset of the audio after all ID3 tags; `null` if a tag is invalid. */
function audioOffset(bytes: Uint8Array): number | null {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS && hasTextAt(bytes, at, "ID3"); tags += 1) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    if ((a | b | c | d) >= 0x80) return null;
    const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + footer + a * 0x20_0000 + b * 0x4000 + c * 0x80 + d;
  }
  // Some files have padding after a tag that the tag's size does not include.
  if (at > 0) while (bytes[at] === 0) at += 1;
  return at;
}

/**
 * Kilobits per second by index, for MPEG 1 and for MPEG 2 and 2.5. Index 0 means a free bit rate.
 * It is not supported, because it has no known minimum.
 */
const KBITS_1 = [null, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, null];
const KBITS_2 = [null, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, null];
const HERTZ_1 = [44_100, 48_000, 32_000, null];
/** MPEG versions by their two bits: 2.5, reserved, 2, 1. `slower` divides the sampling rate. */
const VERSIONS = [
  { kbits: KBITS_2, slower: 4, samples: 72 },
  null,
  { kbits: KBITS_2, slower: 2, samples: 72 },
  { kbits: KBITS_1, slower: 1, samples: 144 },
] as const;

/** Size in bytes of the layer III frame at an offset; `null` if there is no frame. */
function frameBytes(bytes: Uint8Array, at: number): number | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3);
  const isLayer3 = first === 0xff && (second & 0xe6) === 0xe2;
  const version = VERSIONS[(second >> 3) & 3];
  const kbits = version?.kbits[third >> 4];
  const hertz = HERTZ_1[(third >> 2) & 3];
  if (!isLayer3 || !version || kbits == null || hertz == null) return null;
  return (
    Math.floor((version.samples * kbits * 1_000 * version.slower) / hertz) + ((third >> 1) & 1)
  );
}
