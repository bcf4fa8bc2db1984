import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Breakers } from "../../../src/tools/breaker";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { httpTool } from "../../../src/tools/http/http-tool";
import { RelayLostError } from "../../../src/tools/relay-lost";
import { guardedNetwork, useAnsweringServer } from "./answering-server";
import { contextWith, toolAt } from "./tool-builders";

const server = useAnsweringServer();
const WRITES = { method: "POST" } as const;

describe("a call with an error response", () => {
  it.each<{
    name: string;
    statuses: number[];
    settings: Partial<HttpToolDefinition>;
    outcome: string;
  }>([
    {
      name: "that is a server error may have taken effect",
      statuses: [500, 502, 504, 520],
      settings: WRITES,
      outcome: "unknown",
    },
    {
      name: "that redirects to a result may have taken effect",
      statuses: [301, 302, 303],
      settings: WRITES,
      outcome: "unknown",
    },
    {
      name: "that redirects the request itself has not taken effect",
      statuses: [307, 308],
      settings: WRITES,
      outcome: "error",
    },
    {
      name: "that is a refusal has not taken effect",
      statuses: [400, 404, 409, 429, 503],
      settings: WRITES,
      outcome: "error",
    },
    {
      name: "is only an error for a GET",
      statuses: [302, 500],
      settings: {},
      outcome: "error",
    },
    {
      name: "is only an error if the operator declares the tool repeatable",
      statuses: [303, 500],
      settings: { ...WRITES, repeatable: true },
      outcome: "error",
    },
  ])("$name ($statuses)", async ({ statuses, settings, outcome }) => {
    for (const status of statuses) {
      const result = await server.run(`/answers?${status}`, settings);
      expect({ status, outcome: result.outcome }).toEqual({ status, outcome });
      expect(result.text).toMatch(new RegExp(`^HTTP ${status}`));
      expect(result.text.includes("verify before repeating")).toBe(outcome === "unknown");
    }
  });
});

describe("a call whose connection breaks", () => {
  it.each<{
    name: string;
    path: string;
    settings: Partial<HttpToolDefinition>;
    outcome: string;
    expectedText: string;
  }>([
    {
      name: "before a response may have taken effect",
      path: "/cut",
      settings: WRITES,
      outcome: "unknown",
      expectedText: "verify before repeating",
    },
    {
      name: "in the middle of a response may have taken effect",
      path: "/half",
      settings: WRITES,
      outcome: "unknown",
      expectedText: "had answered 200",
    },
    {
      name: "in the middle of a refusal has not taken effect",
      path: "/half-refused",
      settings: WRITES,
      outcome: "error",
      expectedText: "had answered 403",
    },
    {
      name: "in the middle of a server error may have taken effect",
      path: "/half-failed",
      settings: WRITES,
      outcome: "unknown",
      expectedText: "had answered 500",
    },
    {
      name: "at its time limit may have taken effect",
      path: "/hangs",
      settings: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      expectedText: "longer than 0.2 s",
    },
    {
      name: "at its time limit, while bytes keep arriving, may have taken effect",
      path: "/drips",
      settings: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      expectedText: "longer than 0.2 s",
    },
    {
      name: "is only an error for a GET",
      path: "/cut",
      settings: {},
      outcome: "error",
      expectedText: "The call failed",
    },
    {
      name: "is only an error for a GET at its time limit",
      path: "/hangs",
      settings: { timeoutMs: 200 },
      outcome: "error",
      expectedText: "longer than",
    },
    {
      name: "is only an error if the operator declares the tool repeatable",
      path: "/cut",
      settings: { ...WRITES, repeatable: true },
      outcome: "error",
      expectedText: "The call failed",
    },
  ])("$name ($path)", async ({ path, settings, outcome, expectedText }) => {
    expect(await server.run(path, settings)).toEqual({
      outcome,
      text: expect.stringContaining(expectedText),
    });
  });

  it("before the request is sent has not taken effect", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => void closed.close(resolve));
    const tool = httpTool(toolAt(`http://127.0.0.1:${port}/x`, WRITES), () => undefined);
    expect(await tool.run({}, contextWith(guardedNetwork))).toEqual({
      outcome: "error",
      text: expect.stringContaining("Nothing was sent"),
    });
  });

  it("because of an abort throws the reason", async () => {
    const controller = new AbortController();
    const call = server.run("/hangs", WRITES, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("cancelled")), 50);
    await expect(call).rejects.toThrow("cancelled");
  });
});

describe("a server that fails three times in a row", () => {
  type Failure = {
    name: string;
    path: string;
    settings?: Partial<HttpToolDefinition>;
    isPaused: boolean;
  };
  it.each<Failure>([
    { name: "with a 500 is not called for 10 s", path: "/answers?500", isPaused: true },
    { name: "without an answer is not called for 10 s", path: "/cut", isPaused: true },
    {
      name: "at the time limit is not called for 10 s",
      path: "/hangs",
      settings: { timeoutMs: 500 },
      isPaused: true,
    },
    { name: "with a 404 is called again", path: "/missing", isPaused: false },
    { name: "in the middle of a response is called again", path: "/half", isPaused: false },
  ])("$name", async ({ path, settings = {}, isPaused }) => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (callPath: string, toolSettings = settings) =>
      httpTool(toolAt(server.origin() + callPath, toolSettings), () => undefined, shared).run(
        {},
        contextWith(guardedNetwork, { now: () => now }),
      );
    for (let index = 0; index < 3; index++) await call(path);
    const other = await call("/empty", WRITES); // another tool of the same server
    expect(server.received).toHaveLength(isPaused ? 3 : 4);
    if (!isPaused) return expect(other.outcome).toBe("ok");
    expect(other).toEqual({
      outcome: "error",
      text: `The server at ${server.origin()} has failed several times in a row and is not asked again for 10 s. Go on without it, or try later.`,
    });
    now += 10_000;
    expect((await call("/empty", WRITES)).outcome).toBe("ok");
  });

  it("gets one call as a probe after 10 s, and another probe if the first is aborted", async () => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (path: string, signal = new AbortController().signal) =>
      httpTool(toolAt(server.origin() + path), () => undefined, shared).run(
        {},
        contextWith(guardedNetwork, { now: () => now, signal }),
      );
    for (let index = 0; index < 3; index++) await call("/answers?500");
    now += 10_000;
    const controller = new AbortController();
    const probe = call("/hangs", controller.signal);
    expect((await call("/empty")).outcome).toBe("error");
    controller.abort(new Error("cancelled"));
    await expect(probe).rejects.toThrow("cancelled");
    expect((await call("/empty")).outcome).toBe("ok");
  });

  it("is not paused if the failures are refusals of its address", async () => {
    const shared = { breakers: new Breakers() };
    const tool = httpTool(toolAt("https://10.0.0.1/x"), () => undefined, shared);
    for (let index = 0; index < 4; index++)
      expect((await tool.run({}, contextWith(guardedNetwork))).text).toMatch(
        /^Nothing was sent: The address names/,
      );
  });
});

describe("a call whose relay was lost", () => {
  const lost = () => Promise.reject(new RelayLostError("Network connection lost."));

  it.each([{}, WRITES, { ...WRITES, repeatable: true }])(
    "is interrupted, and the server is not at fault (%j)",
    async (settings) => {
      const breakers = new Breakers();
      const tool = httpTool(toolAt("https://tools.example/x", settings), () => undefined, {
        breakers,
      });
      for (let tries = 0; tries < 10; tries += 1)
        await expect(tool.run({}, contextWith(lost))).rejects.toThrow(RelayLostError);
      expect(breakers.admit("https://tools.example", 0)).toBeNull();
    },
  );
});
