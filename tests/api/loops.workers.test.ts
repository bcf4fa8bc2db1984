import { describe, expect, it } from "vitest";
import { request } from "../durable-objects/session/session-client";

describe("a team that sends requests to its own service (L17)", () => {
  it.each([
    { method: "GET", path: "/api/sessions" },
    { method: "POST", path: "/api/runs" },
    { method: "POST", path: "/api/nothing" },
  ])("gets 508 for $method $path", async ({ method, path }) => {
    const response = await request(path, {
      method,
      headers: { "massgen-hops": "1", "content-type": "application/json" },
    });
    expect([response.status, await response.json()]).toEqual([
      508,
      expect.objectContaining({ code: "loop_detected" }),
    ]);
  });

  it("is refused if the config contains the service's own address", async () => {
    const team = (url: string) =>
      `agent: {id: a, backend: {type: chatcompletion, model: m, base_url: '${url}', api_key: simulated}}`;
    const checkResult = async (url: string) => {
      const body = JSON.stringify({ config_yaml: team(url) });
      const init = { method: "POST", headers: { "content-type": "application/json" }, body };
      return JSON.stringify(await (await request("/api/configs/validate", init)).json());
    };
    for (const ownUrl of ["http://127.0.0.1:8787/v1", "http://localhost:8787/api"])
      expect(await checkResult(ownUrl)).toContain("own address");
    expect(await checkResult("http://127.0.0.1:8788/v1")).not.toContain("own address");
  });
});
