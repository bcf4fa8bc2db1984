import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify } from "../../src/providers/errors";
import { ProviderError } from "../../src/providers/provider";
import { cpuMs } from "../fakes/cpu-time";

const KEY = "my-secret-key-123";
const error = (fields: object) => ({ error: fields });
const says = (message: string) => error({ message });

describe("classify", () => {
  it.each([
    // determined by the status
    { status: 401, body: says("Incorrect API key provided"), is: "bad_credentials" },
    { status: 403, body: says("Forbidden"), is: "bad_credentials" },
    { status: 403, body: says("Country not supported"), is: "bad_request", code: "access_blocked" },
    {
      status: 404,
      body: error({ message: "The model `x` does not exist", code: "model_not_found" }),
      is: "unknown_model",
    },
    { status: 404, body: "404 page not found", is: "unknown_model", code: "not_found" },
    {
      status: 429,
      body: says("Rate limit reached for gpt-4o"),
      is: "transient",
      code: "rate_limited",
    },
    { status: 408, body: "", is: "transient", code: "timeout" },
    { status: 409, body: "", is: "transient", code: "conflict" },
    { status: 425, body: "", is: "transient", code: "too_early" },
    { status: 500, body: says("oops"), is: "transient", code: "server_error" },
    {
      status: 502,
      body: "<html><title>502 Bad Gateway</title></html>",
      is: "transient",
      code: "server_error",
    },
    {
      status: 503,
      body: says("The engine is currently overloaded"),
      is: "transient",
      code: "overloaded",
    },
    { status: 504, body: "", is: "transient", code: "timeout" },
    { status: 524, body: "", is: "transient", code: "timeout" },
    { status: 529, body: "", is: "transient", code: "overloaded" },
    {
      status: 400,
      body: says("'temperature' must be at most 2"),
      is: "bad_request",
      code: "bad_request",
    },
    {
      status: 422,
      body: { detail: [{ msg: "field required" }] },
      is: "bad_request",
      code: "bad_request",
    },
    { status: 307, body: "", is: "bad_request", code: "redirect_refused" },
    // quota
    {
      status: 429,
      body: error({ message: "You exceeded your current quota", code: "insufficient_quota" }),
      is: "quota",
    },
    {
      status: 429,
      body: error({ message: "x", type: "exceeded_current_quota_error" }),
      is: "quota",
    },
    {
      status: 429,
      body: error({ message: "余额不足或无可用资源包,请充值。", code: "1113" }),
      is: "quota",
    },
    { status: 402, body: says("Insufficient Balance"), is: "quota" },
    { status: 402, body: "", is: "quota" },
    { status: 403, body: says("Your team has run out of credits"), is: "quota" },
    {
      status: 429,
      body: says("You exceeded your current quota, please retry in 30s"),
      is: "transient",
    },
    // context
    {
      status: 400,
      body: error({ message: "x", code: "context_length_exceeded" }),
      is: "context_too_long",
    },
    {
      status: 400,
      body: says("This model's maximum context length is 8192 tokens. However, you requested 9000"),
      is: "context_too_long",
    },
    {
      status: 400,
      body: says("prompt is too long: 210000 tokens > 200000 maximum"),
      is: "context_too_long",
    },
    {
      status: 400,
      body: says("Input exceeds the context window of this model"),
      is: "context_too_long",
    },
    {
      status: 400,
      body: says("too many tokens: total number of tokens must be below 4096"),
      is: "context_too_long",
    },
    {
      status: 422,
      body: { message: "Please reduce the length of the messages or completion." },
      is: "context_too_long",
    },
    { status: 413, body: says("Request too large for model"), is: "context_too_long" },
    {
      status: 400,
      body: says("Range of input length should be [1, 30720]"),
      is: "context_too_long",
    },
    {
      status: 429,
      body: says("Too many tokens, please wait before trying again."),
      is: "transient",
    },
    {
      status: 400,
      body: says(
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
      ),
      is: "bad_request",
    },
    // content
    {
      status: 400,
      body: error({ message: "The response was filtered", code: "content_filter" }),
      is: "content_filter",
    },
    {
      status: 400,
      body: error({ message: "x", code: "content_policy_violation" }),
      is: "content_filter",
    },
    { status: 400, body: says("Content Exists Risk"), is: "content_filter" },
    {
      status: 400,
      body: error({ message: "x", code: "data_inspection_failed" }),
      is: "content_filter",
    },
    { status: 403, body: says("Your input was flagged by moderation"), is: "content_filter" },
    // models
    { status: 400, body: says("Model Not Exist"), is: "unknown_model" },
    { status: 400, body: says("foo/bar is not a valid model ID"), is: "unknown_model" },
    // inside a stream
    {
      status: undefined,
      body: error({ message: "Overloaded", type: "overloaded_error" }),
      is: "transient",
      code: "overloaded",
    },
    {
      status: undefined,
      body: error({ message: "The server had an error", type: "server_error" }),
      is: "transient",
      code: "server_error",
    },
    {
      status: undefined,
      body: error({ message: "Provider returned error", code: 502 }),
      is: "transient",
      code: "server_error",
    },
    {
      status: undefined,
      body: error({ message: "slow down", code: 429 }),
      is: "transient",
      code: "rate_limited",
    },
    {
      status: undefined,
      body: error({ message: "bad", type: "invalid_request_error" }),
      is: "bad_request",
    },
    {
      status: undefined,
      body: error({ message: "bad", code: "invalid_api_key" }),
      is: "bad_credentials",
    },
    { status: undefined, body: "gone", is: "transient", code: "server_error" },
  ])("$status $body is $is", ({ status, body, is, code }) => {
    const failure = classify(
      { status, body: typeof body === "string" ? body : JSON.stringify(body) },
      [KEY],
    );
    expect(failure.failureClass).toBe(is);
    if (code) expect(failure.code).toBe(code);
  });

  it.each([
    { name: "reads the message of the error", body: says("no luck"), expected: "no luck" },
    { name: "reads an error that is a text", body: { error: "no luck" }, expected: "no luck" },
    { name: "reads a message at the top level", body: { message: "no luck" }, expected: "no luck" },
    { name: "reads a detail", body: { detail: "no luck" }, expected: "no luck" },
    { name: "reads an error in a list", body: [says("no luck")], expected: "no luck" },
    {
      name: "reads the error of the provider behind a router",
      body: error({ message: "Provider error", metadata: { raw: "no luck" } }),
      expected: "Provider error: no luck",
    },
    { name: "reads plain text", body: "no luck\n", expected: "no luck" },
    {
      name: "reads the title of a web page",
      body: "<!DOCTYPE html><head><title> 502 Bad Gateway </title>",
      expected: "an HTML page: 502 Bad Gateway",
    },
    {
      name: "names the status if there is no message",
      body: "",
      expected: "HTTP 500 without a message",
    },
    {
      name: "names the status if the message is blank",
      body: { error: " " },
      expected: "HTTP 500 without a message",
    },
  ])("$name", ({ body, expected }) =>
    expect(classify({ status: 500, body }, []).message).toBe(expected),
  );

  it.each([
    {
      name: "to check the address if there is no such route",
      status: 404,
      body: "404 page not found",
      expected: "The endpoint does not exist: check base_url and model. (404 page not found)",
    },
    {
      name: "to use the final address of a redirect",
      status: 308,
      body: "",
      expected:
        "The endpoint redirects, and redirects are not followed: give its final address as base_url. (HTTP 308 without a message)",
    },
  ])("advises users $name", ({ status, body, expected }) =>
    expect(classify({ status, body }, []).message).toBe(expected),
  );

  it.each([
    {
      name: "takes the delay from the headers before the body",
      retryAfterMs: 5,
      limitResetMs: 7,
      says: "try again in 9s",
      status: 429,
      waits: 5,
    },
    {
      name: "takes the delay from the body before the rate-limit headers",
      limitResetMs: 7,
      says: "try again in 9s",
      status: 429,
      waits: 9_000,
    },
    {
      name: "takes the delay from rate-limit headers if there is no other",
      limitResetMs: 7,
      says: "slow down",
      status: 429,
      waits: 7,
    },
    {
      name: "takes the delay from the body of any transient failure",
      says: "Retry after 2 seconds",
      status: 503,
      waits: 2_000,
    },
    {
      name: "ignores a delay in the text if waiting does not help",
      says: "Bad value. Retry in 5s",
      status: 400,
      waits: undefined,
    },
  ])("$name", ({ says: message, waits, ...failure }) => {
    expect(classify({ ...failure, body: error({ message }) }, []).details.retryAfterMs).toBe(waits);
  });

  it.each([
    {
      name: "of deep nesting",
      body: Array.from({ length: 40 }).reduce((inner) => ({ error: inner }), "x"),
    },
    {
      name: "of many fields",
      body: error({
        message: "x",
        details: Array.from({ length: 10_000 }, () => ({ reason: "y" })),
      }),
    },
    { name: "of one long text", body: says(`model ${"a.b ".repeat(200_000)}`) },
    { name: "of digits", body: says(`try again in ${"1".repeat(200_000)}`) },
    { name: "of stars", body: says("*".repeat(200_000)) },
    { name: "of braces", body: says(`"error": ${"{".repeat(200_000)}`) },
    {
      name: "with null inside",
      body: error({ message: null, code: null, details: [null], errors: null, innererror: 1 }),
    },
    { name: "of a number", body: 7 },
  ])("reads a body $name within 500 ms", ({ body }) => {
    const begun = cpuMs();
    expect(classify({ status: 418, body: JSON.stringify(body) }, [KEY])).toMatchObject({
      failureClass: "bad_request",
    });
    expect(cpuMs() - begun).toBeLessThan(500);
  });

  it("classifies any error body", () => {
    const words = fc.constantFrom(
      "model ",
      "per day ",
      "retry in 1",
      "token count ",
      "limit: ",
      "***",
      '{"error": ',
      "s ",
      "a.b ",
    );
    const text = fc.array(words, { maxLength: 2_000 }).map((parts) => parts.join(""));
    const fields = fc.constantFrom(
      "error",
      "errors",
      "message",
      "code",
      "type",
      "status",
      "details",
      "metadata",
      "raw",
      "innererror",
    );
    const { body } = fc.letrec((tie) => ({
      body: fc.oneof(
        { maxDepth: 4 },
        text,
        fc.jsonValue({ maxDepth: 1 }),
        fc.dictionary(fields, tie("body")),
        fc.array(tie("body")),
      ),
    }));
    fc.assert(
      fc.property(
        body,
        fc.constantFrom(undefined, 200, 400, 403, 404, 429, 500),
        (value, status) => {
          const begun = cpuMs();
          const failure = classify({ status, body: value }, [KEY]);
          expect(failure).toBeInstanceOf(ProviderError);
          expect(failure.message).not.toBe("");
          expect(cpuMs() - begun).toBeLessThan(1_000);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("keeps at most 500 characters and no part of a key", () => {
    const { message } = classify(
      { status: 400, body: says(`${"x ".repeat(245)}${KEY} ${"y".repeat(600)}`) },
      [KEY],
    );
    expect(message).toHaveLength(500);
    expect(message).not.toContain("my-secret");
  });

  it("has the status and the delay, but no cause", () => {
    const failure = classify({ status: 429, body: "", retryAfterMs: 5 }, []);
    expect(failure.details).toEqual({ status: 429, retryAfterMs: 5 });
    expect(failure.cause).toBeUndefined();
  });
});
