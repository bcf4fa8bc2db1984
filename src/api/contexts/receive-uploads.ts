import { type ArchiveEntry, readTar, readTarGzip } from "../../uploads/read-tar";
import { readZip } from "../../uploads/read-zip";
import { spool } from "../../uploads/spool";
import { Tally } from "../../uploads/tally";
import { MANIFEST_BYTES, memoryOf, type UploadKind } from "../../uploads/memory-budget";
import type { SpareMemory } from "../../uploads/spare-memory";
import { type OpenArchive, putArchive } from "../../uploads/archive-upload";
import { GATHERING } from "../../uploads/gather";
import { putBlob, putBlobs, putManifest, type UploadResult } from "../../uploads/uploads";
import {
  BLOB_HASH,
  type ContextManifest,
  ContextManifestSchema,
  type ContextUpload,
} from "../../protocol/api/contexts";
import { CONTEXT_LIMITS } from "../../protocol/context-limits";
import { contextBlobsPath, contextPath } from "../../protocol/paths";
import { PATH_LIMITS } from "../../workspace/paths";
import type { Call } from "../api-env";
import { ZIP } from "../attachment";
import { ownerOf, versionOf } from "./context-names";
import { ApiError } from "../errors";
import { MAX_BODY_BYTES, readBody, readLargeBody } from "../bodies/read-body";
import { requireStorage } from "../sessions/quota-refusals";
import { withMemory } from "./upload-admission";
import { orRefusal, typeOf, uploadBody } from "./read-upload";
import { GZIP, JSON_TYPE, TAR } from "./upload-types";

/** Handlers of the operations in `context-uploads.ts`. */

const STATUS = { committed: 201, unchanged: 200, uploading: 202 } as const;

export async function put(context: Call): Promise<Response> {
  const owner = ownerOf(context);
  await requireStorage(context);
  const uploaded = await orRefusal(receiveContext(context, owner));
  return context.json(toWire(owner.name, uploaded), STATUS[uploaded.status]);
}

async function receiveContext(
  context: Call,
  owner: { tenant: string; name: string },
): Promise<UploadResult> {
  const { store } = context.env.contexts;
  if (typeOf(context.req.raw) === JSON_TYPE) return receiveManifest(context, owner);
  const kind = kindOf(context.req.raw);
  return withCountedBody(context, kind, (body) => {
    const spare = memoryOf(kind, body.length) < GATHERING.memory ? store.spare : ownMemory(body);
    return putArchive({ ...store, spare }, owner, archiveOf(kind, body), Date.now());
  });
}

/** The memory of an archive, which is free again after the archive was read. */
const ownMemory =
  ({ reportProgress }: CountedBody): SpareMemory =>
  (_tenant, _bytes, work) =>
    work(() => {
      reportProgress();
      return true;
    });

const MANIFEST_TOO_LARGE = `The manifest is larger than ${MANIFEST_BYTES / 1_000_000} MB; ${CONTEXT_LIMITS.files} files with paths of ${PATH_LIMITS.pathBytes} bytes need less. Remove \\u escapes and spaces, shorten the paths, or send the files as a tar (${TAR}).`;

/**
 * Reads a manifest at once if it is not larger than other JSON bodies. A larger manifest waits
 * until the budget has memory for its parsed form.
 */
async function receiveManifest(
  context: Call,
  owner: { tenant: string; name: string },
): Promise<UploadResult> {
  const { raw, env } = { raw: context.req.raw, env: context.env.contexts };
  const length = raw.headers.get("content-length");
  const store = (manifest: ContextManifest) => putManifest(env.store, owner, manifest, Date.now());
  if (length !== null && Number(length) <= MAX_BODY_BYTES)
    return store(await readBody(raw, ContextManifestSchema));
  if (Number(length) > MANIFEST_BYTES) throw new ApiError("body_too_large", MANIFEST_TOO_LARGE);
  // Reserve memory for the received bytes, not for the declared length. So slow clients reserve
  // little memory.
  const request = { tenant: owner.tenant, bytes: memoryOf("manifest", 0), signal: raw.signal };
  return withMemory(env.memory, request, async (progress) => {
    const onBytes = async (bytes: number, totalBytes: number) => {
      progress.onBytes(bytes);
      await progress.requireMemory(memoryOf("manifest", totalBytes));
    };
    const limit = {
      maxBytes: MANIFEST_BYTES,
      message: MANIFEST_TOO_LARGE,
      onWait: progress.onWait,
    };
    const manifest = await readLargeBody(raw, ContextManifestSchema, {
      ...limit,
      onBytes: (bytes, totalBytes) => orRefusal(onBytes(bytes, totalBytes)),
    });
    progress.report();
    return store(manifest);
  });
}

/** The kind of archive, from the media type of the body. Throws `unsupported_media_type`. */
function kindOf(request: Request): "tar" | "gzip" | "zip" {
  switch (typeOf(request)) {
    case TAR:
      return "tar";
    case GZIP:
    case "application/x-gzip":
      return "gzip";
    case ZIP:
    case "application/x-zip-compressed":
      return "zip";
    default: {
      const message = `Send a manifest as ${JSON_TYPE}, or an archive as ${TAR}, ${GZIP} or ${ZIP}.`;
      throw new ApiError("unsupported_media_type", message);
    }
  }
}

/**
 * A body whose bytes are counted in `tally`. Call `open` only once. `length`: declared length;
 * `null` if unknown. Call `reportProgress` while work continues after the end of the body.
 */
type CountedBody = {
  open(): ReadableStream<Uint8Array>;
  length: number | null;
  tally: Tally;
  reportProgress(): void;
};

/** Runs `work` on the body as soon as the budget has memory for the upload. */
function withCountedBody<T>(
  context: Call,
  kind: UploadKind,
  work: (body: CountedBody) => Promise<T>,
): Promise<T> {
  const { raw } = context.req;
  const declared = raw.headers.get("content-length");
  const length = declared === null ? null : Number(declared);
  const request = {
    tenant: context.var.principal.tenant,
    bytes: memoryOf(kind, length),
    signal: raw.signal,
  };
  return withMemory(context.env.contexts.memory, request, (progress) => {
    const tally = new Tally();
    const onBytes = (bytes: number) => {
      progress.onBytes(bytes);
      tally.received(bytes);
    };
    return work({
      open: () => uploadBody(raw, { onWait: progress.onWait, onBytes }),
      length,
      tally,
      reportProgress: progress.report,
    });
  });
}

/** The reader of the body's archive. */
function archiveOf(kind: "tar" | "gzip" | "zip", body: CountedBody): OpenArchive {
  const { open, length, tally } = body;
  switch (kind) {
    case "tar":
      return () => readTar(open(), tally, length);
    case "gzip":
      return () => readTarGzip(open(), tally);
    case "zip":
      return (prefix, files) => zipEntries(() => spool(files, prefix, open()), body);
    default:
      return kind satisfies never;
  }
}

/** Stores the zip, yields its entries, and erases the stored zip. */
async function* zipEntries(
  storeZip: () => ReturnType<typeof spool>,
  { tally, reportProgress }: CountedBody,
): AsyncGenerator<ArchiveEntry> {
  const { source, erase } = await storeZip();
  for await (const entry of readZip(source, tally)) {
    reportProgress();
    yield entry;
  }
  await erase();
}

export async function receiveBlobs(context: Call): Promise<Response> {
  const upload = uploadOf(context);
  const { store } = context.env.contexts;
  const read = ({ open, length, tally }: CountedBody) => {
    if (typeOf(context.req.raw) !== TAR)
      throw new ApiError("unsupported_media_type", `Send blobs as ${TAR}.`);
    return readTar(open(), tally, length);
  };
  const stored = await orRefusal(
    withCountedBody(context, "tar", (body) => putBlobs(store, upload, () => read(body))),
  );
  return context.json({ stored });
}

export async function receiveBlob(context: Call): Promise<Response> {
  const upload = uploadOf(context);
  const hash = context.req.param("sha256") ?? "";
  if (!BLOB_HASH.test(hash))
    throw new ApiError(
      "bad_id",
      "The name of a blob must be its SHA-256: 64 digits of lower-case hex.",
    );
  const { store } = context.env.contexts;
  await orRefusal(
    withCountedBody(context, "blob", ({ open, length }) =>
      putBlob(store, upload, { hash, body: open(), length }),
    ),
  );
  return context.json({ stored: 1 });
}

function uploadOf(context: Call): { tenant: string; name: string; version: string } {
  const version = versionOf(context);
  if (version === null)
    throw new ApiError(
      "bad_query",
      "`version` is missing. Use the `version` in the response to the manifest.",
    );
  return { ...ownerOf(context), version };
}

const toWire = (name: string, { version, ...uploaded }: UploadResult): ContextUpload => ({
  name,
  version,
  ...uploaded,
  links: { context: contextPath(name), blobs: `${contextBlobsPath(name)}?version=${version}` },
});
