import type { AttachmentKind } from "../../protocol/attachments";
import { isMarked, isText, markedType, usualType } from "../../workspace/media-type";

/** What bytes are, by what they begin with; never by what somebody calls them. */

const KINDS: ReadonlyMap<string, AttachmentKind> = new Map([
  ["image/png", "image"],
  ["image/jpeg", "image"],
  ["image/gif", "image"],
  ["image/webp", "image"],
  ["application/pdf", "pdf"],
]);

/** Says nothing of the bytes. */
const ANY_BYTES = "application/octet-stream";
const TYPE = /^[a-z0-9][a-z0-9.+-]{0,60}\/[a-z0-9][a-z0-9.+-]{0,60}$/;

/** A type as somebody names it, in its usual spelling and without parameters; undefined where it says nothing. */
export function spokenType(said: string | undefined): string | undefined {
  const usual = usualType(said ?? "");
  return usual === "" || usual === ANY_BYTES ? undefined : usual;
}

export type Detected = { kind: AttachmentKind; mediaType: string };

/**
 * The kind and type of these bytes; null if they are none that can be attached. `said`: the type that whoever sent them names, in
 * its usual spelling. Any type may stand on text but that of something else: it changes nothing but what models are told.
 */
export function detectMedia(bytes: Uint8Array, said: string | undefined): Detected | null {
  const marked = markedType(bytes);
  const kind = marked === null ? undefined : KINDS.get(marked);
  if (marked !== null && kind) return { mediaType: marked, kind };
  const sound = soundType(bytes);
  if (sound !== null) return { mediaType: sound, kind: "audio" };
  if (!isText(bytes)) return null;
  const isFitting = said !== undefined && TYPE.test(said) && !isMarked(said) && !isSound(said);
  return { kind: "text", mediaType: isFitting ? said : "text/plain" };
}

/** What sound bytes are, by their own heads. Only what has a known least of bytes a second, or is bounded otherwise, is taken. */

const SOUND_TYPES = ["audio/wav", "audio/mpeg", "audio/ogg", "audio/flac"] as const;
type SoundType = (typeof SOUND_TYPES)[number];

/** Whether bytes of this type show that they are. */
const isSound = (mediaType: string): boolean => SOUND_TYPES.some((type) => type === mediaType);

/** Of a WAV: 8 bits at 8 kHz. Tokens are bounded by that, so what has fewer is not taken. */
export const LEAST_WAV_BYTES_PER_SECOND = 8_000;

/** The type; null for what is no sound, or none that is taken: WAV that is not PCM, MP3 of a free bit rate, Ogg with pictures. */
function soundType(bytes: Uint8Array): SoundType | null {
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

/** Behind the head of the first page, which has one segment. */
const OGG_CODEC_AT = 28;
const OGG_SOUND = ["\x01vorbis", "OpusHead"];

/** Chunks before the sound of a file, at most. */
const MOST_CHUNKS = 64;
/** PCM, floating point, A-law, mu-law: as many bytes for each second as the head says. */
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
      // A second one could say what the first does not.
      if (isPlain !== null) return false;
      isPlain = isPlainFormat(view, at + 8, size);
    }
    at += 8 + size + (size % 2);
  }
  return false;
}

function isPlainFormat(view: DataView, at: number, size: number): boolean {
  if (size < 16 || at + size > view.byteLength) return false;
  const said = view.getUint16(at, true);
  const tag = said === EXTENSIBLE_TAG && size >= 26 ? view.getUint16(at + 24, true) : said;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const perFrame = channels * Math.ceil(view.getUint16(at + 14, true) / 8);
  return (
    PLAIN_TAGS.has(tag) &&
    perFrame === view.getUint16(at + 12, true) &&
    rate * perFrame >= LEAST_WAV_BYTES_PER_SECOND
  );
}

/** Tags of title and singer may stand before the sound, more than one. */
const MOST_TAGS = 4;

/** Two frames of layer III in a row, or one and the end: their marks alone are found in noise. */
function isMp3(bytes: Uint8Array): boolean {
  const start = behindTags(bytes);
  if (start === null) return false;
  const first = frameBytes(bytes, start);
  if (first === null) return false;
  const second = start + first;
  return second >= bytes.length ? start > 0 : frameBytes(bytes, second) !== null;
}

/** Where the sound begins; null for a tag that is broken. */
function behindTags(bytes: Uint8Array): number | null {
  let at = 0;
  for (let tags = 0; tags < MOST_TAGS && says(bytes, at, "ID3"); tags += 1) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    if ((a | b | c | d) >= 0x80) return null;
    const footer = ((bytes[at + 5] ?? 0) & 0x10) === 0 ? 0 : 10;
    at += 10 + footer + a * 0x20_0000 + b * 0x4000 + c * 0x80 + d;
  }
  // Padding behind a tag that does not count it.
  if (at > 0) while (bytes[at] === 0) at += 1;
  return at;
}

/** Thousands of bits a second by index; the first is a free one, of which nobody knows how little it may be. */
const KBITS_1 = [null, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, null];
const KBITS_2 = [null, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, null];
const HERTZ_1 = [44_100, 48_000, 32_000, null];
/** By its two bits: version 2.5, none, 2, 1. */
const VERSIONS = [
  { kbits: KBITS_2, slower: 4, samples: 72 },
  null,
  { kbits: KBITS_2, slower: 2, samples: 72 },
  { kbits: KBITS_1, slower: 1, samples: 144 },
] as const;

/** How long the frame of layer III is that begins there; null: none does. */
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
