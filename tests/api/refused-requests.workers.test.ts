import { describe, expect, it } from "vitest";
import { ask, askWith, makeKey } from "./keyed-client";

const reader = await makeKey("acme", { scopes: "read" });

describe("a key that may only read", () => {
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
    "gets $status for $method $path (Info: 405 before 403)",
    async ({ method, path, status, code }) => {
      const answer = await askWith(reader.key, path, { method });
      expect(answer.status).toBe(status);
      if (code) expect(await answer.json()).toMatchObject({ code });
      if (status === 405) expect(answer.headers.get("allow")).toMatch(/GET|POST/);
    },
  );
});

describe("strict-transport-security", () => {
  it.each([
    ["https://massgen.example.com/api/sessions", "max-age=31536000"],
    ["https://massgen.example.com/healthz", "max-age=31536000"],
    ["https://massgen.example.com/nowhere", "max-age=31536000"],
    ["http://massgen.example.com/healthz", null],
    ["https://localhost:8787/healthz", null],
  ])("of %s is %s (Info: HSTS)", async (address, expected) => {
    expect((await ask(address)).headers.get("strict-transport-security")).toBe(expected);
  });
});

describe("every answer", () => {
  it.each(["/healthz", "/docs", "/api/sessions", "/nowhere"])(
    "at %s forbids use by other sites (Info: headers)",
    async (path) => {
      const { headers } = await ask(`https://massgen.example.com${path}`);
      expect([headers.get("cross-origin-resource-policy"), headers.get("referrer-policy")]).toEqual(
        ["same-origin", "no-referrer"],
      );
    },
  );
});
