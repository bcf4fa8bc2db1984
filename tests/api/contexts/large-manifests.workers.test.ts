import { packTar } from "modern-tar";
import { describe, expect, it } from "vitest";
import { MANIFEST_BYTES } from "../../../src/uploads/memory-budget";
import type { Context, ContextUpload } from "../../../src/protocol/api/contexts";
import { CONTEXT_LIMITS } from "../../../src/protocol/context-limits";
import { hashOf } from "../../../src/workspace/snapshot";
import { PATH_LIMITS } from "../../../src/workspace/paths";
import { ask, makeKey } from "../keyed-client";

const { key } = await makeKey("long-paths");
const send = (method: string, path: string, type?: string, body?: BodyInit) =>
  ask(path, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(type && { "content-type": type }) },
    ...(body === undefined ? {} : { body }),
  });

/**
 * A unique path of this many bytes. All paths have the same directories, because the number of
 * directories is limited like the number of files.
 */
function pathOf(index: number, bytes: number): string {
  const name = `/${String(index).padStart(9, "f")}`;
  const directories = `${"directory-".repeat(20)}/`.repeat(6).slice(0, bytes - name.length);
  return directories.replace(/\/$/, "x") + name;
}

const SHA256 = await hashOf(new TextEncoder().encode("same"));
const manifestOf = (files: number, pathBytes: number, more: object = {}) =>
  JSON.stringify({
    files: Array.from({ length: files }, (_, index) => ({
      path: pathOf(index, pathBytes),
      sha256: SHA256,
      size: 4,
      executable: true,
    })),
    ...more,
  });

/** A body without a content length. */
const asStream = (text: string) => new Response(text).body ?? "";

describe("a manifest with the maximum number of files", () => {
  it.each([
    { name: "with paths of 230 bytes", pathBytes: 230, body: (text: string) => text },
    {
      name: "with the longest paths",
      pathBytes: PATH_LIMITS.pathBytes,
      body: (text: string) => text,
    },
    { name: "with paths of 230 bytes, without a content length", pathBytes: 230, body: asStream },
  ])("$name becomes a version", async ({ name, pathBytes, body }) => {
    const path = `/api/contexts/${name.replaceAll(/[^a-z0-9]+/g, "-")}`;
    const text = manifestOf(CONTEXT_LIMITS.files, pathBytes);
    expect(text.length).toBeGreaterThan(3 * 1024 * 1024);
    const manifestResponse = await send("PUT", path, "application/json", body(text));
    const started = await manifestResponse.json<ContextUpload>();
    expect([manifestResponse.status, started.files, started.missing]).toEqual([
      202,
      CONTEXT_LIMITS.files,
      [SHA256],
    ]);
    const tar = await packTar([{ header: { name: SHA256, size: 4 }, body: "same" }]);
    expect((await send("PUT", started.links.blobs, "application/x-tar", tar)).status).toBe(200);
    expect((await send("PUT", path, "application/json", body(text))).status).toBe(201);
    expect((await (await send("GET", path)).json<Context>()).tree.length).toBe(
      CONTEXT_LIMITS.files,
    );
  });

  it.each([
    { name: "before it is read if it has a content length", body: (text: string) => text },
    { name: "while it is read if it has no content length", body: asStream },
  ])("is refused above the size limit $name", async ({ body }) => {
    const text = " ".repeat(MANIFEST_BYTES) + manifestOf(1, 10);
    const response = await send("PUT", "/api/contexts/beyond", "application/json", body(text));
    expect([response.status, await response.json()]).toMatchObject([
      413,
      {
        code: "body_too_large",
        detail:
          "The manifest is larger than 12.24 MB; 10000 files with paths of 1024 bytes need less. Remove \\u escapes and spaces, shorten the paths, or send the files as a tar (application/x-tar).",
      },
    ]);
  });
});
