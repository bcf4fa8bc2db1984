import { describe, expect, it } from "vitest";
import { checkBaseUrl, parseAllowedOrigins, parseToolOrigins } from "../../src/config/base-url";

describe("a base URL that the operator did not allow", () => {
  it.each([
    "http://127.0.0.1",
    "https://127.0.0.1/v1",
    "https://localhost/v1",
    "https://localhost./v1",
    "https://localhost../v1",
    "https://api.openai.com/v1/chat/completions",
    "https://api.openai.com/v1/responses/",
    "https://api.anthropic.com/v1/messages",
    "https://x.localhost",
    "https://[::1]/",
    "https://0.0.0.0",
    "https://[::]",
    "https://2130706433/",
    "https://0x7f000001/",
    "https://0177.0.0.1/",
    "https://127.1/",
    "https://[::ffff:127.0.0.1]/",
    "https://[::ffff:7f00:1]/",
    "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/",
    "https://[2001:0:1::]/",
    "https://[2001:db8::1]/",
    "https://[3fff:fff::1]/",
    "https://[fd00::1]/",
    "https://[fe80::1]/",
    "https://[fe80::1%25eth0]/",
    "https://[ff02::1]/",
    "https://169.254.169.254/latest",
    "https://metadata.google.internal/",
    "https://100.64.0.1",
    "https://100.127.255.255",
    "https://10.1.2.3",
    "https://172.16.0.1",
    "https://172.31.255.255",
    "https://192.168.1.1",
    "https://198.18.0.1",
    "https://198.19.255.255",
    "https://224.0.0.1",
    "https://255.255.255.255",
    "https://router",
    "https://printer.local",
    "http://api.example.com/v1",
    "https://api.openai.com:22/v1",
    "https://api.openai.com:8443/v1",
    "https://api.openai.com:70000/v1",
    "https://user:secret@api.openai.com/v1",
    "https://api.openai.com/v1?key=1",
    "https://api.openai.com/v1#x",
    "file:///etc/passwd",
    "data:text/plain,x",
    "ftp://api.openai.com",
    "ws://api.openai.com",
    "javascript:alert(1)",
    "blob:https://api.openai.com/x",
    "api.openai.com/v1",
    "",
    `https://api.openai.com/${"x".repeat(2048)}`,
  ])("is refused: %s", (url) => {
    expect(checkBaseUrl(url, { allowedOrigins: [] })).toMatchObject({ ok: false });
  });

  it.each([
    ["https://api.openai.com/v1", "https://api.openai.com/v1"],
    ["https://api.z.ai/api/paas/v4/", "https://api.z.ai/api/paas/v4"],
    ["https://API.Groq.com:443/openai/v1//", "https://api.groq.com/openai/v1"],
    ["https://api.example.org", "https://api.example.org"],
    ["https://8.8.8.8/v1", "https://8.8.8.8/v1"],
    ["https://172.32.0.1", "https://172.32.0.1"],
    ["https://100.128.0.1", "https://100.128.0.1"],
    ["https://[2606:4700::1111]/v1", "https://[2606:4700::1111]/v1"],
  ])("is accepted if it is public https: %s", (url, baseUrl) => {
    expect(checkBaseUrl(url, { allowedOrigins: [] })).toEqual({ ok: true, baseUrl });
  });
});

describe("an allowed origin", () => {
  it.each([
    ["http://127.0.0.1:9000/v1", ["http://127.0.0.1:9000"], true],
    ["http://127.0.0.1:9001/v1", ["http://127.0.0.1:9000"], false],
    ["http://127.0.0.1:9001/v1", ["http://127.0.0.1:*"], true],
    ["https://127.0.0.1:9001/v1", ["http://127.0.0.1:*"], false],
    ["http://localhost:9001/v1", ["http://127.0.0.1:*"], false],
    ["http://10.0.0.5:8000/v1", ["http://10.0.0.5:8000"], true],
    ["http://10.0.0.5:8000/v1", ["http://10.0.0.5:*"], false],
    ["https://proxy.example.org:8443/v1", ["https://proxy.example.org:8443"], true],
    ["https://proxy.example.org.evil.org:8443/v1", ["https://proxy.example.org:8443"], false],
    ["http://user:x@127.0.0.1:9000/v1", ["http://127.0.0.1:9000"], false],
    ["file:///etc/passwd", ["null"], false],
  ])("%s is allowed by %j: %s", (url, allowedOrigins, isAllowed) => {
    expect(checkBaseUrl(url, { allowedOrigins }).ok).toBe(isAllowed);
  });

  it("is an entry of a list with commas", () => {
    expect(parseAllowedOrigins(" http://127.0.0.1:*, https://a.example.org/ ,,")).toEqual([
      "http://127.0.0.1:*",
      "https://a.example.org",
    ]);
    expect(parseAllowedOrigins(undefined)).toEqual([]);
  });
});

describe("an origin that no operator can allow (H6, L17)", () => {
  const ownOrigins = ["http://127.0.0.1:8787", "https://ours.example.org"];
  const allowedOrigins = [
    "http://127.0.0.1:*",
    "http://localhost:*",
    "http://[::1]:*",
    "http://localhost:9229",
  ];
  it.each([
    { url: "http://127.0.0.1:8787/v1", reason: "own address" },
    { url: "http://localhost:8787/v1", reason: "own address" },
    { url: "http://[::1]:8787", reason: "own address" },
    { url: "https://ours.example.org/api", reason: "own address" },
    { url: "http://127.0.0.1:9000/cdn-cgi/local/explorer", reason: "/cdn-cgi" },
    { url: "http://127.0.0.1:9000//CDN-CGI/local", reason: "/cdn-cgi" },
    { url: "http://127.0.0.1:9229/json", reason: "port 9229" },
    { url: "http://localhost:9229/json", reason: "port 9229" },
    { url: "http://localhost:9222", reason: "port 9222" },
  ])("is refused with the reason '$reason': $url", ({ url, reason }) => {
    for (const allowed of [allowedOrigins, []]) {
      expect(checkBaseUrl(url, { allowedOrigins: allowed, ownOrigins })).toEqual({
        ok: false,
        detail: expect.stringContaining(reason),
        privateOrigin: null,
      });
    }
  });

  it("may be similar to an allowed origin", () => {
    for (const url of [
      "http://127.0.0.1:8788/v1",
      "http://localhost:9221/v1",
      "http://localhost:9250/cdn-cgi-notes",
    ])
      expect(checkBaseUrl(url, { allowedOrigins, ownOrigins }).ok).toBe(true);
  });

  it("must be exact for tools: a `*` allows nothing", () => {
    expect(parseToolOrigins("http://127.0.0.1:*, http://127.0.0.1:3000")).toEqual([
      "http://127.0.0.1:3000",
    ]);
  });
});
