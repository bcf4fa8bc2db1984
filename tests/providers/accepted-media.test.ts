import { describe, expect, it } from "vitest";
import { type ModelAtHost, acceptsMedia, mediaTokens } from "../../src/providers/accepted-media";
import { MODEL_GROUPS } from "../../src/providers/model-rows";
import { modelFacts } from "../../src/providers/models";
import { BACKEND_TYPES, SERVED_TYPES } from "../../src/providers/registry";

const GEMINI: ModelAtHost = { format: "gemini", host: "google", model: "gemini-3.8-flash" };
const chat = (model: string, host = "custom"): ModelAtHost => ({
  format: "openai-chat",
  host,
  model,
});

describe("a model accepts", () => {
  it.each<[name: string, modelAtHost: ModelAtHost, mediaType: string]>([
    ["a PNG by an unlisted model", chat("some-model"), "image/png"],
    ["a PDF by an unlisted model at an unknown address", chat("some-model"), "application/pdf"],
    [
      "a GIF by Claude",
      { format: "anthropic", host: "anthropic", model: "claude-sonnet-5-5" },
      "image/gif",
    ],
    [
      "a PDF by Claude",
      { format: "anthropic", host: "anthropic", model: "claude-sonnet-5-5" },
      "application/pdf",
    ],
    [
      "a PDF by Gemini",
      { format: "gemini", host: "google", model: "gemini-3.8-flash" },
      "application/pdf",
    ],
    [
      "a WebP by GPT",
      { format: "openai-responses", host: "openai", model: "gpt-6.2-sol" },
      "image/webp",
    ],
    [
      "a JPEG by Grok",
      { format: "openai-responses", host: "xai", model: "grok-4.7" },
      "image/jpeg",
    ],
    ["a PNG by a newer Kimi", chat("kimi-k3", "moonshot"), "image/png"],
    ["a PNG by a GLM that reads images", chat("glm-4.5v", "zai"), "image/png"],
    [
      "a PDF by Azure's Responses",
      { format: "openai-responses", host: "azure_openai", model: "gpt-5" },
      "application/pdf",
    ],
    ["an image by Azure's Chat Completions", chat("gpt-5", "azure_openai"), "image/png"],
    [
      "a PNG by a Llama that reads images",
      chat("meta-llama/Llama-3.2-11B-Vision-Instruct", "together"),
      "image/png",
    ],
    [
      "a PNG by a Llama of the next generation",
      chat("meta-llama/llama-4-scout-17b-16e-instruct", "groq"),
      "image/png",
    ],
    ["a PNG by GPT-4 Turbo", chat("gpt-4-turbo-2024-04-09"), "image/png"],
    [
      "a PNG by a Moonshot that reads images",
      chat("moonshot-v1-8k-vision-preview", "moonshot"),
      "image/png",
    ],
    [
      "a PNG by a Qwen that reads images",
      chat("Qwen/Qwen2.5-VL-72B-Instruct", "nebius"),
      "image/png",
    ],
    [
      "a PNG by the GLM 5.3 model that reads images",
      chat("accounts/fireworks/models/glm-5p3-flash", "fireworks"),
      "image/png",
    ],
    [
      "a PNG by the DeepSeek V4 model that reads images",
      chat("deepseek-v4-flash-vision-exp"),
      "image/png",
    ],
    ["a PNG by a newer DeepSeek", chat("deepseek-ai/DeepSeek-V4.1-Flash", "together"), "image/png"],
    ["a PNG by a newer MiniMax", chat("MiniMax-M3"), "image/png"],
    ["a PNG at a host of many models", chat("qwen/qwen3.8-27b", "openrouter"), "image/png"],
    ["a WAV by Gemini", GEMINI, "audio/wav"],
    ["an MP3 by Gemini", GEMINI, "audio/mpeg"],
    ["an Ogg by Gemini", GEMINI, "audio/ogg"],
    ["a FLAC by Gemini", GEMINI, "audio/flac"],
    ["a WAV by Gemini's Chat Completions", chat("gemini-3.8-flash", "google"), "audio/wav"],
    ["a WAV by Gemini at OpenRouter", chat("google/gemini-2.5-flash", "openrouter"), "audio/wav"],
    [
      "a WAV by Voxtral at OpenRouter",
      chat("mistralai/voxtral-small-24b-2507", "openrouter"),
      "audio/wav",
    ],
    ["an MP3 by GPT's audio model", chat("gpt-4o-audio-preview", "openai"), "audio/mpeg"],
    [
      "a WAV by an Azure deployment with audio in its name",
      chat("gpt-audio-mini", "azure_openai"),
      "audio/wav",
    ],
    ["a WAV by an unlisted model, at an unknown address", chat("some-model"), "audio/wav"],
  ])("%s", (_, modelAtHost, mediaType) => expect(acceptsMedia(modelAtHost, mediaType)).toBe(true));

  it.each<[name: string, modelAtHost: ModelAtHost, mediaType: string]>([
    [
      "no PNG by gpt-oss at any host",
      chat("accounts/fireworks/models/gpt-oss-120b", "fireworks"),
      "image/png",
    ],
    ["no PDF by gpt-oss at an unknown address", chat("openai/gpt-oss-20b"), "application/pdf"],
    [
      "no PNG by o3-mini",
      { format: "openai-responses", host: "openai", model: "o3-mini" },
      "image/png",
    ],
    ["no PNG by Llama 3.3", chat("llama-3.3-70b-versatile", "groq"), "image/png"],
    [
      "no PNG by a GLM that does not read images, with its name in capitals",
      chat("zai-org/GLM-5", "together"),
      "image/png",
    ],
    [
      "no GIF by Gemini",
      { format: "gemini", host: "google", model: "gemini-3.8-flash" },
      "image/gif",
    ],
    [
      "no WebP by Grok",
      { format: "openai-responses", host: "xai", model: "grok-4.7" },
      "image/webp",
    ],
    [
      "no PDF by Grok, which would run a tool for it",
      { format: "openai-responses", host: "xai", model: "grok-4.7" },
      "application/pdf",
    ],
    [
      "no PDF by Azure's Chat Completions, which refuse it",
      chat("gpt-5", "azure_openai"),
      "application/pdf",
    ],
    [
      "no PDF at a host that is not known to read it",
      chat("some-model", "groq"),
      "application/pdf",
    ],
    ["no video by any model", GEMINI, "video/mp4"],
    ["no WAV by a GPT without audio", chat("gpt-6.2-sol", "openai"), "audio/wav"],
    ["no WAV by a GPT without audio at a proxy", chat("gpt-6.2-sol"), "audio/wav"],
    ["no WAV by a Llama at a proxy", chat("llama-3.3-70b-versatile"), "audio/wav"],
    [
      "no WAV by a deployment of any name at Azure",
      chat("my-deployment", "azure_openai"),
      "audio/wav",
    ],
    [
      "no WAV by Claude",
      { format: "anthropic", host: "anthropic", model: "claude-sonnet-5-5" },
      "audio/wav",
    ],
    [
      "no WAV by Responses",
      { format: "openai-responses", host: "openai", model: "gpt-audio" },
      "audio/wav",
    ],
    [
      "no WAV by a model at OpenRouter without audio in its name",
      chat("qwen/qwen3.8-27b", "openrouter"),
      "audio/wav",
    ],
    ["no Ogg by Chat Completions", chat("google/gemini-2.5-flash", "openrouter"), "audio/ogg"],
    [
      "no WAV at a host that requires another form",
      chat("voxtral-small-2507", "mistral"),
      "audio/wav",
    ],
  ])("%s", (_, modelAtHost, mediaType) => expect(acceptsMedia(modelAtHost, mediaType)).toBe(false));
});

describe("models that read only text accept no image, with the model name of any host", () => {
  it.each([
    "meta-llama/Meta-Llama-3.1-405B-Instruct-Turbo",
    "meta-llama/Meta-Llama-3.1-8B-Instruct",
    "accounts/fireworks/models/llama-v3p3-70b-instruct",
    "@cf/meta/llama-3.1-8b-instruct",
    "llama3.1:8b",
    "llama3-8b-8192",
    "accounts/fireworks/models/qwen2p5-72b-instruct",
    "qwen2.5:72b",
    "qwen-3-235b-a22b-instruct-2507",
    "qwen3-coder-plus",
    "qwen-max",
    "qwen-turbo",
    "zai-glm-4.7",
    "glm-4.5-air:free",
    "accounts/fireworks/models/glm-5p3",
    "mixtral-8x7b-32768",
    "open-mistral-nemo",
    "moonshot-v1-128k",
    "gpt-35-turbo",
    "gpt-4",
    "gpt-4-0613",
    "MiniMax-M2.7",
    "deepseek-v4-pro",
  ])("%s", (model) => expect(acceptsMedia(chat(model), "image/png")).toBe(false));
});

it("among the models with a known price, only Gemini models accept audio, and their audio prices are known", () => {
  const audioModels = MODEL_GROUPS.flatMap(({ host, rows }) =>
    Object.keys(rows).filter((model) =>
      [host, "custom"].some((atHost) =>
        AUDIO_FORMATS.some(
          (format) =>
            modelFacts(model, atHost).price &&
            acceptsMedia({ format, host: atHost, model }, "audio/wav"),
        ),
      ),
    ),
  );
  expect(audioModels).toContain("gemini-2.5-flash");
  expect(audioModels.filter((model) => !model.startsWith("gemini-"))).toEqual([]);
});
const AUDIO_FORMATS = ["openai-chat", "gemini"] as const;

/**
 * Whether the default model of each backend type accepts images. Do not guess: look up each new
 * default model and add it here.
 */
const DEFAULT_MODEL_READS_IMAGES: Readonly<Record<string, boolean>> = {
  openai: true,
  claude: true,
  gemini: true,
  grok: true,
  zai: false,
  cerebras: false,
  together: false,
  fireworks: false,
  groq: false,
  moonshot: true,
  qwen: true,
  deepseek: true,
  mistral: true,
  nvidia_nim: true,
  workers_ai: false,
};

it("for every backend type, it is known whether the default model accepts an image", () => {
  const actual = SERVED_TYPES.flatMap((type) => {
    const served = BACKEND_TYPES[type];
    if (!served?.served || served.model === null) return [];
    const { format, host, model } = served;
    return [[type, acceptsMedia({ format, host: host ?? "custom", model }, "image/png")]];
  });
  expect(Object.fromEntries(actual)).toEqual(DEFAULT_MODEL_READS_IMAGES);
});

describe("the token bound of an attachment", () => {
  it.each([
    {
      name: "an image of any size counts the same",
      model: "gpt-6.2-sol",
      kind: "image",
      size: 100,
      tokens: 16_384,
    },
    {
      name: "an image counts more for a model with a higher count",
      model: "gpt-4o-mini",
      kind: "image",
      size: 100,
      tokens: 50_000,
    },
    {
      name: "a small PDF counts by its bytes",
      model: "gpt-6.2-sol",
      kind: "pdf",
      size: 10_000,
      tokens: 25_000,
    },
    {
      name: "a large PDF counts at most as the context window",
      model: "gpt-4o",
      kind: "pdf",
      size: 5_000_000,
      tokens: 128_000,
    },
  ] as const)("$name", ({ model, kind, size, tokens }) =>
    expect(mediaTokens(model, { kind, size, mediaType: "" })).toBe(tokens),
  );

  it.each([
    {
      name: "a WAV counts as 8 kHz audio, with 32 tokens per second",
      mediaType: "audio/wav",
      size: 800_000,
      tokens: 3_232,
    },
    {
      name: "an MP3 counts as audio with 8 kbit/s",
      mediaType: "audio/mpeg",
      size: 800_000,
      tokens: 25_632,
    },
    {
      name: "a FLAC counts as the whole context window, because its length is unknown",
      mediaType: "audio/flac",
      size: 100,
      tokens: 1_048_576,
    },
    {
      name: "an Ogg counts as the whole context window",
      mediaType: "audio/ogg",
      size: 100,
      tokens: 1_048_576,
    },
  ])("$name", ({ mediaType, size, tokens }) => {
    expect(mediaTokens("gemini-3.8-flash", { kind: "audio", size, mediaType })).toBe(tokens);
  });

  it("audio of any length for a model with an unknown window counts as 9.5 hours, the limit of Gemini", () => {
    const tokens = mediaTokens("gemini-9", { kind: "audio", size: 100, mediaType: "audio/ogg" });
    expect(tokens).toBe(9.5 * 3_600 * 32);
  });
});
