import { describe, expect, it } from "vitest";
import { type Asked, acceptsMedia, mediaTokens } from "../../src/providers/accepted-media";

const chat = (model: string, host = "custom"): Asked => ({ format: "openai-chat", host, model });

describe("what a model takes", () => {
  it.each<[name: string, asked: Asked, mediaType: string]>([
    ["a PNG by a model nobody listed", chat("some-model"), "image/png"],
    ["a PDF by a model nobody listed, at an address nobody knows", chat("some-model"), "application/pdf"],
    ["a GIF by Claude", { format: "anthropic", host: "anthropic", model: "claude-sonnet-5-5" }, "image/gif"],
    ["a PDF by Claude", { format: "anthropic", host: "anthropic", model: "claude-sonnet-5-5" }, "application/pdf"],
    ["a PDF by Gemini", { format: "gemini", host: "google", model: "gemini-3.8-flash" }, "application/pdf"],
    ["a WebP by GPT", { format: "openai-responses", host: "openai", model: "gpt-6.2-sol" }, "image/webp"],
    ["a JPEG by Grok", { format: "openai-responses", host: "xai", model: "grok-4.7" }, "image/jpeg"],
    ["a PNG by a newer Kimi", chat("kimi-k3", "moonshot"), "image/png"],
    ["a PNG by a GLM that sees", chat("glm-4.5v", "zai"), "image/png"],
    ["a PNG at a host of many models", chat("qwen/qwen3.8-27b", "openrouter"), "image/png"],
  ])("%s", (_, asked, mediaType) => expect(acceptsMedia(asked, mediaType)).toBe(true));

  it.each<[name: string, asked: Asked, mediaType: string]>([
    ["no PNG by gpt-oss, whoever runs it", chat("accounts/fireworks/models/gpt-oss-120b", "fireworks"), "image/png"],
    ["no PDF by gpt-oss at an address nobody knows", chat("openai/gpt-oss-20b"), "application/pdf"],
    ["no PNG by o3-mini", { format: "openai-responses", host: "openai", model: "o3-mini" }, "image/png"],
    ["no PNG by Llama 3.3", chat("llama-3.3-70b-versatile", "groq"), "image/png"],
    ["no PNG by a GLM that does not see, in capitals", chat("zai-org/GLM-5", "together"), "image/png"],
    ["no GIF by Gemini", { format: "gemini", host: "google", model: "gemini-3.8-flash" }, "image/gif"],
    ["no WebP by Grok", { format: "openai-responses", host: "xai", model: "grok-4.7" }, "image/webp"],
    [
      "no PDF by Grok, which would run a tool for it",
      { format: "openai-responses", host: "xai", model: "grok-4.7" },
      "application/pdf",
    ],
    ["no PDF at a host that is not known to read it", chat("some-model", "groq"), "application/pdf"],
    ["no sound by anyone", { format: "gemini", host: "google", model: "gemini-3.8-flash" }, "audio/wav"],
  ])("%s", (_, asked, mediaType) => expect(acceptsMedia(asked, mediaType)).toBe(false));
});

describe("how many tokens it may be", () => {
  it.each([
    { name: "an image, whatever its size", model: "gpt-6.2-sol", kind: "image", size: 100, tokens: 16_384 },
    { name: "an image for a model that counts many", model: "gpt-4o-mini", kind: "image", size: 100, tokens: 50_000 },
    { name: "a small PDF by its bytes", model: "gpt-6.2-sol", kind: "pdf", size: 10_000, tokens: 25_000 },
    { name: "a large PDF no more than the window", model: "gpt-4o", kind: "pdf", size: 5_000_000, tokens: 128_000 },
  ] as const)("$name", ({ model, kind, size, tokens }) => expect(mediaTokens(model, { kind, size })).toBe(tokens));
});
