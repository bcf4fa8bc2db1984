import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { startEverything } from "./everything";
import { connected, context, server, toolOf } from "./support";

/** The protocol's own reference server, over HTTP. */
let everything: Awaited<ReturnType<typeof startEverything>>;
let servers: McpServers;

beforeAll(async () => {
  everything = await startEverything();
  servers = await connected([server(everything.url, { name: "everything" })]);
});

afterAll(async () => {
  await servers?.close();
  await everything?.kill();
});

const run = (name: string, args: unknown, more = context()) =>
  toolOf(servers, `mcp__everything__${name}`).run(args, more);

describe("the reference server over HTTP", () => {
  it("uses its protocol generation, and its tools are offered under their full names", () => {
    const [listing] = servers.list();
    expect(listing).toMatchObject({ problem: null, version: "2025-11-25", refused: [] });
    const names = servers.toolsFor("one").map(({ spec }) => spec.name);
    expect(names).toContain("mcp__everything__echo");
    expect(names).toContain("mcp__everything__get-sum");
    expect(listing?.added.length).toBe(names.length);
  });

  it("returns the text of a result and nothing else", async () => {
    expect(await run("echo", { message: "hello" })).toEqual({ outcome: "ok", text: "Echo: hello" });
  });

  it("returns structured content as JSON, without a schema check", async () => {
    const { outcome, text } = await run("get-structured-content", { location: "New York" });
    expect(outcome).toBe("ok");
    expect(JSON.parse(text)).toMatchObject({ conditions: expect.any(String) });
  });

  it("returns an image as a file, named in a line", async () => {
    const { text, files } = await run("get-tiny-image", {});
    const [file] = files ?? [];
    expect(text).toContain(`[image, image/png, ${file?.bytes.byteLength} bytes: file 1]`);
    expect(text).not.toMatch(/iVBOR/);
    expect(Buffer.from(file?.bytes ?? []).toString("latin1")).toMatch(/^\x89PNG\r\n/);
  });

  it("names links in a line, and fetches none", async () => {
    const { text, files } = await run("get-resource-links", { count: 2 });
    expect(text).toMatch(/\[link to a resource demo:\/\/.*; not fetched\]/);
    expect(files).toBeUndefined();
  });

  it.each([
    {
      resourceType: "Text",
      says: /^\[resource demo:\/\/\S+, text\/plain\]\n.*Resource 1/m,
      files: 0,
    },
    {
      resourceType: "Blob",
      says: /^\[resource demo:\/\/\S+, text\/plain, \d+ bytes: file 1\]$/m,
      files: 1,
    },
  ])("returns a resource: $resourceType", async ({ resourceType, says, files }) => {
    const result = await run("get-resource-reference", { resourceType, resourceId: 1 });
    expect(result.text).toMatch(says);
    expect(result.files ?? []).toHaveLength(files);
  });

  it("returns the server's error for wrong arguments", async () => {
    const { outcome, text } = await run("get-sum", { a: "one" });
    expect(outcome).toBe("error");
    expect(text).toMatch(/Invalid|expected number/i);
  });

  it("reports progress while a call runs", async () => {
    const toolContext = context();
    const done = await run(
      "trigger-long-running-operation",
      { duration: 1, steps: 4 },
      toolContext,
    );
    expect(done.outcome).toBe("ok");
    expect(
      toolContext.news.filter(({ type }) => type === "progress").length,
    ).toBeGreaterThanOrEqual(3);
  });

  it("ends a cancelled call at once, with the signal's reason, and the connection serves the next", async () => {
    const stop = new AbortController();
    const call = run(
      "trigger-long-running-operation",
      { duration: 60, steps: 4 },
      context({ signal: stop.signal }),
    );
    const started = Date.now();
    setTimeout(() => stop.abort(new Error("nobody waits")), 300);
    await expect(call).rejects.toThrow("nobody waits");
    expect(Date.now() - started).toBeLessThan(30_000); // the call alone takes a minute
    expect((await run("echo", { message: "still here" })).text).toBe("Echo: still here");
  });

  it("never offers tools that need a person or a model of the client", () => {
    const names = servers.toolsFor("one").map(({ spec }) => spec.name);
    expect(names.filter((name) => /sampling|elicitation|roots/.test(name))).toEqual([]);
  });
});
