import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Breakers } from "../../../src/tools/breaker";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { httpTool } from "../../../src/tools/http/http-tool";
import { guarded, useAnsweringServer } from "./answering-server";
import { contextWith, toolAt } from "./tool-builders";

const server = useAnsweringServer();
const WRITES = { method: "POST" } as const;

describe("a call with an error response", () => {
  it.each<{ name: string; statuses: number[]; set: Partial<HttpToolDefinition>; outcome: string }>([
    {
      name: "of a failed server may have taken effect",
      statuses: [500, 502, 504, 520],
      set: WRITES,
      outcome: "unknown",
    },
    {
      name: "that redirects to a result may have taken effect",
      statuses: [301, 302, 303],
      set: WRITES,
      outcome: "unknown",
    },
    {
      name: "that redirects the request itself has not taken effect",
      statuses: [307, 308],
      set: WRITES,
      outcome: "error",
    },
    {
      name: "that is a refusal has not taken effect",
      statuses: [400, 404, 409, 429, 503],
      set: WRITES,
      outcome: "error",
    },
    {
      name: "is only an error for a reading tool",
      statuses: [302, 500],
      set: {},
      outcome: "error",
    },
    {
      name: "is only an error if the operator marks it repeatable",
      statuses: [303, 500],
      set: { ...WRITES, repeatable: true },
      outcome: "error",
    },
  ])("$name ($statuses)", async ({ statuses, set, outcome }) => {
    for (const status of statuses) {
      const result = await server.run(`/answers?${status}`, set);
      expect({ status, outcome: result.outcome }).toEqual({ status, outcome });
      expect(result.text).toMatch(new RegExp(`^HTTP ${status}`));
      expect(result.text.includes("verify before repeating")).toBe(outcome === "unknown");
    }
  });
});

describe("a call that breaks", () => {
  it.each<{
    name: string;
    path: string;
    set: Partial<HttpToolDefinition>;
    outcome: string;
    says: string;
  }>([
    {
      name: "may have taken effect",
      path: "/cut",
      set: WRITES,
      outcome: "unknown",
      says: "verify before repeating",
    },
    {
      name: "after half a response may have taken effect",
      path: "/half",
      set: WRITES,
      outcome: "unknown",
      says: "had answered 200",
    },
    {
      name: "after a refusal has not taken effect",
      path: "/half-refused",
      set: WRITES,
      outcome: "error",
      says: "had answered 403",
    },
    {
      name: "after half an error response may have taken effect",
      path: "/half-failed",
      set: WRITES,
      outcome: "unknown",
      says: "had answered 500",
    },
    {
      name: "at its time limit may have taken effect",
      path: "/hangs",
      set: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      says: "longer than 0.2 s",
    },
    {
      name: "at its time limit, while bytes keep arriving, may have taken effect",
      path: "/drips",
      set: { ...WRITES, timeoutMs: 200 },
      outcome: "unknown",
      says: "longer than 0.2 s",
    },
    {
      name: "is only an error for a reading tool",
      path: "/cut",
      set: {},
      outcome: "error",
      says: "The call failed",
    },
    {
      name: "is only an error for a reading tool at its time limit",
      path: "/hangs",
      set: { timeoutMs: 200 },
      outcome: "error",
      says: "longer than",
    },
    {
      name: "is only an error if the operator marks it repeatable",
      path: "/cut",
      set: { ...WRITES, repeatable: true },
      outcome: "error",
      says: "The call failed",
    },
  ])("$name ($path)", async ({ path, set, outcome, says }) => {
    expect(await server.run(path, set)).toEqual({ outcome, text: expect.stringContaining(says) });
  });

  it("before it is sent has no effect", async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => void closed.listen(0, "127.0.0.1", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => void closed.close(resolve));
    const tool = httpTool(toolAt(`http://127.0.0.1:${port}/x`, WRITES), () => undefined);
    expect(await tool.run({}, contextWith(guarded))).toEqual({
      outcome: "error",
      text: expect.stringContaining("Nothing was sent"),
    });
  });

  it("because it was aborted throws the reason", async () => {
    const controller = new AbortController();
    const call = server.run("/hangs", WRITES, { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("cancelled")), 50);
    await expect(call).rejects.toThrow("cancelled");
  });
});

describe("a server that failed three times in a row", () => {
  type Failure = { name: string; path: string; set?: Partial<HttpToolDefinition>; rests: boolean };
  it.each<Failure>([
    { name: "with a 500 is not called for 10 s", path: "/answers?500", rests: true },
    { name: "without an answer is not called for 10 s", path: "/cut", rests: true },
    {
      name: "by its time limit is not called for 10 s",
      path: "/hangs",
      set: { timeoutMs: 500 },
      rests: true,
    },
    { name: "with a 404 is called again", path: "/missing", rests: false },
    { name: "in the middle of a response is called again", path: "/half", rests: false },
  ])("$name", async ({ path, set = {}, rests }) => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (at: string, more = set) =>
      httpTool(toolAt(server.origin() + at, more), () => undefined, shared).run(
        {},
        contextWith(guarded, { now: () => now }),
      );
    for (let nth = 0; nth < 3; nth++) await call(path);
    const other = await call("/empty", WRITES); // another tool of the same server
    expect(server.received).toHaveLength(rests ? 3 : 4);
    if (!rests) return expect(other.outcome).toBe("ok");
    expect(other).toEqual({
      outcome: "error",
      text: `The server at ${server.origin()} has failed several times in a row and is not asked again for 10 s. Go on without it, or try later.`,
    });
    now += 10_000;
    expect((await call("/empty", WRITES)).outcome).toBe("ok");
  });

  it("gets one call as a probe, and another if the first was aborted", async () => {
    const shared = { breakers: new Breakers() };
    let now = 0;
    const call = (path: string, signal = new AbortController().signal) =>
      httpTool(toolAt(server.origin() + path), () => undefined, shared).run(
        {},
        contextWith(guarded, { now: () => now, signal }),
      );
    for (let nth = 0; nth < 3; nth++) await call("/answers?500");
    now += 10_000;
    const stop = new AbortController();
    const probe = call("/hangs", stop.signal);
    expect((await call("/empty")).outcome).toBe("error");
    stop.abort(new Error("cancelled"));
    await expect(probe).rejects.toThrow("cancelled");
    expect((await call("/empty")).outcome).toBe("ok");
  });

  it("is never a server whose address the guard refuses", async () => {
    const shared = { breakers: new Breakers() };
    const tool = httpTool(toolAt("https://10.0.0.1/x"), () => undefined, shared);
    for (let nth = 0; nth < 4; nth++)
      expect((await tool.run({}, contextWith(guarded))).text).toMatch(
        /^Nothing was sent: The address names/,
      );
  });
});
