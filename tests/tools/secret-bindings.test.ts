import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maySend } from "../../src/tools/secret-bindings";

const ORIGIN = "https://api.example.com";
/** Compares byte by byte, like a lax server. */
const decoded = (escapes: string) =>
  escapes.replaceAll(/%../g, (one) => String.fromCharCode(Number.parseInt(one.slice(1), 16)));
const V1 = [{ origin: ORIGIN, paths: ["/v1/public"] }];

describe("a secret that is bound to a path is sent", () => {
  it.each([
    { to: "/v1/public", goes: true },
    { to: "/v1/public/", goes: true },
    { to: "/v1/public/items/7?x=/../..", goes: true },
    { to: "/v1/public/a%20b", goes: true },
    { to: "/v1/./public", goes: true },
    { to: "//v1/public", goes: true },
    { to: "/v1/publicity", goes: false },
    { to: "/v1/", goes: false },
    { to: "/", goes: false },
    { to: "/V1/public", goes: false },
    { to: "/v1/public/../admin", goes: false },
    { to: "/v1/public/%2e%2e/admin", goes: false },
    { to: "/v1/public/..%2fadmin", goes: false },
    { to: "/v1/public/..%5Cadmin", goes: false },
    { to: "/v1/public/%252e%252e%252fadmin", goes: false },
    { to: "/v1/public/%25252e%25252e%25252fadmin", goes: false },
    { to: "/v1/public/%2525252e%2525252e%2525252fadmin", goes: false },
    { to: "/v1/public/%aa%2e%2e%2fadmin", goes: false },
    { to: "/v1/public/%c0%ae%c0%ae/admin", goes: false },
    { to: "/v1/public/..;/admin", goes: false },
    { to: "/v1/public/..;x=1/admin", goes: false },
    { to: "/admin/%2e%2e/v1/public", goes: true },
    { to: "/x%2f..%2fv1/public", goes: false },
  ])("to $to: $goes", ({ to, goes }) => {
    expect(maySend(V1, { url: ORIGIN + to, method: "GET" })).toBe(goes);
  });

  it("only below that path, however a server decodes it", () => {
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
        if (!maySend(V1, { url, method: "GET" })) return;
        let { pathname } = new URL(url);
        for (let nth = 0; nth < 6; nth += 1) {
          pathname = pathname.replace(/(?:%[0-9a-f]{2})+/gi, decoded).replaceAll(/;[^/\\]*/g, "");
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
    { method: "GET", url: `${ORIGIN}/any`, goes: true, why: "by a method that is bound" },
    { method: "get", url: `${ORIGIN}/any`, goes: true, why: "however that is written" },
    { method: "DELETE", url: `${ORIGIN}/any`, goes: false, why: "not by another" },
    {
      method: "DELETE",
      url: "https://b.net/x%20y/z",
      goes: true,
      why: "by any where none is bound",
    },
    { method: "GET", url: "https://c.net/", goes: false, why: "to no other origin" },
    { method: "GET", url: "http://api.example.com/", goes: false, why: "to no other scheme" },
    { method: "GET", url: `${ORIGIN}:8443/`, goes: false, why: "to no other port" },
    { method: null, url: "https://b.net", goes: true, why: "to something of a bound origin" },
    { method: null, url: "https://c.net", goes: false, why: "to nothing of another origin" },
  ])("$why", ({ method, url, goes }) => {
    expect(maySend(bindings, { url, method })).toBe(goes);
  });
});
