import { z } from "@hono/zod-openapi";
import { type ArchiveEntry, readTar, readTarGzip } from "../../uploads/read-tar";
import { readZip } from "../../uploads/read-zip";
import { spool } from "../../uploads/spool";
import { Tally } from "../../uploads/tally";
import { MANIFEST_BYTES, memoryOf, type UploadKind } from "../../uploads/upload-room";
import {
  type OpenArchive,
  putArchive,
  putBlob,
  putBlobs,
  putManifest,
  type UploadResult,
} from "../../uploads/uploads";
import {
  BLOB_HASH,
  BlobsStoredSchema,
  type ContextManifest,
  ContextManifestSchema,
  type ContextUpload,
  ContextUploadSchema,
  VersionIdSchema,
} from "../../protocol/api/contexts";
import { CONTEXT_LIMITS } from "../../protocol/context-limits";
import { contextBlobsPath, contextPath } from "../../protocol/paths";
import { PATH_LIMITS } from "../../workspace/paths";
import type { Call } from "../api-env";
import { COMMITTED, MANIFEST, UPLOADING } from "./context-examples";
import { OCTETS, ZIP } from "../attachment";
import { CONTEXT_PARAM, ownerOf, versionOf } from "./context-names";
import { ApiError, type ErrorCode } from "../errors";
import { json, type Operation } from "../operation";
import { MAX_BODY_BYTES, readBody, readLargeBody } from "../bodies/read-body";
import { requireStorage } from "../sessions/quota-refusals";
import { inRoom } from "./upload-place";
import { orRefusal, typeOf, uploadBody } from "./read-upload";

const TAR = "application/x-tar";
const GZIP = "application/gzip";
const JSON_TYPE = "application/json";

const BLOB = CONTEXT_PARAM.extend({
  sha256: z.string().regex(BLOB_HASH).describe("SHA-256 of its contents, in lower-case hex"),
});
const UPLOAD = z.object({
  version: VersionIdSchema.describe("The version that the manifest's answer names"),
});

const binary = { schema: z.string().meta({ format: "binary" }) };
const UNREADABLE: readonly ErrorCode[] = [
  "bad_id",
  "upload_broken",
  "context_too_large",
  "unsupported_media_type",
  "archive_invalid",
  "uploads_busy",
];

const PUT: Operation = {
  id: "putContext",
  tag: "Contexts",
  summary: "Make a new version of a context",
  description:
    "With a manifest: hashes first; the answer says which contents are missing. Send those, then the same manifest again, which makes the version. A manifest whose contents are all there makes it at once, and the same one once more changes nothing. With a tar, a gzipped tar or a zip: the version is made of what is in it, or nothing is. Versions never change. An upload that is not finished within a day is swept.",
  request: {
    params: CONTEXT_PARAM,
    body: {
      [JSON_TYPE]: { schema: ContextManifestSchema, example: MANIFEST },
      [TAR]: binary,
      [GZIP]: binary,
      [ZIP]: binary,
    },
  },
  answers: {
    200: json("It is the newest version already", ContextUploadSchema, {
      ...COMMITTED,
      status: "unchanged",
      skipped: [],
    }),
    201: json("There is a new version", ContextUploadSchema, COMMITTED),
    202: json("Contents are missing", ContextUploadSchema, UPLOADING),
  },
  codes: [
    ...UNREADABLE,
    "bad_json",
    "body_too_large",
    "request_invalid",
    "path_invalid",
    "context_changed",
    "upload_not_found",
    "storage_exceeded",
  ],
  handle: put,
};

const PUT_BLOBS: Operation = {
  id: "putContextBlobs",
  tag: "Contexts",
  summary: "Send contents that are missing, several at once",
  description:
    "A tar whose entries are called by the SHA-256 of their contents. Twice is the same as once.",
  request: { params: CONTEXT_PARAM, query: UPLOAD, body: { [TAR]: binary } },
  answers: { 200: json("They are there", BlobsStoredSchema, { stored: 12 }) },
  codes: [...UNREADABLE, "bad_query", "blob_mismatch", "upload_not_found"],
  handle: takeBlobs,
};

const PUT_BLOB: Operation = {
  id: "putContextBlob",
  tag: "Contexts",
  summary: "Send contents that are missing",
  description: "Twice is the same as once.",
  request: { params: BLOB, query: UPLOAD, body: { [OCTETS]: binary } },
  answers: { 200: json("They are there", BlobsStoredSchema, { stored: 1 }) },
  codes: [
    ...UNREADABLE.filter((code) => code !== "archive_invalid"),
    "bad_query",
    "blob_mismatch",
    "upload_not_found",
  ],
  handle: takeBlob,
};

/** Taking contexts in. */
export const contextUploads = { put: PUT, putBlobs: PUT_BLOBS, putBlob: PUT_BLOB };

const STATUS = { committed: 201, unchanged: 200, uploading: 202 } as const;

async function put(context: Call): Promise<Response> {
  const owner = ownerOf(context);
  await requireStorage(context);
  const uploaded = await orRefusal(take(context, owner));
  return context.json(toWire(owner.name, uploaded), STATUS[uploaded.status]);
}

async function take(context: Call, owner: { tenant: string; name: string }): Promise<UploadResult> {
  const { store } = context.env.contexts;
  if (typeOf(context.req.raw) === JSON_TYPE) return takeManifest(context, owner);
  const kind = kindOf(context.req.raw);
  return withRoom(context, kind, (body) =>
    putArchive(store, owner, archiveOf(kind, body), Date.now()),
  );
}

const MANIFEST_BEYOND = `The manifest is larger than ${MANIFEST_BYTES / 1_000_000} MB: ${CONTEXT_LIMITS.files} files with paths of ${PATH_LIMITS.pathBytes} bytes take less. Write it without \\u escapes and spaces, shorten the paths, or send the files themselves as a tar (${TAR}).`;

/** One no larger than a JSON body without attachments is read at once; one that may be more, once there is room for what it is made into. */
async function takeManifest(
  context: Call,
  owner: { tenant: string; name: string },
): Promise<UploadResult> {
  const { raw, env } = { raw: context.req.raw, env: context.env.contexts };
  const length = raw.headers.get("content-length");
  const put = (manifest: ContextManifest) => putManifest(env.store, owner, manifest, Date.now());
  if (length !== null && Number(length) <= MAX_BODY_BYTES)
    return put(await readBody(raw, ContextManifestSchema));
  if (Number(length) > MANIFEST_BYTES) throw new ApiError("body_too_large", MANIFEST_BEYOND);
  // What has come counts, not what was announced: a client that is slow to send holds little of the room.
  const wanted = { tenant: owner.tenant, bytes: memoryOf("manifest", 0), signal: raw.signal };
  return inRoom(env.room, wanted, async (progress) => {
    const came = async (bytes: number, inAll: number) => {
      progress.came(bytes);
      await progress.holds(memoryOf("manifest", inAll));
    };
    const limit = { mostBytes: MANIFEST_BYTES, beyond: MANIFEST_BEYOND, waits: progress.waits };
    const manifest = await readLargeBody(raw, ContextManifestSchema, {
      ...limit,
      came: (bytes, inAll) => orRefusal(came(bytes, inAll)),
    });
    progress.goesOn();
    return put(manifest);
  });
}

/** The kind of archive that a body says it is. Throws `unsupported_media_type` for none. */
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

/** A body that is counted and may be opened once; `told`: its length; `goesOn`: to be called where work on it goes on after its end. */
type Counted = {
  open(): ReadableStream<Uint8Array>;
  told: number | null;
  tally: Tally;
  goesOn(): void;
};

/** Does the work on a body once there is room for what it holds in memory. */
function withRoom<T>(
  context: Call,
  kind: UploadKind,
  work: (body: Counted) => Promise<T>,
): Promise<T> {
  const { raw } = context.req;
  const length = raw.headers.get("content-length");
  const told = length === null ? null : Number(length);
  const wanted = {
    tenant: context.var.principal.tenant,
    bytes: memoryOf(kind, told),
    signal: raw.signal,
  };
  return inRoom(context.env.contexts.room, wanted, (progress) => {
    const tally = new Tally();
    const came = (bytes: number) => {
      progress.came(bytes);
      tally.received(bytes);
    };
    return work({
      open: () => uploadBody(raw, { waits: progress.waits, came }),
      told,
      tally,
      goesOn: progress.goesOn,
    });
  });
}

/** How the body's archive is read. */
function archiveOf(kind: "tar" | "gzip" | "zip", body: Counted): OpenArchive {
  const { open, told, tally } = body;
  switch (kind) {
    case "tar":
      return () => readTar(open(), tally, told);
    case "gzip":
      return () => readTarGzip(open(), tally);
    case "zip":
      return (place, files) => zipEntries(() => spool(files, place, open()), body);
    default:
      return kind satisfies never;
  }
}

async function* zipEntries(
  put: () => ReturnType<typeof spool>,
  { tally, goesOn }: Counted,
): AsyncGenerator<ArchiveEntry> {
  const { source, erase } = await put();
  for await (const entry of readZip(source, tally)) {
    goesOn();
    yield entry;
  }
  await erase();
}

async function takeBlobs(context: Call): Promise<Response> {
  const upload = uploadOf(context);
  const { store } = context.env.contexts;
  const read = ({ open, told, tally }: Counted) => {
    if (typeOf(context.req.raw) !== TAR)
      throw new ApiError("unsupported_media_type", `Send blobs as ${TAR}.`);
    return readTar(open(), tally, told);
  };
  const stored = await orRefusal(
    withRoom(context, "tar", (body) => putBlobs(store, upload, () => read(body))),
  );
  return context.json({ stored });
}

async function takeBlob(context: Call): Promise<Response> {
  const upload = uploadOf(context);
  const hash = context.req.param("sha256") ?? "";
  if (!BLOB_HASH.test(hash))
    throw new ApiError("bad_id", "A blob is called by its SHA-256: 64 digits of lower-case hex.");
  const { store } = context.env.contexts;
  await orRefusal(
    withRoom(context, "blob", ({ open, told }) =>
      putBlob(store, upload, { hash, body: open(), told }),
    ),
  );
  return context.json({ stored: 1 });
}

function uploadOf(context: Call): { tenant: string; name: string; version: string } {
  const version = versionOf(context);
  if (version === null)
    throw new ApiError(
      "bad_query",
      "`version` is missing: the one that the manifest's answer names.",
    );
  return { ...ownerOf(context), version };
}

const toWire = (name: string, { version, ...uploaded }: UploadResult): ContextUpload => ({
  name,
  version,
  ...uploaded,
  links: { context: contextPath(name), blobs: `${contextBlobsPath(name)}?version=${version}` },
});
