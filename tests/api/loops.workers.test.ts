import { describe, expect, it } from "vitest";
import { request } from "../durable-objects/session/session-client";

describe("a team that sends requests to its own service (L17)", () => {
  it.each([
    { method: "GET", path: "/api/sessions" },
    { method: "POST", path: "/api/runs" },
    { method: "POST", path: "/api/nothing" },
  ])("is answered with 508 at $method $path, under every host name", async ({ method, path }) => {
    const response = await request(path, {
      method,
      headers: { "massgen-hops": "1", "content-type": "application/json" },
    });
    expect([response.status, await response.json()]).toEqual([
      508,
      expect.objectContaining({ code: "loop_detected" }),
    ]);
  });

  it("is refused when the config names the service's own address", async () => {
    const team = (url: string) =>
      `agent: {id: a, backend: {type: chatcompletion, model: m, base_url: '${url}', api_key: simulated}}`;
    const verdict = async (url: string) => {
      const body = JSON.stringify({ config_yaml: team(url) });
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      return JSON.stringify(await (await request("/api/configs/validate", init)).json());
    };
    for (const own of ["http://127.0.0.1:8787/v1", "http://localhost:8787/api"])
      expect(await verdict(own)).toContain("own address");
    expect(await verdict("http://127.0.0.1:8788/v1")).not.toContain("own address");
  });
});
