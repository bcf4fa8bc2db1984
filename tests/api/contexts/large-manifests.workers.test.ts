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

/** A unique path of this many bytes. All paths share their directories, which count like files. */
function pathOf(nth: number, bytes: number): string {
  const name = `/${String(nth).padStart(9, "f")}`;
  const directories = `${"directory-".repeat(20)}/`.repeat(6).slice(0, bytes - name.length);
  return directories.replace(/\/$/, "x") + name;
}

const SHA256 = await hashOf(new TextEncoder().encode("same"));
const manifestOf = (files: number, pathBytes: number, more: object = {}) =>
  JSON.stringify({
    files: Array.from({ length: files }, (_, nth) => ({
      path: pathOf(nth, pathBytes),
      sha256: SHA256,
      size: 4,
      executable: true,
    })),
    ...more,
  });

/** A body without a content length. */
const streamed = (text: string) => new Response(text).body ?? "";

describe("a manifest of as many files as a context has", () => {
  it.each([
    { name: "with paths of 230 bytes", pathBytes: 230, body: (text: string) => text },
    {
      name: "with the longest paths",
      pathBytes: PATH_LIMITS.pathBytes,
      body: (text: string) => text,
    },
    { name: "with paths of 230 bytes, without a content length", pathBytes: 230, body: streamed },
  ])("becomes a version, $name", async ({ name, pathBytes, body }) => {
    const at = `/api/contexts/${name.replaceAll(/[^a-z0-9]+/g, "-")}`;
    const text = manifestOf(CONTEXT_LIMITS.files, pathBytes);
    expect(text.length).toBeGreaterThan(3 * 1024 * 1024);
    const asked = await send("PUT", at, "application/json", body(text));
    const begun = await asked.json<ContextUpload>();
    expect([asked.status, begun.files, begun.missing]).toEqual([
      202,
      CONTEXT_LIMITS.files,
      [SHA256],
    ]);
    const tar = await packTar([{ header: { name: SHA256, size: 4 }, body: "same" }]);
    expect((await send("PUT", begun.links.blobs, "application/x-tar", tar)).status).toBe(200);
    expect((await send("PUT", at, "application/json", body(text))).status).toBe(201);
    expect((await (await send("GET", at)).json<Context>()).tree.length).toBe(CONTEXT_LIMITS.files);
  });

  it.each([
    { name: "by its content length", body: (text: string) => text },
    { name: "while it is read", body: streamed },
  ])("is refused if it is larger than needed, $name, with a remedy", async ({ body }) => {
    const text = " ".repeat(MANIFEST_BYTES) + manifestOf(1, 10);
    const answer = await send("PUT", "/api/contexts/beyond", "application/json", body(text));
    expect([answer.status, await answer.json()]).toMatchObject([
      413,
      {
        code: "body_too_large",
        detail:
          "The manifest is larger than 12.24 MB; 10000 files with paths of 1024 bytes need less. Remove \\u escapes and spaces, shorten the paths, or send the files as a tar (application/x-tar).",
      },
    ]);
  });
});
