import { env } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { expect } from "vitest";
import type { ContextFile, ContextUpload } from "../../../src/protocol/api/contexts";
import { hashOf } from "../../../src/workspace/snapshot";
import { ask, keys, newKey } from "../keyed-client";

/** Requests about contexts. They use a key of the tenant `shelf` unless a test passes another. */

export const owner = newKey("shelf");
/** To be called once in each file. Files share a runtime, which may still have the key. */
export async function insertOwner(): Promise<void> {
  if ((await keys.find(owner.row.id)) === null) await keys.insert(owner.row);
}
export const text = (value: string) => new TextEncoder().encode(value);
const JSON_TYPE = "application/json";
export const TAR = "application/x-tar";

type Upload = { type?: string; body?: BodyInit; key?: string };
export const send = (method: string, path: string, { type, body, key = owner.key }: Upload = {}) =>
  ask(path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(type === undefined ? {} : { "content-type": type }),
    },
    ...(body === undefined ? {} : { body }),
  });
export const get = async <T>(path: string): Promise<T> => (await send("GET", path)).json<T>();
/** Status and error code of a response. */
export const codeOf = async (response: Response) => [
  response.status,
  (await response.json<{ code?: string }>()).code,
];

export const fileOf = async (path: string, content: string): Promise<ContextFile> => {
  const bytes = text(content);
  return { path, sha256: await hashOf(bytes), size: bytes.byteLength };
};
/** Sends a manifest of these files. `more`: further fields of the manifest. */
export const sendManifest = (name: string, files: readonly ContextFile[], more: object = {}) =>
  send("PUT", `/api/contexts/${name}`, {
    type: JSON_TYPE,
    body: JSON.stringify({ files, ...more }),
  });
/** The body of a response to an upload. */
export const uploadOf = async (response: Response): Promise<ContextUpload> =>
  response.json<ContextUpload>();
/** A tar of these contents. Each entry is named by the hash of its contents. */
export const blobsTar = async (contents: readonly string[]) =>
  packTar(
    await Promise.all(
      contents.map(async (content) => ({
        header: { name: await hashOf(text(content)), size: text(content).byteLength },
        body: content,
      })),
    ),
  );
/** Returns the keys of all objects that R2 stores for the contexts of `shelf`. */
export const objectKeys = async () =>
  (await env.BUCKET.list({ prefix: "tenants/shelf/contexts/" })).objects.map(({ key }) => key);

/**
 * Uploads files by their manifest, and commits them. `more`: further fields of the manifest.
 * Returns the id of the version.
 */
export async function pushFiles(
  name: string,
  contents: Record<string, string>,
  more: object = {},
): Promise<string> {
  const files = await Promise.all(
    Object.entries(contents).map(([path, content]) => fileOf(path, content)),
  );
  const first = await uploadOf(await sendManifest(name, files, more));
  if (first.status !== "uploading") return first.version;
  const missing = Object.values(contents).filter((_, index) =>
    first.missing.includes(files[index]?.sha256 ?? ""),
  );
  const stored = await send("PUT", first.links.blobs, {
    type: TAR,
    body: await blobsTar([...new Set(missing)]),
  });
  expect(stored.status).toBe(200);
  const last = await uploadOf(await sendManifest(name, files, more));
  expect(last.status).toBe("committed");
  return last.version;
}
