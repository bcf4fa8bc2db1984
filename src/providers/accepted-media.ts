import type { Format } from "./registry";
import { modelFacts, UNKNOWN_MODEL } from "./models";

/**
 * Media types that models accept besides text, and upper bounds of the tokens that media take. What
 * is accepted depends on the model and the host. A model that is not listed accepts everything its
 * wire format can carry. Figures as read in November 2026.
 */

/** A model at a host, as a config names it. */
export type ModelAtHost = { format: Format; host: string; model: string };

const PNG_JPEG_WEBP = ["image/png", "image/jpeg", "image/webp"];
const PDF = "application/pdf";
const WAV = "audio/wav";
const MP3 = "audio/mpeg";

/** Media types that a wire format can carry. */
const FORMAT_MEDIA_TYPES: Readonly<Record<Format, readonly string[]>> = {
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

const acceptsTextOnly = (name: string): boolean =>
  !VISION_MODELS.test(name) && TEXT_ONLY.some((pattern) => pattern.test(name));

/**
 * Hosts whose models read PDF files directly, and the formats in which they accept a PDF. Other
 * hosts refuse it or convert it with a tool, at a cost that our budgets cannot bound.
 */
const PDF_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat", "openai-responses"],
  azure_openai: ["openai-responses"],
  anthropic: ["openai-chat", "anthropic"],
  google: ["openai-chat", "gemini"],
  custom: ["openai-chat", "openai-responses", "anthropic", "gemini"],
};

/**
 * Hosts that accept audio in the form that our formats send. Mistral and Qwen require another form.
 */
const AUDIO_HOSTS: Readonly<Record<string, readonly Format[]>> = {
  openai: ["openai-chat"],
  azure_openai: ["openai-chat"],
  google: ["openai-chat", "gemini"],
  openrouter: ["openai-chat"],
  vllm: ["openai-chat"],
  custom: ["openai-chat", "gemini"],
};

/**
 * Names of models that accept audio. Every Gemini model accepts it. The names of the others contain
 * one of these words.
 */
const AUDIO_MODELS = /^gemini-|audio|voxtral|\bomni\b/;
/**
 * Hosts that can run any model. At such a host, a model that is missing from our table of models
 * may accept audio. A model in the table accepts audio only if its name matches AUDIO_MODELS.
 */
const HOSTS_OF_ANY_MODEL: ReadonlySet<string> = new Set(["vllm", "custom"]);

function acceptsAudio({ format, host, model }: ModelAtHost): boolean {
  if (!AUDIO_HOSTS[host]?.includes(format)) return false;
  return (
    AUDIO_MODELS.test(bareModelName(model)) ||
    (HOSTS_OF_ANY_MODEL.has(host) && modelFacts(model) === UNKNOWN_MODEL)
  );
}

/** For users: a description of the models that accept audio. */
export const AUDIO_MODELS_HINT =
  "Gemini models support audio as WAV, MP3, Ogg and FLAC. Audio models such as gpt-audio support WAV and MP3 through Chat Completions, also at OpenRouter.";

/** Hosts that accept fewer kinds of images than their format can carry. */
const HOST_IMAGE_TYPES: Readonly<Record<string, readonly string[]>> = {
  xai: ["image/png", "image/jpeg"],
};

/**
 * Whether the model accepts this media type without conversion. Do not call it for text files: they
 * are always sent as text.
 */
export function acceptsMedia(modelAtHost: ModelAtHost, mediaType: string): boolean {
  const { format, host, model } = modelAtHost;
  if (!FORMAT_MEDIA_TYPES[format].includes(mediaType) || acceptsTextOnly(bareModelName(model)))
    return false;
  if (mediaType.startsWith("audio/")) return acceptsAudio(modelAtHost);
  if (mediaType === PDF) return PDF_HOSTS[host]?.includes(format) ?? false;
  return HOST_IMAGE_TYPES[host]?.includes(mediaType) ?? true;
}

/**
 * Upper bound of the tokens for one image. No model in use needs more, except the models in the
 * table below.
 */
const IMAGE_TOKENS = 16_384;
const EXCEPTIONAL_IMAGE_TOKENS: readonly (readonly [RegExp, number])[] = [[/^gpt-4o-mini/, 50_000]];

/**
 * A page of dense text takes about 4,600 tokens (its text and its picture) and 2.5 kB of the file.
 * We do not parse PDF files, so the number of pages is unknown. The result is a safe estimate,
 * capped at the model's context window.
 */
const PDF_TOKENS_PER_BYTE = 2;
const PDF_BASE_TOKENS = 5_000;

/**
 * From Gemini's documentation. OpenAI counts about 10 tokens per second. Other makers that publish
 * a number count at most 25.
 */
const AUDIO_TOKENS_PER_SECOND = 32;
/**
 * Lowest possible data rate: for WAV, the lowest that its header allows; for MP3, the lowest bit
 * rate of the format. Other formats have no known lower bound.
 */
const MIN_AUDIO_BYTES_PER_SECOND: ReadonlyMap<string, number> = new Map([
  [WAV, 8_000],
  [MP3, 1_000],
]);
/**
 * Gemini accepts at most 9.5 hours of audio in one prompt. Only Gemini accepts the formats whose
 * length we cannot bound.
 */
const MAX_AUDIO_TOKENS = 9.5 * 3_600 * AUDIO_TOKENS_PER_SECOND;

function audioTokens(model: string, { size, mediaType }: Medium): number {
  const facts = modelFacts(model);
  const maxTokens = facts === UNKNOWN_MODEL ? MAX_AUDIO_TOKENS : facts.contextWindow;
  const minBytesPerSecond = MIN_AUDIO_BYTES_PER_SECOND.get(mediaType);
  return minBytesPerSecond === undefined
    ? maxTokens
    : Math.min(maxTokens, Math.ceil(size / minBytesPerSecond + 1) * AUDIO_TOKENS_PER_SECOND);
}

/** `size` in bytes. */
type Medium = { kind: "image" | "pdf" | "audio"; size: number; mediaType: string };

/** Upper bound of the input tokens for this medium. */
export function mediaTokens(model: string, medium: Medium): number {
  switch (medium.kind) {
    case "image":
      return EXCEPTIONAL_IMAGE_TOKENS.find(([pattern]) => pattern.test(model))?.[1] ?? IMAGE_TOKENS;
    case "pdf":
      return Math.min(
        modelFacts(model).contextWindow,
        PDF_BASE_TOKENS + PDF_TOKENS_PER_BYTE * medium.size,
      );
    case "audio":
      return audioTokens(model, medium);
  }
}

/** Tokens of a one-megapixel image for most models. */
const USUAL_IMAGE_TOKENS = 1_500;
/**
 * Typical rates. Most bytes of a PDF are fonts and pictures. Compressed speech has about 64 kbit/s;
 * WAV has far more bytes per second, so its estimate is too high.
 */
const BYTES_PER_TOKEN = { pdf: 8, audio: 250 } as const;

/**
 * Expected input tokens. Use them for the rate limits of providers, which count actual usage. For
 * cost, use `mediaTokens`.
 */
export function expectedMediaTokens(model: string, medium: Medium): number {
  const { kind, size } = medium;
  const estimate = kind === "image" ? USUAL_IMAGE_TOKENS : Math.ceil(size / BYTES_PER_TOKEN[kind]);
  return Math.min(estimate, mediaTokens(model, medium));
}
