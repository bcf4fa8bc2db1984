import { exports } from "cloudflare:workers";
import { describe, expect, it } from "vitest";

const send = (url: string, init?: RequestInit) => exports.default.fetch(new Request(url, init));

describe("access without a key", () => {
  it.each(["http://127.0.0.1:8787", "http://localhost:8787", "http://[::1]:8787"])(
    "is allowed for requests to %s",
    async (origin) => {
      expect((await send(`${origin}/api/sessions/session_unknown00`)).status).toBe(404);
    },
  );

  it.each([
    "http://massgen.example.com",
    "http://192.168.0.7:8787",
    "http://127.0.0.1.example.com",
    "http://localhost.evil.example",
  ])("is refused for requests to %s", async (origin) => {
    const response = await send(`${origin}/api/sessions/session_unknown00`);
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect((await send(`${origin}/healthz`)).status).toBe(200);
  });

  it.each([
    {
      name: "that belongs to another site",
      headers: { "sec-fetch-site": "cross-site" },
      status: 403,
    },
    { name: "of another origin", headers: { origin: "https://evil.example" }, status: 403 },
    { name: "that hides its origin", headers: { origin: "null" }, status: 403 },
    {
      name: "of the service's own origin",
      headers: { origin: "http://127.0.0.1:8787", "sec-fetch-site": "same-origin" },
      status: 404,
    },
  ])("for a POST from a page $name results in $status", async ({ headers, status }) => {
    await expectCancelStatus(headers, status);
  });

  it("for a POST from a program, which sends neither header, results in 404", async () => {
    await expectCancelStatus({}, 404);
  });
});

/** Cancels an unknown session, so that an admitted request gets 404. */
async function expectCancelStatus(headers: Record<string, string>, status: number): Promise<void> {
  const response = await send("http://127.0.0.1:8787/api/sessions/session_unknown00/cancel", {
    method: "POST",
    headers,
  });
  expect(response.status).toBe(status);
  expect(response.headers.get("access-control-allow-origin")).toBeNull();
}
