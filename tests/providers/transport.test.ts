import { describe, expect, it } from "vitest";
import { transport } from "../../src/providers/transport";
import { NO_HOOKS } from "../fakes/endpoint";

const HTML = { "content-type": "text/html; charset=utf-8" };
const asked = (response: Response) =>
  transport(
    { fetch: async () => response, apiKey: "the-key-of-somebody", hooks: NO_HOOKS },
    { allowedHeaders: new Set(), onBytes: () => undefined },
  )("https://models.example/v1");

describe("a web page with a success status", () => {
  it.each([
    {
      name: "with a title",
      page: "<html><title>Sign in</title></html>",
      says: "an HTML page: Sign in",
    },
    { name: "without a title", page: "<!doctype html><p>hello", says: "an HTML page" },
    {
      name: "with a key in it",
      page: "<html><title>the-key-of-somebody</title>",
      says: "an HTML page: [redacted]",
    },
    { name: "without contents", page: "", says: "an empty page" },
  ])("$name is reported as a web page", async ({ page, says }) => {
    await expect(asked(new Response(page, { headers: HTML }))).rejects.toMatchObject({
      failureClass: "transient",
      code: "bad_response",
      message: `Expected an event stream, got ${says}`,
    });
  });
});
