import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maySend } from "../../src/tools/secret-bindings";

const ORIGIN = "https://api.example.com";
/** Decodes each byte of an escape on its own, as a server may do that does not check UTF-8. */
const decodeBytes = (escapes: string) =>
  escapes.replaceAll(/%../g, (byte) => String.fromCharCode(Number.parseInt(byte.slice(1), 16)));
const BINDINGS = [{ origin: ORIGIN, paths: ["/v1/public"] }];

describe("a secret that is bound to the path /v1/public is sent", () => {
  it.each([
    { target: "/v1/public", isSent: true },
    { target: "/v1/public/", isSent: true },
    { target: "/v1/public/items/7?x=/../..", isSent: true },
    { target: "/v1/public/a%20b", isSent: true },
    { target: "/v1/./public", isSent: true },
    { target: "//v1/public", isSent: true },
    { target: "/v1/publicity", isSent: false },
    { target: "/v1/", isSent: false },
    { target: "/", isSent: false },
    { target: "/V1/public", isSent: false },
    { target: "/v1/public/../admin", isSent: false },
    { target: "/v1/public/%2e%2e/admin", isSent: false },
    { target: "/v1/public/..%2fadmin", isSent: false },
    { target: "/v1/public/..%5Cadmin", isSent: false },
    { target: "/v1/public/%252e%252e%252fadmin", isSent: false },
    { target: "/v1/public/%25252e%25252e%25252fadmin", isSent: false },
    { target: "/v1/public/%2525252e%2525252e%2525252fadmin", isSent: false },
    { target: "/v1/public/%aa%2e%2e%2fadmin", isSent: false },
    { target: "/v1/public/%c0%ae%c0%ae/admin", isSent: false },
    { target: "/v1/public/..;/admin", isSent: false },
    { target: "/v1/public/..;x=1/admin", isSent: false },
    { target: "/admin/%2e%2e/v1/public", isSent: true },
    { target: "/x%2f..%2fv1/public", isSent: false },
  ])("to $target: $isSent", ({ target, isSent }) => {
    expect(maySend(BINDINGS, { url: ORIGIN + target, method: "GET" })).toBe(isSent);
  });

  it("only below that path, for any way in which a server decodes the URL", () => {
    const piece = fc.constantFrom(
      "..",
      ".",
      "%2e",
      "%2E",
      "%252e",
      "/",
      "\\",
      "%2f",
      "%5c",
      "%252f",
      ";",
      "a",
      "v1",
      "public",
      "%25",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const url = `${ORIGIN}/v1/public/${pieces.join("")}`;
        if (!maySend(BINDINGS, { url, method: "GET" })) return;
        let { pathname } = new URL(url);
        for (let index = 0; index < 6; index += 1) {
          pathname = pathname
            .replace(/(?:%[0-9a-f]{2})+/gi, decodeBytes)
            .replaceAll(/;[^/\\]*/g, "");
          expect(new URL(pathname.replace(/^\/+/, "/"), ORIGIN).pathname).toMatch(
            /^\/+v1\/+public(\/|$)/,
          );
        }
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("a secret is sent", () => {
  const bindings = [
    { origin: ORIGIN, methods: ["GET" as const] },
    { origin: "https://b.net", paths: ["/x y".replace(" ", "%20")] },
  ];
  it.each([
    {
      method: "GET",
      url: `${ORIGIN}/any`,
      isSent: true,
      rule: "with a method that it is bound to",
    },
    { method: "get", url: `${ORIGIN}/any`, isSent: true, rule: "with a method in lower case" },
    { method: "DELETE", url: `${ORIGIN}/any`, isSent: false, rule: "not with another method" },
    {
      method: "DELETE",
      url: "https://b.net/x%20y/z",
      isSent: true,
      rule: "with any method if the binding has no methods",
    },
    { method: "GET", url: "https://c.net/", isSent: false, rule: "not to another origin" },
    {
      method: "GET",
      url: "http://api.example.com/",
      isSent: false,
      rule: "not with another scheme",
    },
    { method: "GET", url: `${ORIGIN}:8443/`, isSent: false, rule: "not to another port" },
    {
      method: null,
      url: "https://b.net",
      isSent: true,
      rule: "to a bound origin if only the origin is checked",
    },
    {
      method: null,
      url: "https://c.net",
      isSent: false,
      rule: "not to another origin if only the origin is checked",
    },
  ])("$rule", ({ method, url, isSent }) => {
    expect(maySend(bindings, { url, method })).toBe(isSent);
  });
});
