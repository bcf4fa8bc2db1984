import { describe, expect, it } from "vitest";
import { toContents } from "../../src/providers/gemini/contents";
import { type Host, hostById, UNKNOWN_HOST } from "../../src/providers/hosts";
import { toBody as toChatBody } from "../../src/providers/openai-chat/request";
import { toBody as toResponsesBody } from "../../src/providers/openai-responses/request";
import type { Message } from "../../src/providers/provider";
import { BARE_REQUEST } from "./bare-request";

/** The history in each format that has no cache marks of its own. */

const HISTORY = ["one\n\n", "two\n\n", "three\n\n", "four\n\n"];
const asked = (more: Partial<Message & { role: "user" }> = {}): Message => ({
  ...{ role: "user", text: "And now?", history: HISTORY },
  ...more,
});
const image = { type: "image", mediaType: "image/png", base64: "iVBORw0=" } as const;

const BREAKPOINT = { prompt_cache_breakpoint: { mode: "explicit" } };
const FORWARDED = { cache_control: { type: "ephemeral" } };

describe("the history in Chat Completions", () => {
  const contentOf = (host: Host, model: string, message = asked()) => {
    const body = toChatBody({ ...BARE_REQUEST, model, system: "", messages: [message] }, host);
    return JSON.parse(JSON.stringify(body)).messages[0].content;
  };
  const text = (value: string) => ({ type: "text", text: value });

  it("is one text with the rest, because some hosts accept only a string", () => {
    expect(contentOf(UNKNOWN_HOST, "some-model")).toBe("one\n\ntwo\n\nthree\n\nfour\n\nAnd now?");
  });

  it("is one part before the attachments", () => {
    expect(contentOf(UNKNOWN_HOST, "some-model", asked({ parts: [image] }))).toEqual([
      text(HISTORY.join("")),
      expect.objectContaining({ type: "image_url" }),
      text("And now?"),
    ]);
  });

  it.each([
    { host: "openai", model: "gpt-5.4" },
    { host: "openai", model: "gpt-5.6-chat-latest" },
    { host: "openrouter", model: "openai/gpt-5.4" },
    { host: "deepseek", model: "deepseek-chat" },
  ])("is one text for $model of $host, which takes no marks", ({ host, model }) => {
    expect(contentOf(hostById(host), model)).toBe(`${HISTORY.join("")}And now?`);
  });

  it.each([
    { host: "openai", model: "gpt-5.6", mark: BREAKPOINT },
    { host: "openai", model: "gpt-6.2-sol", mark: BREAKPOINT },
    { host: "openrouter", model: "anthropic/claude-sonnet-5.5", mark: FORWARDED },
  ])("has marks after its newest blocks for $model of $host", ({ host, model, mark }) => {
    expect(contentOf(hostById(host), model)).toEqual([
      text("one\n\n"),
      { ...text("two\n\n"), ...mark },
      { ...text("three\n\n"), ...mark },
      { ...text("four\n\n"), ...mark },
      text("And now?"),
    ]);
  });

  it("leaves a message without history and attachments as it is", () => {
    const message: Message = { role: "user", text: "And now?" };
    expect(contentOf(hostById("openai"), "gpt-5.6", message)).toBe("And now?");
  });
});

describe("the history in Responses", () => {
  const contentOf = (model: string, message = asked()) => {
    const request = { ...BARE_REQUEST, model, messages: [message] };
    const body = toResponsesBody(request, hostById("openai"), false);
    return JSON.parse(JSON.stringify(body)).input[0].content;
  };
  const text = (value: string) => ({ type: "input_text", text: value });

  it("has one part per turn, without marks for models that take none", () => {
    expect(contentOf("gpt-5.4")).toEqual([...HISTORY, "And now?"].map(text));
  });

  it("has marks after its newest blocks and the attachments, three in all", () => {
    expect(contentOf("gpt-5.6", asked({ parts: [image] }))).toEqual([
      text("one\n\n"),
      text("two\n\n"),
      { ...text("three\n\n"), ...BREAKPOINT },
      { ...text("four\n\n"), ...BREAKPOINT },
      expect.objectContaining({ type: "input_image", ...BREAKPOINT }),
      text("And now?"),
    ]);
  });
});

describe("the key of a prompt cache", () => {
  const keyOf = (host: string, params: Record<string, unknown> = {}) => {
    const request = { ...BARE_REQUEST, params, cacheKey: "k" };
    return [
      toChatBody(request, hostById(host))["prompt_cache_key"],
      toResponsesBody(request, hostById(host), false)["prompt_cache_key"],
    ];
  };

  it.each([
    { host: "openai", expected: "k" },
    { host: "mistral", expected: "k" },
    { host: "custom", expected: undefined },
  ])("is sent to $host: $expected", ({ host, expected }) => {
    expect(keyOf(host)).toEqual([expected, expected]);
  });

  it("of a config replaces it", () => {
    expect(keyOf("openai", { prompt_cache_key: "own" })).toEqual(["own", "own"]);
  });
});

it("in the Gemini API, the history has one part per turn before the attachments", () => {
  expect(toContents([asked({ parts: [image] })])).toEqual([
    {
      role: "user",
      parts: [
        ...HISTORY.map((text) => ({ text })),
        { inlineData: { mimeType: "image/png", data: "iVBORw0=" } },
        { text: "And now?" },
      ],
    },
  ]);
});
