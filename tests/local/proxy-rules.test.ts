import { describe, expect, it } from "vitest";
import { responseHeaders, forwardedHeaders, refusalOf, requestLine } from "../../local/proxy-rules";

const statusFor = (target: string, host = "127.0.0.1:8787", method = "GET") =>
  refusalOf({ method, target, rawHeaders: ["Host", host] })?.status ?? "passes";

describe("the proxy in front of npm start", () => {
  it.each(["127.0.0.1:8787", "localhost:8787", "LOCALHOST", "127.0.0.2:1", "[::1]:8787", "[::1]"])(
    "passes Host %s",
    (host) => {
      expect(statusFor("/api/sessions", host)).toBe("passes");
    },
  );

  it.each([
    "evil.example:8787",
    "127.0.0.1.evil.example",
    "localhost.evil.example:8787",
    "evil.example@127.0.0.1",
    "127.0.0.1:8787, evil.example",
    "127.0.0.1:8787:80",
    "miniflare-unsafe-internal-capnp-connect",
    "0.0.0.0:8787",
    "192.168.1.5:8787",
    "",
  ])("refuses Host %s (H1)", (host) => {
    expect(statusFor("/api/sessions", host)).toBe(421);
  });

  it("refuses a request without a Host header, or with two (H1)", () => {
    expect(refusalOf({ method: "GET", target: "/", rawHeaders: [] })?.status).toBe(421);
    const two = ["Host", "127.0.0.1:8787", "host", "evil.example"];
    expect(refusalOf({ method: "GET", target: "/", rawHeaders: two })?.status).toBe(421);
  });

  it.each([
    "/cdn-cgi",
    "/cdn-cgi/local/explorer/api",
    "/CDN-CGI/local/scheduled?cron=x",
    "//cdn-cgi/local/scheduled",
    "/%63dn-cgi/local",
    "/%2563dn-cgi/local",
    "/.%2fcdn-cgi/local",
    "/a/../cdn-cgi/local",
    "/a/%2e%2e/cdn-cgi/local",
    "/../cdn-cgi/local",
    "\\cdn-cgi".replace(/^/, "/"),
  ])("has no route at %s (H2, H4)", (target) => {
    expect(statusFor(target)).toBe(404);
  });

  it.each([
    "/",
    "/api/contexts/site/files/cdn-cgi/notes.md",
    "/cdn-cgi-notes",
    "/docs?next=/cdn-cgi/",
  ])("passes %s, which is not a path of the platform", (target) =>
    expect(statusFor(target)).toBe("passes"),
  );

  it.each([
    { method: "CONNECT", target: "127.0.0.1:22" },
    { method: "GET", target: "http://evil.example/api/sessions" },
    { method: "OPTIONS", target: "*" },
  ])("refuses $method $target, which is not a path (H1)", ({ method, target }) => {
    expect(statusFor(target, "127.0.0.1", method)).toBe(400);
  });
});

describe("headers", () => {
  it.each([
    "origin",
    "Sec-Fetch-Site",
    "host",
    "content-length",
    "transfer-encoding",
    "massgen-hops",
  ])("a client cannot remove %s as a header of its connection (H1)", (name) => {
    const sent = ["Connection", `x-own, ${name}`, "X-Own", "1", name, "a"];
    expect(forwardedHeaders(sent, undefined)).toEqual([name, "a"]);
  });

  it("drops headers that could name another address or another client (H1)", () => {
    const forged = [
      "MF-Original-URL",
      "CF-Connecting-IP",
      "cf-worker",
      "X-Forwarded-For",
      "X-Forwarded-Host",
      "Forwarded",
    ];
    const sent = [...forged, "X-Real-IP", "mf-cf-blob"].flatMap((name) => [name, "evil"]);
    expect(forwardedHeaders([...sent, "Host", "localhost:1", "X-Mine", "1"], "127.0.0.1")).toEqual([
      ...["Host", "localhost:1", "X-Mine", "1"],
      ...["CF-Connecting-IP", "127.0.0.1"],
    ]);
  });

  it("drops connection headers, including those that a client declares as such", () => {
    const sent = [
      "Connection",
      "keep-alive, X-Hop",
      "X-Hop",
      "1",
      "Upgrade",
      "h2c",
      "TE",
      "trailers",
      "Accept",
      "a",
      "Accept",
      "b",
    ];
    expect(forwardedHeaders(sent, undefined)).toEqual(["Accept", "a", "Accept", "b"]);
    expect(responseHeaders(["Connection", "close", "Content-Type", "text/plain"])).toEqual([
      "Content-Type",
      "text/plain",
    ]);
  });
});

describe("a request's line in the log", () => {
  const KEY = "mge_01kb0000000000000000000000_SECRETINURLCANARY";
  it.each([
    { target: `/api/sessions?api_key=${KEY}`, line: "GET /api/sessions 200 (12 ms)" },
    { target: `/api/sessions/${KEY}`, line: "GET /api/sessions/… 200 (12 ms)" },
    { target: `/api/sessions/%6dge_${KEY}`, line: "GET /api/sessions/… 200 (12 ms)" },
    {
      target: "/api/sessions/x/events?ticket=mgt_secret#mge_x",
      line: "GET /api/sessions/x/events 200 (12 ms)",
    },
    {
      target: "/api/sessions/session_01m86w85czhthem804hhcnfqnn/turns/1/answers/agent2.final",
      line: "GET /api/sessions/session_01m86w85czhthem804hhcnfqnn/turns/1/answers/agent2.final 200 (12 ms)",
    },
    { target: "/\u001b[2J/x\nGET /forged", line: "GET /…/…/forged 200 (12 ms)" },
    { target: "/a".repeat(3000), line: `GET ${"/a".repeat(11)} 200 (12 ms)` },
  ])("for $target contains no key and no control character (L14)", ({ target, line }) => {
    expect(requestLine({ method: "GET", target }, 200, 12.3)).toBe(line);
  });
});
