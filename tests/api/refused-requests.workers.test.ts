import { describe, expect, it } from "vitest";
import { ask, askWith, makeKey } from "./keyed-client";

const reader = await makeKey("acme", { scopes: "read" });

describe("a key with the scope read", () => {
  it.each([
    { method: "PUT", path: "/api/runs", status: 405, code: "method_not_allowed" },
    { method: "OPTIONS", path: "/api/runs", status: 405, code: "method_not_allowed" },
    { method: "DELETE", path: "/api/sessions", status: 405, code: "method_not_allowed" },
    { method: "PATCH", path: "/api/keys", status: 405, code: "method_not_allowed" },
    { method: "POST", path: "/api/nowhere", status: 404, code: "not_found" },
    { method: "POST", path: "/api/runs", status: 403, code: "insufficient_scope" },
    { method: "GET", path: "/api/keys", status: 403, code: "insufficient_scope" },
    { method: "HEAD", path: "/api/keys", status: 403, code: null },
    {
      method: "DELETE",
      path: "/api/sessions/session_unknown00",
      status: 403,
      code: "insufficient_scope",
    },
  ])(
    "gets $status for $method $path; an unsupported method gets 405 for every scope",
    async ({ method, path, status, code }) => {
      const response = await askWith(reader.key, path, { method });
      expect(response.status).toBe(status);
      if (code) expect(await response.json()).toMatchObject({ code });
      if (status === 405) expect(response.headers.get("allow")).toMatch(/GET|POST/);
    },
  );
});

describe("the header strict-transport-security", () => {
  it.each([
    ["https://massgen.example.com/api/sessions", "max-age=31536000"],
    ["https://massgen.example.com/healthz", "max-age=31536000"],
    ["https://massgen.example.com/nowhere", "max-age=31536000"],
    ["http://massgen.example.com/healthz", null],
    ["https://localhost:8787/healthz", null],
  ])("of %s has the value %s", async (url, expected) => {
    expect((await ask(url)).headers.get("strict-transport-security")).toBe(expected);
  });
});

describe("every response", () => {
  it.each(["/healthz", "/docs", "/api/sessions", "/nowhere"])(
    "at %s has headers that forbid its use by other sites",
    async (path) => {
      const { headers } = await ask(`https://massgen.example.com${path}`);
      expect([headers.get("cross-origin-resource-policy"), headers.get("referrer-policy")]).toEqual(
        ["same-origin", "no-referrer"],
      );
    },
  );
});
