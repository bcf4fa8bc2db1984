import { describe, expect, it } from "vitest";
import { fetchOf, modelNetwork } from "../../../durable-objects/shared/outgoing";
import { httpTool } from "../../../src/tools/http/http-tool";
import { MAX_RESPONSE_BYTES } from "../../../src/tools/http/response";
import { guardedNetwork, SECRET, useAnsweringServer } from "./answering-server";
import { contextWith, toolAt } from "./tool-builders";

const server = useAnsweringServer();

describe("a call returns", () => {
  it.each([
    { path: "/empty", result: { outcome: "ok", text: "" } },
    { path: "/unnamed", result: { outcome: "ok", text: "no type" } },
    { path: "/latin", result: { outcome: "ok", text: "Wü" } },
    { path: "/odd-charset", result: { outcome: "ok", text: "plain" } },
    { path: "/controls", result: { outcome: "ok", text: "a\\x1b[2Jb\\u202ec\nd" } },
    {
      path: "/missing",
      result: { outcome: "error", text: "HTTP 404 Not Found\nthere is no such thing" },
    },
  ])("the response of $path", async ({ path, result }) =>
    expect(await server.run(path)).toEqual(result),
  );

  it("the target of a redirect, without following it", async () => {
    expect(await server.run("/moved")).toEqual({
      outcome: "error",
      text: 'HTTP 302 Found: the server leads to "http://169.254.169.254/latest", and redirects are not followed.',
    });
    expect(server.received).toHaveLength(1);
  });

  it("a body up to the limit, and reads no further", async () => {
    const { outcome, text } = await server.run("/endless");
    expect(outcome).toBe("ok");
    expect(text).toHaveLength(
      MAX_RESPONSE_BYTES +
        `\n[Cut here: the server sent more than ${MAX_RESPONSE_BYTES} bytes.]`.length,
    );
    // The server also fills buffers
    expect(server.sentBytes()).toBeLessThan(MAX_RESPONSE_BYTES * 4);
  });

  it("no secret that the server repeats", async () => {
    const { text } = await server.run("/secret", { headers: { "x-key": "${KEY}" } });
    expect(server.received[0]?.headers["x-key"]).toBe(SECRET);
    expect(text).toBe("HTTP 401 Unauthorized\nno such key: [redacted]");
  });

  it.each([
    { cutText: "the target of a redirect", path: "/leads-far", filler: "l" },
    { cutText: "the media type of a body that is not shown", path: "/typed", filler: "t" },
    { cutText: "a body above the limit", path: "/repeats-at-the-end", filler: "x" },
    {
      cutText: "a body above the limit with the secret in base64",
      path: "/repeats-in-base64",
      filler: "-",
    },
  ])("no half of a secret if $cutText is cut", async ({ path, filler }) => {
    const { text } = await server.run(path, { headers: { "x-key": "${KEY}" } });
    const [, remainder = ""] = new RegExp(`${filler}{80}(?!${filler})(.*)`, "s").exec(text) ?? [];
    expect(remainder).toMatch(/^(?:\[[redacted]*\]?)?(?:"|, \d|:|\n\[Cut here)/);
  });
});

describe("a call sends", () => {
  it("the model's arguments and the presets, validated, with an idempotency key", async () => {
    const tool = httpTool(
      toolAt(`${server.origin()}/echo`, {
        method: "POST",
        parameters: {
          type: "object",
          properties: { a: { type: "integer" }, b: {} },
          required: ["a", "b"],
          additionalProperties: false,
        },
        preset: { b: "set" },
      }),
      () => undefined,
    );
    expect(tool.spec.parameters).toEqual({
      type: "object",
      properties: { a: { type: "integer" } },
      required: ["a"],
      additionalProperties: false,
    });
    expect(await tool.run({ a: 1 }, contextWith(guardedNetwork))).toMatchObject({ outcome: "ok" });
    expect(server.received).toMatchObject([
      { method: "POST", body: '{"a":1,"b":"set"}', headers: { "idempotency-key": "key-1" } },
    ]);
  });

  it.each([[{ a: "1" }], [{ a: 1, b: "own" }], [null]])(
    "nothing if its arguments are invalid: %j",
    async (args) => {
      const parameters = {
        type: "object",
        properties: { a: { type: "integer" }, b: {} },
        additionalProperties: false,
      };
      const tool = httpTool(
        toolAt(`${server.origin()}/echo`, { parameters, preset: { b: "set" } }),
        () => undefined,
      );
      expect(await tool.run(args, contextWith(guardedNetwork))).toMatchObject({ outcome: "error" });
      expect(server.received).toEqual([]);
    },
  );

  const serviceNetwork = modelNetwork({ ALLOWED_ORIGINS: "" })(fetch);
  it.each<{ refuser: string; fetch: typeof globalThis.fetch }>([
    { refuser: "the guard of the tests", fetch: guardedNetwork },
    {
      refuser: "the service's own guard",
      fetch: fetchOf(serviceNetwork),
    },
  ])("nothing to an address that $refuser refuses", async ({ fetch }) => {
    const tool = httpTool(toolAt("https://10.0.0.1/x", { method: "POST" }), () => undefined);
    const result = await tool.run({}, contextWith(fetch));
    expect(result).toMatchObject({
      outcome: "error",
      text: expect.stringMatching(/^Nothing was sent: The address names 10\.0\.0\.1/),
    });
  });

  it("nothing if a secret of its headers is missing", async () => {
    expect(await server.run("/echo", { headers: { "x-key": "${OTHER}" } })).toMatchObject({
      outcome: "error",
    });
    expect(server.received).toEqual([]);
  });
});
