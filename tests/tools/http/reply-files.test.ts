import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { HttpToolDefinition } from "../../../src/tools/http/definition";
import { httpTool } from "../../../src/tools/http/http-tool";
import { MAX_RESPONSE_BYTES } from "../../../src/tools/http/response";
import type { ToolContext } from "../../../src/tools/tool";
import { Mutex } from "../../../src/async/mutex";
import { LARGE_BYTES } from "../../../src/tools/large-results";
import { PDF, PNG } from "../../api/sessions/attachments";
import { contextWith, toolAt } from "./tool-builders";

const SECRET = "s3cret-of-the-operator";
const ZIP = Buffer.from("PK\x03\x04\x14\x00\x00\x00", "latin1");
const sendsBody =
  (type: string, body: Buffer, status = 200) =>
  (response: ServerResponse) =>
    void response
      .writeHead(status, { "content-type": type, "content-length": body.length })
      .end(body);
let endlessBytes = 0;
const answers: Record<string, (response: ServerResponse) => void> = {
  "/image": sendsBody("image/png", PNG),
  "/pdf": sendsBody("application/pdf; charset=binary", PDF),
  "/zip": sendsBody("application/zip", ZIP),
  "/bytes": sendsBody("application/octet-stream", ZIP),
  "/wrong-type": sendsBody("image/png", PDF),
  "/text-in-bytes": sendsBody("application/octet-stream", Buffer.from("a,b\n")),
  "/named": sendsBody("image/../../etc", ZIP),
  "/named-after-a-secret": sendsBody(`application/${SECRET}`, ZIP),
  "/empty-and-named": sendsBody(`image/${"t".repeat(85)}${SECRET}`, Buffer.alloc(0)),
  "/empty": sendsBody("image/png", Buffer.alloc(0)),
  "/refused": sendsBody("image/png", PNG, 404),
  "/echoes": sendsBody(
    "image/png",
    Buffer.concat([PNG, Buffer.from(Buffer.from(SECRET).toString("base64"))]),
  ),
  "/large": sendsBody("video/mp4", Buffer.alloc(LARGE_BYTES + 1, 1)),
  "/most": sendsBody("video/mp4", Buffer.alloc(MAX_RESPONSE_BYTES, 1)),
  "/endless": (response) => flood(response.writeHead(200, { "content-type": "video/mp4" })),
  "/half": (response) => {
    response.writeHead(200, { "content-type": "image/png", "content-length": 1_000 });
    response.write(PNG, () => response.destroy());
  },
};
const CHUNK = Buffer.alloc(64 * 1024, 1);
function flood(response: ServerResponse): void {
  while (!response.destroyed) {
    endlessBytes += CHUNK.length;
    if (!response.write(CHUNK)) return void response.once("drain", () => flood(response));
  }
}

let server: Server;
let origin: string;
beforeAll(async () => {
  server = createServer(({ url = "" }, response) => answers[url]?.(response));
  await new Promise<void>((done) => void server.listen(0, "127.0.0.1", done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.closeAllConnections());

type ReplySetup = {
  settings?: Partial<HttpToolDefinition>;
  context?: Partial<ToolContext>;
  large?: Mutex;
};
const run = (path: string, { settings = {}, context = {}, large = new Mutex() }: ReplySetup = {}) =>
  httpTool(toolAt(origin + path, settings), () => SECRET, { large }).run(
    {},
    contextWith(fetch, context),
  );

describe("a binary response becomes a file of the result", () => {
  it.each([
    { path: "/image", mediaType: "image/png", extension: "png", bytes: PNG },
    { path: "/pdf", mediaType: "application/pdf", extension: "pdf", bytes: PDF },
    { path: "/zip", mediaType: "application/zip", extension: "zip", bytes: ZIP },
    { path: "/bytes", mediaType: "application/octet-stream", extension: "bin", bytes: ZIP },
    { path: "/wrong-type", mediaType: "application/pdf", extension: "pdf", bytes: PDF },
    {
      path: "/text-in-bytes",
      mediaType: "application/octet-stream",
      extension: "bin",
      bytes: Buffer.from("a,b\n"),
    },
    { path: "/named", mediaType: "application/octet-stream", extension: "bin", bytes: ZIP },
    {
      path: "/named-after-a-secret",
      mediaType: "application/octet-stream",
      extension: "bin",
      bytes: ZIP,
    },
    {
      path: "/most",
      mediaType: "video/mp4",
      extension: "mp4",
      bytes: Buffer.alloc(MAX_RESPONSE_BYTES, 1),
    },
  ])(
    "at $path as $mediaType, with a name that the service chooses",
    async ({ path, mediaType, extension, bytes }) => {
      const { files, ...otherFields } = await run(path, {
        settings: { headers: { "x-key": "${KEY}" } },
      });
      expect(otherFields).toEqual({
        outcome: "ok",
        text: `[The server sent ${mediaType}, ${bytes.byteLength} bytes: file 1]`,
      });
      expect(
        files?.map((file) => ({ ...file, bytes: Buffer.from(file.bytes).equals(bytes) })),
      ).toEqual([{ mediaType, extension, bytes: true }]);
    },
  );

  it.each([
    {
      name: "that is empty",
      path: "/empty",
      outcome: "ok",
      text: "[The server sent image/png, 0 bytes.]",
    },
    {
      name: "that is empty, and whose type is cut in the middle of a secret",
      path: "/empty-and-named",
      outcome: "ok",
      text: `[The server sent image/${"t".repeat(85)}[redacted, 0 bytes.]`,
    },
    {
      name: "with an error status",
      path: "/refused",
      outcome: "error",
      text: `HTTP 404 Not Found\n[The server sent image/png, ${PNG.byteLength} bytes: no text, so it is not shown.]`,
    },
    {
      name: "that contains a secret, also in base64",
      path: "/echoes",
      outcome: "ok",
      text: expect.stringMatching(
        /bytes; not kept: it repeats what the server was shown to be let in\.\]$/,
      ),
    },
  ])("but not a response $name", async ({ path, outcome, text }) => {
    expect(await run(path, { settings: { headers: { "x-key": "${KEY}" } } })).toEqual({
      outcome,
      text,
    });
  });

  it("but not a response above the limit, and the rest of such a response is not read", async () => {
    endlessBytes = 0;
    expect(await run("/endless")).toEqual({
      outcome: "ok",
      text: `[The server sent video/mp4; not kept: it is over ${MAX_RESPONSE_BYTES} bytes.]`,
    });
    expect(endlessBytes).toBeLessThan(MAX_RESPONSE_BYTES * 4); // the server also fills buffers
  });

  it("but not an incomplete response: the outcome of a POST is then unknown", async () => {
    const { outcome, text, files } = await run("/half", { settings: { method: "POST" } });
    expect([outcome, files]).toEqual(["unknown", undefined]);
    expect(text).toContain("had answered 200");
  });
});

describe("large responses are received one at a time", () => {
  /** Long enough for a call that does not have to wait. */
  const aWhile = () => new Promise((done) => setTimeout(done, 150));

  it("the second one after the first result is stored, and a small one without a wait", async () => {
    const large = new Mutex();
    const endedCalls: string[] = [];
    const releases: (() => void)[] = [];
    const context = { onResultStored: (release: () => void) => void releases.push(release) };
    const first = await run("/large", { large, context });
    expect(first.files).toHaveLength(1);
    const second = run("/large", { large }).then(() => endedCalls.push("second"));
    await run("/image", { large }).then(() => endedCalls.push("small"));
    await aWhile();
    expect(endedCalls).toEqual(["small"]);
    for (const release of releases) release();
    await second;
    expect(endedCalls).toEqual(["small", "second"]);
  });

  it.each([
    { name: "a response above the limit", path: "/endless" },
    { name: "a response that is never stored", path: "/large" },
  ])("the next one immediately after $name", async ({ path }) => {
    const large = new Mutex();
    await run(path, { large });
    expect((await run("/large", { large })).files).toHaveLength(1);
  });

  it("and a response that waits fails at its timeout, and then does not block others", async () => {
    const large = new Mutex();
    const release = await large.acquire();
    // The headers arrive before the timeout, but the body has to wait.
    const { outcome, text } = await run("/large", { large, settings: { timeoutMs: 1_000 } });
    expect([outcome, text]).toEqual([
      "error",
      "The call failed: it took longer than 1 s. The server had answered 200.",
    ]);
    const next = run("/large", { large });
    release();
    expect((await next).files).toHaveLength(1);
  });
});
