import { packTar } from "modern-tar";
import {
  BlobsStoredSchema,
  type Context,
  ContextSchema,
  type ContextUpload,
  ContextUploadSchema,
  contextFilePath,
  contextPath,
  PACK_LIMITS,
  type TurnChanges,
  TurnChangesSchema,
  turnChangeBlobPath,
  turnChangesPath,
} from "../../src/protocol/contexts";
import { CliError, EXIT } from "../exit-codes";
import type { RequestContext } from "../service/problem";
import { toLine } from "../terminal/sanitize";
import { hashOf, type LocalFile, readPlainFile } from "./scan";
import type { Side } from "./three-way";
import { transfer, transferJson, transferJsonIfThere } from "./transfer";

/** What the service says of contexts; everything here throws CliError. */

/** Sends the manifest: begins an upload, or ends one. */
export function putManifest(
  name: string,
  { files, base }: { files: readonly LocalFile[]; base: string | undefined },
  context: RequestContext,
): Promise<ContextUpload> {
  const listed = files.map(({ path, hash, size, executable }) => ({
    path,
    sha256: hash,
    size,
    ...(executable ? { executable } : {}),
  }));
  const bytes = JSON.stringify({
    files: listed,
    ...(base === undefined ? {} : { base_version: base }),
  });
  return transferJson(
    { method: "PUT", path: contextPath(name), body: { type: "application/json", bytes } },
    ContextUploadSchema,
    context,
  );
}

type Sending = {
  upload: ContextUpload;
  files: readonly LocalFile[];
  told: (bytes: number) => void;
};

/** Sends what an upload misses: small files packed together, others by themselves. `told`: called with the bytes that have arrived. */
export async function sendMissing(
  { upload, files, told }: Sending,
  context: RequestContext,
): Promise<void> {
  const missing = new Set(upload.missing);
  const once = new Map(
    files.filter(({ hash }) => missing.has(hash)).map((file) => [file.hash, file]),
  );
  for (const pack of packsOf([...once.values()])) {
    const [first] = pack;
    if (!first) continue;
    const isAlone = pack.length === 1;
    const [path = "", query = ""] = upload.links.blobs.split("?");
    const body = isAlone
      ? { type: "application/octet-stream", bytes: await readAgain(first) }
      : await packed(pack);
    await transferJson(
      {
        method: "PUT",
        path: isAlone ? `${path}/${first.hash}?${query}` : upload.links.blobs,
        body,
      },
      BlobsStoredSchema,
      context,
    );
    told(pack.reduce((sum, { size }) => sum + size, 0));
  }
}

/** Files that go together, in their order. */
export function packsOf(files: readonly LocalFile[]): LocalFile[][] {
  const packs: LocalFile[][] = [];
  let open: LocalFile[] = [];
  let bytes = 0;
  for (const file of files) {
    if (file.size > PACK_LIMITS.blobBytes) {
      packs.push([file]);
      continue;
    }
    if (open.length === PACK_LIMITS.blobs || bytes + file.size > PACK_LIMITS.bytes) {
      packs.push(open);
      open = [];
      bytes = 0;
    }
    open.push(file);
    bytes += file.size;
  }
  return open.length > 0 ? [...packs, open] : packs;
}

async function packed(
  files: readonly LocalFile[],
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> }> {
  const entries: { header: { name: string; size: number }; body: Uint8Array }[] = [];
  for (const file of files)
    entries.push({ header: { name: file.hash, size: file.size }, body: await readAgain(file) });
  return { type: "application/x-tar", bytes: await packTar(entries) };
}

async function readAgain({ file, hash, path }: LocalFile): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = (await readPlainFile(file))?.bytes;
  if (bytes && hashOf(bytes) === hash) return new Uint8Array(bytes);
  throw new CliError(
    EXIT.config,
    `${toLine(path)} was changed while it was pushed. Nothing was changed there: push again.`,
  );
}

const versionCall = (name: string, version: string | null) =>
  ({ method: "GET", path: contextPath(name) + (version ? `?version=${version}` : "") }) as const;

/** A version of a context, the newest unless given. */
export const readContext = (
  name: string,
  version: string | null,
  context: RequestContext,
): Promise<Context> => transferJson(versionCall(name, version), ContextSchema, context);

/** A version that may have been pruned since; then null. */
export const readContextIfKept = (
  name: string,
  version: string,
  context: RequestContext,
): Promise<Context | null> =>
  transferJsonIfThere(versionCall(name, version), ContextSchema, context);

/** Its files by path. */
export const sidesOf = ({ tree }: Context): Map<string, Exclude<Side, null>> =>
  new Map(
    tree.map(({ path, sha256, executable }) => [
      path,
      { hash: sha256, executable: executable ?? false },
    ]),
  );

/** What a turn changed in contexts. */
export const readChanges = (
  session: string,
  turn: number,
  context: RequestContext,
): Promise<TurnChanges> =>
  transferJson({ method: "GET", path: turnChangesPath(session, turn) }, TurnChangesSchema, context);

/** Contents by path and hash. Throws CliError also for others than that hash's. */
export type Fetching = (path: string, hash: string) => Promise<Uint8Array>;

export const fetchFromContext =
  (name: string, version: string, context: RequestContext): Fetching =>
  (path, hash) =>
    fetchBlob(`${contextFilePath(name, path)}?version=${version}`, hash, context);

export const fetchFromTurn =
  (session: string, turn: number, context: RequestContext): Fetching =>
  (_, hash) =>
    fetchBlob(turnChangeBlobPath(session, turn, hash), hash, context);

async function fetchBlob(path: string, hash: string, context: RequestContext): Promise<Uint8Array> {
  const bytes = await transfer({ method: "GET", path }, context);
  if (hashOf(bytes) === hash) return bytes;
  throw new CliError(
    EXIT.execution,
    `${context.server} sent other contents than it said. Nothing was written; ask again.`,
  );
}
