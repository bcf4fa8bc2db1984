import type { Format } from "./registry";
import { modelFacts, UNKNOWN_MODEL } from "./models";

/**
 * Media that models accept besides text, and an upper bound of their tokens. Facts are by model and
 * host. A model that is not listed accepts everything its wire format can carry. Figures as read in
 * November 2026.
 */

/** A model at a host, as a config names it. */
export type ModelAtHost = { format: Format; host: string; model: string };

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

/**
 * Models that accept text only, matched without the maker's prefix. Families whose newer models
 * accept images are listed by generation.
 */
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

/** Names of models that accept images, in families that are otherwise text only. */
const VISION_MODELS = /vision|llava|\bvl\b/;

/** The model name without the maker's prefix. Some hosts write a decimal point as `p`. */
const bareModelName = (model: string): string =>
  (model.split("/").at(-1) ?? model).toLowerCase().replace(/(\d)p(\d)/g, "$1.$2");

const readsTextOnly = (name: string): boolean =>
  !VISION_MODELS.test(name) && TEXT_ONLY.some((names) => names.test(name));

/**
 * Hosts whose models read a PDF themselves, and the formats in which they do. Other hosts refuse it
 * or run a tool for it, at a cost that our budgets cannot bound.
 */
const PDF_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat", "openai-responses"],
  azure_openai: ["openai-responses"],
  anthropic: ["openai-chat", "anthropic"],
  google: ["openai-chat", "gemini"],
  custom: ["openai-chat", "openai-responses", "anthropic", "gemini"],
};

/**
 * Hosts that accept audio in the parts our formats send. Mistral and Qwen use other parts for
 * audio.
 */
const AUDIO_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat"],
  azure_openai: ["openai-chat"],
  google: ["openai-chat", "gemini"],
  openrouter: ["openai-chat"],
  vllm: ["openai-chat"],
  custom: ["openai-chat", "gemini"],
};

/** Names of models that accept audio. All Gemini models do; others say so in the name. */
const AUDIO_MODELS = /^gemini-|audio|voxtral|\bomni\b/;
/**
 * Hosts that can run any model: there, an unlisted model may accept audio. A model that is listed
 * without audio does not.
 */
const ANY_MODEL: ReadonlySet<string> = new Set(["vllm", "custom"]);

function acceptsAudio({ format, host, model }: ModelAtHost): boolean {
  if (!AUDIO_HOSTS[host]?.includes(format)) return false;
  return (
    AUDIO_MODELS.test(bareModelName(model)) ||
    (ANY_MODEL.has(host) && modelFacts(model) === UNKNOWN_MODEL)
  );
}

/** Which models accept audio; shown to users. */
export const AUDIO_MODELS_HINT =
  "Gemini models support audio as WAV, MP3, Ogg and FLAC. Audio models such as gpt-audio support WAV and MP3 through Chat Completions, also at OpenRouter.";

/** Hosts that accept fewer kinds of images than their format can carry. */
const HOST_IMAGES: Readonly<Record<string, readonly string[]>> = {
  xai: ["image/png", "image/jpeg"],
};

/**
 * Whether the model accepts this media type without conversion. Not for text files: they are always
 * sent as text.
 */
export function acceptsMedia(asked: ModelAtHost, mediaType: string): boolean {
  const { format, host, model } = asked;
  if (!IN_FORMAT[format].includes(mediaType) || readsTextOnly(bareModelName(model))) return false;
  if (mediaType.startsWith("audio/")) return acceptsAudio(asked);
  if (mediaType === PDF) return PDF_HOSTS[host]?.includes(format) ?? false;
  return HOST_IMAGES[host]?.includes(mediaType) ?? true;
}

/**
 * Upper bound of tokens for one image. No model in use produces more, except those in the table
 * below.
 */
const IMAGE_TOKENS = 16_384;
const COSTLIER_IMAGES: readonly (readonly [RegExp, number])[] = [[/^gpt-4o-mini/, 50_000]];

/**
 * A page of dense text is about 4,600 tokens as text plus picture, and 2.5 kB compressed. Only a
 * PDF reader could count, so this is a safe estimate, capped at the model's context window.
 */
const PDF_TOKENS_PER_BYTE = 2;
const PDF_BASE_TOKENS = 5_000;

/**
 * From Gemini's documentation. OpenAI counts about 10 per second; other makers that publish a
 * number, up to 25.
 */
const SOUND_TOKENS_PER_SECOND = 32;
/**
 * Lowest possible data rate: WAV by its header, MP3 by the lowest bit rate of its format. Other
 * formats have no known bound.
 */
const LEAST_SOUND_BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  [WAV, 8_000],
  [MP3, 1_000],
]);
/**
 * Gemini accepts at most 9.5 hours in one prompt, and only Gemini accepts formats whose length is
 * unknown.
 */
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

/** Upper bound of the input tokens that this medium takes. */
export function mediaTokens(model: string, medium: Medium): number {
  switch (medium.kind) {
    case "image":
      return COSTLIER_IMAGES.find(([names]) => names.test(model))?.[1] ?? IMAGE_TOKENS;
    case "pdf":
      return Math.min(
        modelFacts(model).contextWindow,
        PDF_BASE_TOKENS + PDF_TOKENS_PER_BYTE * medium.size,
      );
    case "audio":
      return soundTokens(model, medium);
  }
}

/** Tokens of a one-megapixel image for most models. */
const USUAL_IMAGE_TOKENS = 1_500;
/**
 * Typical rates. Most of a PDF is fonts and pictures. Speech is about 64 kbit/s when compressed,
 * and far more bytes as WAV.
 */
const BYTES_PER_TOKEN = { pdf: 8, audio: 250 } as const;

/**
 * Expected input tokens, for a provider's rate limits, which count actual usage. Do not use it for
 * cost.
 */
export function expectedMediaTokens(model: string, medium: Medium): number {
  const { kind, size } = medium;
  const guess = kind === "image" ? USUAL_IMAGE_TOKENS : Math.ceil(size / BYTES_PER_TOKEN[kind]);
  return Math.min(guess, mediaTokens(model, medium));
}
