import { describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/api/app";
import { OPEN_SERVICE } from "../../builders/open-service";

/** A request whose body ends early with this error. */
const requestWithBrokenBody = (error: Error, type = "application/json"): Request => {
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

describe("a body", () => {
  it.each([
    {
      name: "of JSON ends early because the client disconnected",
      type: "application/json",
      error: new Error("Network connection lost."),
    },
    {
      name: "of YAML ends early because the client disconnected",
      type: "application/yaml",
      error: new Error("Network connection lost."),
    },
    {
      name: "has invalid chunks",
      type: "application/json",
      error: new TypeError("chunk size is no number"),
    },
  ])("that $name is an error of the client and is not logged", async ({ type, error }) => {
    const log = vi.spyOn(console, "error");
    const response = await createApp().fetch(requestWithBrokenBody(error, type), OPEN_SERVICE);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      code: "bad_json",
      detail: expect.stringMatching(/ended/),
    });
    expect(log).not.toHaveBeenCalled();
    vi.restoreAllMocks();
  });

  it("of YAML that is not UTF-8 is not reported as invalid JSON (F8)", async () => {
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

  it("with the key `__proto__` at the top of a config has an unknown key (F4)", async () => {
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

  it("of JSON that is not UTF-8 is refused with the reason", async () => {
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
