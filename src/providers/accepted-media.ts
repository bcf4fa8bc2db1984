import type { Format } from "./registry";
import { modelFacts, UNKNOWN_MODEL } from "./models";

/**
 * What models take besides text, and how many tokens it may be. Facts by model and host; what nobody listed is taken to accept
 * what its format can say. Figures as read in November 2026.
 */

/** A model where it runs, as a config names it. */
export type Asked = { format: Format; host: string; model: string };

const PNG_JPEG_WEBP = ["image/png", "image/jpeg", "image/webp"];
const PDF = "application/pdf";
const WAV = "audio/wav";
const MP3 = "audio/mpeg";

const IN_FORMAT: Readonly<Record<Format, readonly string[]>> = {
  "openai-chat": [...PNG_JPEG_WEBP, "image/gif", PDF, WAV, MP3],
  "openai-responses": [...PNG_JPEG_WEBP, "image/gif", PDF],
  anthropic: [...PNG_JPEG_WEBP, "image/gif", PDF],
  gemini: [...PNG_JPEG_WEBP, PDF, WAV, MP3, "audio/ogg", "audio/flac"],
};

/** Models that read text only, by their name without the maker's before it. Families of which newer ones see are listed by generation. */
const TEXT_ONLY: readonly RegExp[] = [
  /^gpt-3\.?5/,
  /^gpt-4(-32k)?(-\d{4})?(-preview)?$/,
  /^gpt-oss/,
  /^o1-(mini|preview)/,
  /^o3-mini/,
  /^deepseek-(chat|reasoner|coder|v3|r1|v4-(flash|pro))/,
  /^(meta-)?llama-?v?3(\.[13])?([-:]|$)/,
  /^(codestral|mathstral|(open-)?(mixtral|mistral-(7b|nemo)))/,
  /^grok-(3|code)/,
  /^kimi-k2-/,
  /^moonshot-v1-/,
  /^(zai-)?glm-(4(\.[5-7])?|5(\.[12])?|5\.3(?!-flash))([-:]|$)/,
  /^qwen-?(2|2\.5|3)[-:](\d|coder|next|max)/,
  /^(qwen-(max|turbo)|qwq)([-:]|$)/,
  /^minimax-(m[12]|text)/,
];

/** Names that say it themselves, among those of families that do not. */
const SAYS_IT_SEES = /vision|llava|\bvl\b/;

/** The name without the maker's before it; some hosts write a point as `p`. */
const familiar = (model: string): string =>
  (model.split("/").at(-1) ?? model).toLowerCase().replace(/(\d)p(\d)/g, "$1.$2");

const readsTextOnly = (name: string): boolean =>
  !SAYS_IT_SEES.test(name) && TEXT_ONLY.some((names) => names.test(name));

/**
 * Hosts whose models read a PDF themselves, and the formats in which they do. Others refuse it, or run a tool for it that no budget
 * of ours knows.
 */
const PDF_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat", "openai-responses"],
  azure_openai: ["openai-responses"],
  anthropic: ["openai-chat", "anthropic"],
  google: ["openai-chat", "gemini"],
  custom: ["openai-chat", "openai-responses", "anthropic", "gemini"],
};

/** Hosts that take sound in these formats as we say it; Mistral's and Qwen's parts for it look otherwise. */
const SOUND_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat"],
  azure_openai: ["openai-chat"],
  google: ["openai-chat", "gemini"],
  openrouter: ["openai-chat"],
  vllm: ["openai-chat"],
  custom: ["openai-chat", "gemini"],
};

/** Few models hear, and those that do have names that say it, but for Gemini, all of whose models do. */
const HEARS = /^gemini-|audio|voxtral|\bomni\b/;
/** Hosts where anything may run: there a model that nobody listed may hear. One that is listed under another name does not. */
const ANY_MODEL: ReadonlySet<string> = new Set(["vllm", "custom"]);

function takesSound({ format, host, model }: Asked): boolean {
  if (!SOUND_HOSTS[host]?.includes(format)) return false;
  return (
    HEARS.test(familiar(model)) || (ANY_MODEL.has(host) && modelFacts(model) === UNKNOWN_MODEL)
  );
}

/** What to do about a model that does not hear, for people. */
export const WHO_HEARS =
  "Sound is taken by Gemini (WAV, MP3, Ogg, FLAC) and, as WAV or MP3, by audio models such as gpt-audio through Chat Completions, at OpenRouter too.";

/** Hosts that take fewer kinds of images than their format could say. */
const HOST_IMAGES: Readonly<Record<string, readonly string[]>> = {
  xai: ["image/png", "image/jpeg"],
};

/** Whether the model takes something of this media type as it is. Text files are no question: they are sent as text. */
export function acceptsMedia(asked: Asked, mediaType: string): boolean {
  const { format, host, model } = asked;
  if (!IN_FORMAT[format].includes(mediaType) || readsTextOnly(familiar(model))) return false;
  if (mediaType.startsWith("audio/")) return takesSound(asked);
  if (mediaType === PDF) return PDF_HOSTS[host]?.includes(format) ?? false;
  return HOST_IMAGES[host]?.includes(mediaType) ?? true;
}

/** Of one image, at most: no model in use divides one into more, but for those below. */
const IMAGE_TOKENS = 16_384;
const DEARER_IMAGES: readonly (readonly [RegExp, number])[] = [[/^gpt-4o-mini/, 50_000]];

/**
 * A page of nothing but text is some 4,600 tokens as text and as a picture, and 2.5 kB when it is packed: a guess on the safe side,
 * since only a reader of PDF could count. No call takes more than the model's window.
 */
const PDF_TOKENS_PER_BYTE = 2;
const PDF_BASE_TOKENS = 5_000;

/** What Gemini's documentation says a second of sound is. OpenAI counts some 10, other makers that say it up to 25. */
const SOUND_TOKENS_PER_SECOND = 32;
/** No sound that is taken has fewer: WAV by its head, MP3 by the least bit rate of its format. Of others it cannot be told. */
const LEAST_SOUND_BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  [WAV, 8_000],
  [MP3, 1_000],
]);
/** 9.5 hours are the most that Gemini takes in one prompt, and only it takes sounds whose length cannot be told. */
const LONGEST_SOUND_TOKENS = 9.5 * 3_600 * SOUND_TOKENS_PER_SECOND;

function soundTokens(model: string, { size, mediaType }: Medium): number {
  const facts = modelFacts(model);
  const most = facts === UNKNOWN_MODEL ? LONGEST_SOUND_TOKENS : facts.contextWindow;
  const least = LEAST_SOUND_BYTES_PER_SECOND.get(mediaType);
  return least === undefined
    ? most
    : Math.min(most, Math.ceil(size / least + 1) * SOUND_TOKENS_PER_SECOND);
}

/** `size` in bytes. */
type Medium = { kind: "image" | "pdf" | "audio"; size: number; mediaType: string };

/** The most input tokens that something of this kind and size is to the model. */
export function mediaTokens(model: string, medium: Medium): number {
  switch (medium.kind) {
    case "image":
      return DEARER_IMAGES.find(([names]) => names.test(model))?.[1] ?? IMAGE_TOKENS;
    case "pdf":
      return Math.min(
        modelFacts(model).contextWindow,
        PDF_BASE_TOKENS + PDF_TOKENS_PER_BYTE * medium.size,
      );
    case "audio":
      return soundTokens(model, medium);
  }
}

/** Of most images: what a megapixel is to most models. */
const USUAL_IMAGE_TOKENS = 1_500;
/** Fonts and pictures are most of a PDF; speech is packed into some 64 kbit/s, or is far more bytes as WAV. */
const BYTES_PER_TOKEN = { pdf: 8, audio: 250 } as const;

/** About how many input tokens that will be: for limits that a provider sets by what calls really take, not for money. */
export function expectedMediaTokens(model: string, medium: Medium): number {
  const { kind, size } = medium;
  const guess = kind === "image" ? USUAL_IMAGE_TOKENS : Math.ceil(size / BYTES_PER_TOKEN[kind]);
  return Math.min(guess, mediaTokens(model, medium));
}
