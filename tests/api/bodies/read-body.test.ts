import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/api/app";
import { OPEN_SERVICE } from "../../builders/open-service";

/** A request whose body breaks off with the error of the platform. */
const brokenOff = (error: Error, type = "application/json"): Request => {
  const pieces = [new TextEncoder().encode('{"question": "What is')];
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.error(error);
    },
  });
  const init = { method: "POST", headers: { "content-type": type }, body, duplex: "half" };
  return new Request("http://127.0.0.1/api/configs/validate", init);
};

describe("a body that breaks off before its end", () => {
  it.each([
    {
      name: "JSON, because the client disconnected",
      type: "application/json",
      error: new Error("Network connection lost."),
    },
    {
      name: "YAML, because the client disconnected",
      type: "application/yaml",
      error: new Error("Network connection lost."),
    },
    {
      name: "because of bad chunks",
      type: "application/json",
      error: new TypeError("chunk size is no number"),
    },
  ])("$name is reported as an error of the client and not logged", async ({ type, error }) => {
    const log = vi.spyOn(console, "error");
    const response = await createApp().fetch(brokenOff(error, type), OPEN_SERVICE);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "bad_json",
      detail: expect.stringMatching(/ended/),
    });
    expect(log).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it("is not called invalid JSON if it is YAML (F8)", async () => {
    const body = Uint8Array.of(0xff, 0xfe, 0x61, 0x00);
    const init = { method: "POST", headers: { "content-type": "application/yaml" }, body };
    const response = await createApp().fetch(
      new Request("http://127.0.0.1/api/configs/validate", init),
      OPEN_SERVICE,
    );
    const problem = {
      code: "request_invalid",
      detail: expect.stringContaining("as UTF-8"),
    };
    expect(await response.json()).toMatchObject(problem);
  });

  it("is checked completely: `__proto__` at the top of a config is an unknown key (F4)", async () => {
    const body =
      '{"config": {"__proto__": {"admin": true}, "agent": {"id": "a", "backend": {"type": "claude"}}}}';
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const response = await createApp().fetch(
      new Request("http://127.0.0.1/api/configs/validate", init),
      OPEN_SERVICE,
    );
    expect(await response.json()).toMatchObject({
      runnable: false,
      errors: [{ code: "unknown_key", pointer: "/__proto__" }],
    });
  });

  it("is distinguished from a body that is not UTF-8", async () => {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Uint8Array.of(0x22, 0xff, 0x22),
    };
    const response = await createApp().fetch(
      new Request("http://127.0.0.1/api/configs/validate", init),
      OPEN_SERVICE,
    );
    expect(await response.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining("UTF-8"),
    });
  });
});
