import { expect, inject, it } from "vitest";
import { httpTool } from "../../../src/tools/http/http-tool";
import { contextWith, toolAt } from "./tool-builders";

/** The server of the simulated providers; here it is only an HTTP server that returns 4xx. */
const origin = new URL(inject("providersUrl")).origin;
const run = (settings: Parameters<typeof toolAt>[1], path: string) =>
  httpTool(toolAt(origin + path, settings), () => undefined).run(
    {},
    contextWith((input, init) => fetch(input, init)),
  );

it("a GET runs in the Worker's runtime", async () => {
  const { outcome, text } = await run({}, "/nowhere");
  expect([outcome, text]).toEqual(["error", expect.stringMatching(/^HTTP 4\d\d/)]);
});

it("a POST whose connection fails has an unknown outcome, because the runtime does not say whether it was sent", async () => {
  const tool = httpTool(toolAt("http://127.0.0.1:9/x", { method: "POST" }), () => undefined);
  const { outcome } = await tool.run(
    {},
    contextWith((input, init) => fetch(input, init)),
  );
  expect(outcome).toBe("unknown");
});
