import { expect, inject, it } from "vitest";
import { httpTool } from "../../../src/tools/http/http-tool";
import { contextWith, toolAt } from "./tool-builders";

/** The simulated providers are a server like any other. */
const origin = new URL(inject("providersUrl")).origin;
const run = (set: Parameters<typeof toolAt>[1], path: string) =>
  httpTool(toolAt(origin + path, set), () => undefined).run(
    {},
    contextWith((input, init) => fetch(input, init)),
  );

it("runs in the Worker's runtime: a GET, within its time", async () => {
  const { outcome, text } = await run({}, "/nowhere");
  expect([outcome, text]).toEqual(["error", expect.stringMatching(/^HTTP 4\d\d/)]);
});

it("treats a lost connection as a call that may have arrived: the runtime does not say whether anything was sent", async () => {
  const tool = httpTool(toolAt("http://127.0.0.1:9/x", { method: "POST" }), () => undefined);
  const { outcome } = await tool.run(
    {},
    contextWith((input, init) => fetch(input, init)),
  );
  expect(outcome).toBe("unknown");
});
