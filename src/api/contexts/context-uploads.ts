import * as z from "zod";
import { lazy } from "../../async/lazy";
import {
  BLOB_HASH,
  BlobsStoredSchema,
  ContextManifestSchema,
  ContextUploadSchema,
  VersionIdSchema,
} from "../../protocol/api/contexts";
import { COMMITTED, MANIFEST, UPLOADING } from "./context-examples";
import { OCTETS, ZIP } from "../attachment";
import { CONTEXT_PARAM } from "./context-names";
import type { ErrorCode } from "../errors";
import { json, type Operation } from "../operation";
import { GZIP, JSON_TYPE, TAR } from "./upload-types";

/** They contain the readers of archives. */
const handlers = lazy(() => import("./receive-uploads"));

const BLOB = CONTEXT_PARAM.extend({
  sha256: z.string().regex(BLOB_HASH).describe("SHA-256 of the contents, in lower-case hex"),
});
const UPLOAD = z.object({
  version: VersionIdSchema.describe("Id of the version in the response to the manifest"),
});

const binary = { schema: z.string().meta({ format: "binary" }) };
/** Error codes of all operations that receive a body. */
const BODY_CODES: readonly ErrorCode[] = [
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
  summary: "Create a new version of a context",
  description:
    "With a manifest: the response lists the missing contents. Send them, then the same manifest again to create the version. If no contents are missing, the version is created at once. Repeating the manifest changes nothing. With a tar, a gzipped tar or a zip: the whole archive becomes the version, or nothing does. Versions never change. An unfinished upload is deleted after a day.",
  request: {
    params: CONTEXT_PARAM,
    body: {
      [JSON_TYPE]: { schema: ContextManifestSchema, example: MANIFEST },
      [TAR]: binary,
      [GZIP]: binary,
      [ZIP]: binary,
    },
  },
  responses: {
    200: json("The newest version already has these contents", ContextUploadSchema, {
      ...COMMITTED,
      status: "unchanged",
      skipped: [],
    }),
    201: json("The version was created", ContextUploadSchema, COMMITTED),
    202: json("Contents are missing", ContextUploadSchema, UPLOADING),
  },
  codes: [
    ...BODY_CODES,
    "bad_json",
    "body_too_large",
    "request_invalid",
    "path_invalid",
    "record_too_large",
    "context_changed",
    "upload_not_found",
    "storage_exceeded",
  ],
  handle: (context) => handlers().then(({ put }) => put(context)),
};

const PUT_BLOBS: Operation = {
  id: "putContextBlobs",
  tag: "Contexts",
  summary: "Send several missing contents",
  description:
    "The body is a tar. The name of each entry is the SHA-256 of its contents. Safe to repeat.",
  request: { params: CONTEXT_PARAM, query: UPLOAD, body: { [TAR]: binary } },
  responses: { 200: json("The contents are stored", BlobsStoredSchema, { stored: 12 }) },
  codes: [...BODY_CODES, "bad_query", "blob_mismatch", "upload_not_found"],
  handle: (context) => handlers().then(({ receiveBlobs }) => receiveBlobs(context)),
};

const PUT_BLOB: Operation = {
  id: "putContextBlob",
  tag: "Contexts",
  summary: "Send missing contents",
  description: "Safe to repeat.",
  request: { params: BLOB, query: UPLOAD, body: { [OCTETS]: binary } },
  responses: { 200: json("The contents are stored", BlobsStoredSchema, { stored: 1 }) },
  codes: [
    ...BODY_CODES.filter((code) => code !== "archive_invalid"),
    "bad_query",
    "blob_mismatch",
    "upload_not_found",
  ],
  handle: (context) => handlers().then(({ receiveBlob }) => receiveBlob(context)),
};

/** Operations that upload contexts. */
export const contextUploads = { put: PUT, putBlobs: PUT_BLOBS, putBlob: PUT_BLOB };
