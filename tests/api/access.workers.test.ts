import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

const ask = (url: string, init?: RequestInit) => exports.default.fetch(new Request(url, init));

describe("open access", () => {
  it.each(["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"])(
    "is for %s",
    async (origin) => {
      expect((await ask(`${origin}/api/sessions/session_unknown00`)).status).toBe(404);
    },
  );

  it.each([
    "http://massgen.example.com",
    "http://192.168.0.7:8787",
    "http://127.0.0.1.example.com",
    "http://localhost.evil.example",
  ])("does not apply to %s", async (origin) => {
    const response = await ask(`${origin}/api/sessions/session_unknown00`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await ask(`${origin}/healthz`)).status).toBe(200);
  });

  it.each([
    { name: "says so", headers: { "sec-fetch-site": "cross-site" }, status: 403 },
    { name: "is of another origin", headers: { origin: "https://evil.example" }, status: 403 },
    { name: "hides its origin", headers: { origin: "null" }, status: 403 },
    {
      name: "is our own",
      headers: { origin: "http://127.0.0.1:8787", "sec-fetch-site": "same-origin" },
      status: 404,
    },
    { name: "is no browser page", headers: {}, status: 404 },
  ])("for a page that $name: $status", async ({ headers, status }) => {
    const response = await ask("http://127.0.0.1:8787/api/sessions/session_unknown00/cancel", {
      method: "POST",
      headers,
    });
    expect(response.status).toBe(status);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});
