import type { AttachmentKind } from "../protocol/attachments";
import { isMarked, isText, markedType, usualType } from "./media-type";

/** Detects media types from the first bytes, not from the declared type. */

const KINDS: ReadonlyMap<string, AttachmentKind> = new Map([
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["application/pdf", "pdf"],
]);

/** The type for arbitrary bytes. */
const ANY_BYTES = "application/octet-stream";
const TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

/**
 * The declared type in its usual spelling, without parameters; `undefined` if it is not specific.
 */
export function declaredType(type: string | undefined): string | undefined {
  const usual = usualType(type ?? "");
  return usual === "" || usual === ANY_BYTES ? undefined : usual;
}

type DetectedMedia = { kind: AttachmentKind; mediaType: string };

/**
 * Kind and type of the bytes; `null` if they are not supported. `declared`: the type in the
 * request, in its usual spelling. Text keeps any declared type that does not belong to another
 * format: only models see it.
 */
export function detectMedia(bytes: Uint8Array, declared: string | undefined): DetectedMedia | null {
  const marked = markedType(bytes);
  const kind = marked === null ? undefined : KINDS.get(marked);
  if (marked !== null && kind) return { mediaType: marked, kind };
  const sound = audioType(bytes);
  if (sound !== null) return { mediaType: sound, kind: "audio" };
  if (!isText(bytes)) return null;
  const isFitting =
    declared !== undefined && TYPE.test(declared) && !isMarked(declared) && !isSound(declared);
  return { kind: "text", mediaType: isFitting ? declared : "text/plain" };
}

/**
 * Detects audio from its header. Only formats with a known minimum of bytes per second, or another
 * bound of their length, are supported.
 */

const SOUND_TYPES = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"] as const;
type SoundType = (typeof SOUND_TYPES)[number];

/** Whether this type can be detected from audio bytes. */
const isSound = (mediaType: string): boolean => SOUND_TYPES.some((type) => type === mediaType);

/** Minimum rate of a WAV: 8 bits at 8 kHz. It bounds the tokens, so lower rates are refused. */
const LEAST_WAV_BYTES_PER_SECOND = 8_000;

/**
 * The audio type; `null` for other bytes and for formats that are not supported: WAV that is not
 * PCM, MP3 with a free bit rate, Ogg with video.
 */
function audioType(bytes: Uint8Array): SoundType | null {
  if (says(bytes, 0, "fLaC")) return "audio/flac";
  if (says(bytes, 0, "OggS"))
    return OGG_SOUND.some((codec) => says(bytes, OGG_CODEC_AT, codec)) ? "audio/ogg" : null;
  if (says(bytes, 0, "RIFF") && says(bytes, 8, "WAVE"))
    return isWavOfPcm(bytes) ? "audio/wav" : null;
  return isMp3(bytes) ? "audio/mpeg" : null;
}

const says = (bytes: Uint8Array, at: number, word: string): boolean =>
  bytes.length >= at + word.length &&
  [...word].every((letter, nth) => bytes[at + nth] === letter.charCodeAt(0));

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Offset of the codec name: after the header of the first page, which has one segment. */
const OGG_CODEC_AT = 28;
const OGG_SOUND = ["\x01vorbis", "OpusHead"];

/** Maximum number of chunks before the audio data. */
const MOST_CHUNKS = 64;
/** PCM, floating point, A-law, mu-law: the header has the number of bytes per second. */
const PLAIN_TAGS: ReadonlySet<number> = new Set([1, 3, 6, 7]);
const EXTENSIBLE_TAG = 0xfffe;

function isWavOfPcm(bytes: Uint8Array): boolean {
  const view = viewOf(bytes);
  let isPlain: boolean | null = null;
  let at = 12;
  for (let chunks = 0; chunks < MOST_CHUNKS && at + 8 <= bytes.length; chunks += 1) {
    if (says(bytes, at, "data")) return isPlain === true;
    const size = view.getUint32(at + 4, true);
    if (says(bytes, at, "fmt ")) {
      // A second format chunk could contradict the first.
      if (isPlain !== null) return false;
      isPlain = isPlainFormat(view, at + 8, size);
    }
    at += 8 + size + (size % 2);
  }
  return false;
}

function isPlainFormat(view: DataView, at: number, size: number): boolean {
  if (size < 16 || at + size > view.byteLength) return false;
  const format = view.getUint16(at, true);
  const tag = format === EXTENSIBLE_TAG && size >= 26 ? view.getUint16(at + 24, true) : format;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const perFrame = channels * Math.ceil(view.getUint16(at + 14, true) / 8);
  return (
    PLAIN_TAGS.has(tag) &&
    perFrame === view.getUint16(at + 12, true) &&
    rate * perFrame >= LEAST_WAV_BYTES_PER_SECOND
  );
}

/** Maximum number of ID3 tags before the audio. */
const MOST_TAGS = 4;

/**
 * Two consecutive frames of layer III, or one frame and the end. One mark alone occurs by chance.
 */
function isMp3(bytes: Uint8Array): boolean {
  const start = afterTags(bytes);
  if (start === null) return false;
  const first = frameBytes(bytes, start);
  if (first === null) return false;
  const second = start + first;
  return second >= bytes.length ? start > 0 : frameBytes(bytes, second) !== null;
}

/** Offset of the audio; `null` for an invalid tag. */
function afterTags(bytes: Uint8Array): number | null {
  let at = 0;
  for (let tags = 0; tags < MOST_TAGS && says(bytes, at, "ID3"); tags += 1) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    if ((a | b | c | d) >= 0x80) return null;
    const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + footer + a * 0x20_0000 + b * 0x4000 + c * 0x80 + d;
  }
  // Padding after a tag whose size does not include it.
  if (at > 0) while (bytes[at] === 0) at += 1;
  return at;
}

/** Kilobits per second by index. The first is a free bit rate, which has no known minimum. */
const KBITS_1 = [null, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, null];
const KBITS_2 = [null, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, null];
const HERTZ_1 = [44_100, 48_000, 32_000, null];
/** MPEG versions by their two bits: 2.5, reserved, 2, 1. */
const VERSIONS = [
  { kbits: KBITS_2, slower: 4, samples: 72 },
  null,
  { kbits: KBITS_2, slower: 2, samples: 72 },
  { kbits: KBITS_1, slower: 1, samples: 144 },
] as const;

/** Size in bytes of the layer III frame at this offset; `null` if there is no frame. */
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
