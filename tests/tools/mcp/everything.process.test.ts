import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { McpServers } from "../../../src/tools/mcp/mcp-servers";
import { startEverything } from "./everything";
import { connected, context, server, toolOf } from "./support";

/** The reference server of the protocol, as a process. */
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

const run = (name: string, args: unknown, callContext = context()) =>
  toolOf(servers, `mcp__everything__${name}`).run(args, callContext);

describe("the reference server over HTTP", () => {
  it("uses its protocol revision, and its tools are offered with their full names", () => {
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

  it("returns an image as a file, with a line in the text", async () => {
    const { text, files } = await run("get-tiny-image", {});
    const [file] = files ?? [];
    expect(text).toContain(`[image, image/png, ${file?.bytes.byteLength} bytes: file 1]`);
    expect(text).not.toMatch(/iVBOR/);
    expect(Buffer.from(file?.bytes ?? []).toString("latin1")).toMatch(/^\x89PNG\r\n/);
  });

  it("describes links in lines, and does not fetch them", async () => {
    const { text, files } = await run("get-resource-links", { count: 2 });
    expect(text).toMatch(/\[link to a resource demo:\/\/.*; not fetched\]/);
    expect(files).toBeUndefined();
  });

  it.each([
    {
      resourceType: "Text",
      expectedText: /^\[resource demo:\/\/\S+, text\/plain\]\n.*Resource 1/m,
      files: 0,
    },
    {
      resourceType: "Blob",
      expectedText: /^\[resource demo:\/\/\S+, text\/plain, \d+ bytes: file 1\]$/m,
      files: 1,
    },
  ])("returns a resource: $resourceType", async ({ resourceType, expectedText, files }) => {
    const result = await run("get-resource-reference", { resourceType, resourceId: 1 });
    expect(result.text).toMatch(expectedText);
    expect(result.files ?? []).toHaveLength(files);
  });

  it("returns the server's error for wrong arguments", async () => {
    const { outcome, text } = await run("get-sum", { a: "one" });
    expect(outcome).toBe("error");
    expect(text).toMatch(/Invalid|expected number/i);
  });

  it("reports progress while a call runs", async () => {
    const toolContext = context();
    const result = await run(
      "trigger-long-running-operation",
      { duration: 1, steps: 4 },
      toolContext,
    );
    expect(result.outcome).toBe("ok");
    expect(
      toolContext.news.filter(({ type }) => type === "progress").length,
    ).toBeGreaterThanOrEqual(3);
  });

  it("ends a cancelled call immediately with the signal's reason, and the connection can be used again", async () => {
    const controller = new AbortController();
    const call = run(
      "trigger-long-running-operation",
      { duration: 60, steps: 4 },
      context({ signal: controller.signal }),
    );
    const startedAt = Date.now();
    setTimeout(() => controller.abort(new Error("aborted")), 300);
    await expect(call).rejects.toThrow("aborted");
    expect(Date.now() - startedAt).toBeLessThan(30_000); // the call alone takes a minute
    expect((await run("echo", { message: "still here" })).text).toBe("Echo: still here");
  });

  it("does not offer tools that need a person or a model of the client", () => {
    const names = servers.toolsFor("one").map(({ spec }) => spec.name);
    expect(names.filter((name) => /sampling|elicitation|roots/.test(name))).toEqual([]);
  });
});
