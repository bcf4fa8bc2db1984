import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { originOf, toRequest } from "../../../src/tools/http/request";
import type { SecretUse } from "../../../src/tools/secret-bindings";
import { toolAt } from "./tool-builders";

const OPTIONS = {
  secretOf: (name: string, { url }: SecretUse) => SECRETS[`${name} ${new URL(url).origin}`],
  idempotencyKey: "key-1",
};
const SECRETS: Record<string, string> = { "KEY https://x.net": "s3cret-of-x" };

type Row = { name: string; tool: HttpToolDefinition; args: Record<string, unknown> };
const requestFor = async ({ tool, args }: Omit<Row, "name">) => {
  const result = await toRequest(tool, args, OPTIONS);
  if (!result.ok) throw new Error(result.problem);
  return result.request;
};

describe("arguments of a GET are in the URL", () => {
  it.each<Row & { url: string }>([
    {
      name: "in place of their placeholders",
      tool: toolAt("https://x.net/{city}/now"),
      args: { city: "Wien" },
      url: "https://x.net/Wien/now",
    },
    {
      name: "escaped, so that each is one path segment",
      tool: toolAt("https://x.net/i/{id}?q={q}"),
      args: { id: "a/b?c#d", q: "x&y=z %" },
      url: "https://x.net/i/a%2Fb%3Fc%23d?q=x%26y%3Dz%20%25",
    },
    {
      name: "in the query if they have no placeholder",
      tool: toolAt("https://x.net/s?v=1"),
      args: { q: "a b", n: 3, deep: true },
      url: "https://x.net/s?v=1&q=a+b&n=3&deep=true",
    },
    {
      name: "as repeated names for lists, and as JSON for mappings",
      tool: toolAt("https://x.net/s"),
      args: { tag: ["a", "b"], where: { x: 1 } },
      url: "https://x.net/s?tag=a&tag=b&where=%7B%22x%22%3A1%7D",
    },
    {
      name: "only if they are not null",
      tool: toolAt("https://x.net/s?q={q}"),
      args: { q: null, n: null },
      url: "https://x.net/s?q=",
    },
    {
      name: "without those that presets replace",
      tool: toolAt("https://x.net/{v}", { preset: { v: "v1", units: "c" } }),
      args: { v: "v2", units: "f", city: "Wien" },
      url: "https://x.net/v1?units=c&city=Wien",
    },
    {
      name: "with lone surrogates replaced",
      tool: toolAt("https://x.net/{v}"),
      args: { v: "\ud800" },
      url: "https://x.net/%EF%BF%BD",
    },
    {
      name: "also if their names are properties of Object.prototype",
      tool: toolAt("https://x.net/s"),
      args: { constructor: 1 },
      url: "https://x.net/s?constructor=1",
    },
  ])("$name", async ({ tool, args, url }) => {
    expect(await requestFor({ tool, args })).toMatchObject({ url, body: null });
  });
});

describe("a request with another method", () => {
  it.each(["POST", "PUT", "PATCH"] as const)(
    "has its arguments in the body, and the idempotency key in a header: %s",
    async (method) => {
      const tool = toolAt("https://x.net/{id}", { method, preset: { by: "us" } });
      expect(await requestFor({ tool, args: { id: 7, text: "a", by: "me" } })).toMatchObject({
        url: "https://x.net/7",
        body: '{"text":"a","by":"us"}',
        headers: { "content-type": "application/json", "idempotency-key": "key-1" },
      });
    },
  );

  it("has its arguments in the URL if the method is DELETE", async () => {
    const request = await requestFor({
      tool: toolAt("https://x.net/{id}", { method: "DELETE" }),
      args: { id: 7, force: true },
    });
    expect(request).toMatchObject({ url: "https://x.net/7?force=true", body: null });
    expect(request.headers).toHaveProperty("idempotency-key", "key-1");
  });
});

describe("a secret", () => {
  it("is inserted into its header, and is listed in `secrets`", async () => {
    const request = await requestFor({
      tool: toolAt("https://x.net/", { headers: { authorization: "Bearer ${KEY}" } }),
      args: {},
    });
    expect(request.headers).toHaveProperty("authorization", "Bearer s3cret-of-x");
    expect(request.secrets).toEqual(["s3cret-of-x"]);
  });

  it("that is bound to another origin is missing, and the request is not sent", async () => {
    const tool = toolAt("https://y.net/", { headers: { authorization: "Bearer ${KEY}" } });
    expect(await toRequest(tool, {}, OPTIONS)).toEqual({
      ok: false,
      problem:
        "Nothing was sent: the service has no KEY for GET https://y.net/. Go on without this tool.",
    });
  });

  it("is not inserted into an argument", async () => {
    const tool = toolAt("https://x.net/", { method: "POST", headers: { "x-a": "a" } });
    expect((await requestFor({ tool, args: { a: "${KEY}" } })).body).toBe('{"a":"${KEY}"}');
  });
});

describe("an argument in a URL is refused if it", () => {
  it.each([
    { name: "is missing", args: {}, expectedText: "id is missing" },
    { name: "is empty", args: { id: "" }, expectedText: "id is missing" },
    { name: "is a list", args: { id: ["a"] }, expectedText: "must be a text or a number" },
    { name: 'is ".."', args: { id: ".." }, expectedText: 'may not hold "." or ".."' },
    { name: 'is "."', args: { id: "." }, expectedText: 'may not hold "." or ".."' },
    {
      name: 'contains ".." after a slash',
      args: { id: "a/../../admin" },
      expectedText: 'may not hold "." or ".."',
    },
    {
      name: 'contains ".." after a backslash',
      args: { id: "a\\..\\admin" },
      expectedText: 'may not hold "." or ".."',
    },
    {
      name: "makes the URL too long",
      args: { id: "a".repeat(9_000) },
      expectedText: "characters; it may have 8192",
    },
  ])("$name", async ({ args, expectedText }) => {
    expect(await toRequest(toolAt("https://x.net/items/{id}/x"), args, OPTIONS)).toMatchObject({
      ok: false,
      problem: expect.stringContaining(expectedText),
    });
  });
});

it("for any arguments, a request goes to the tool's origin and below its path, or is not sent", async () => {
  const tool = toolAt("https://x.net/items/{id}/x?q={q}");
  await fc.assert(
    fc.asyncProperty(
      fc.record({ id: fc.string({ unit: "binary" }), q: fc.string({ unit: "binary" }) }),
      async (args) => {
        const result = await toRequest(tool, args, OPTIONS);
        if (!result.ok) return;
        const { origin, pathname } = new URL(result.request.url);
        expect(origin).toBe(originOf(tool));
        expect(pathname).toMatch(/^\/items\/[^/]+\/x$/);
      },
    ),
    { numRuns: 500 },
  );
});
