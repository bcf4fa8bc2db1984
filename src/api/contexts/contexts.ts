import * as z from "zod";
import type { VersionRow } from "../../uploads/context-index";
import type { OpenContext } from "../../uploads/context-reader";
import { decodeLeftOut, decodeRecord } from "../../uploads/records";
import { eraseContext } from "../../uploads/erase-uploads";
import {
  type Context,
  CONTEXT_NAME,
  type ContextEntry,
  type ContextList,
  ContextListSchema,
  ContextNameSchema,
  ContextSchema,
  VersionIdSchema,
} from "../../protocol/api/contexts";
import { contextArchivePath, contextPath, CONTEXTS_PATH } from "../../protocol/paths";
import { relativePath } from "../../workspace/paths";
import { FileError } from "../../workspace/types";
import type { App, Call } from "../api-env";
import {
  FILE_DESCRIPTION,
  FILE_RESPONSE,
  fileResponse,
  INLINE,
  treeArchive,
  ZIP_RESPONSE,
} from "../attachment";
import { CONTEXT, ENTRY } from "./context-examples";
import { CONTEXT_PARAM, ownerOf, versionOf } from "./context-names";
import { contextUploads } from "./context-uploads";
import { ApiError } from "../errors";
import { json, limit, type Operation } from "../operation";
import { limitOf, route } from "../routes";

const PAGE = { defaultSize: 20, maxSize: 100 };

const FILE_PARAMS = CONTEXT_PARAM.extend({
  path: z.string().describe("Path of the file, slashes included"),
});
const VERSION_QUERY = z.object({
  version: VersionIdSchema.optional().describe("Id of the version. Default: the newest"),
});

const LIST: Operation = {
  id: "listContexts",
  tag: "Contexts",
  summary: "Your contexts, sorted by name, each with its newest version",
  request: {
    query: z.object({
      limit: limit(PAGE.defaultSize, PAGE.maxSize),
      after: ContextNameSchema.optional().describe(
        "Name of a context: only later names are returned. Default: from the first",
      ),
    }),
  },
  responses: {
    200: json("A page of contexts", ContextListSchema, {
      object: "list",
      data: [ENTRY],
      first_id: ENTRY.name,
      last_id: ENTRY.name,
      has_more: false,
    }),
  },
  codes: ["bad_query"],
  handle: listContexts,
};

const SHOW: Operation = {
  id: "getContext",
  tag: "Contexts",
  summary: "A version of a context with its files",
  description:
    "A replaced version can be read for 30 more days, and as long as a turn uses it or a session has changes that are based on it. Then it is deleted, and the response is `context_not_found`.",
  request: { params: CONTEXT_PARAM, query: VERSION_QUERY },
  responses: { 200: json("The version", ContextSchema, CONTEXT) },
  codes: ["bad_id", "bad_query", "context_not_found"],
  handle: showContext,
};

const ERASE: Operation = {
  id: "eraseContext",
  tag: "Contexts",
  summary: "Erase a context with all its versions permanently",
  description: "Sessions that use the context can no longer read its files.",
  request: { params: CONTEXT_PARAM },
  responses: { 204: { description: "Erased" } },
  codes: ["bad_id", "context_not_found"],
  handle: erase,
};

const FILE: Operation = {
  id: "getContextFile",
  tag: "Contexts",
  summary: "A file of a context",
  description: FILE_DESCRIPTION,
  request: { params: FILE_PARAMS, query: VERSION_QUERY.extend(INLINE.shape) },
  responses: { 200: FILE_RESPONSE },
  codes: ["bad_id", "bad_query", "context_not_found", "file_not_found"],
  handle: showFile,
};

const ARCHIVE: Operation = {
  id: "getContextArchive",
  tag: "Contexts",
  summary: "A version of a context as a zip",
  request: { params: CONTEXT_PARAM, query: VERSION_QUERY },
  responses: { 200: ZIP_RESPONSE },
  codes: ["bad_id", "bad_query", "context_not_found"],
  handle: showArchive,
};

/** Routes that read and erase contexts. `context-uploads.ts` has the uploads. */
export function contextRoutes(app: App): void {
  const { put, putBlobs, putBlob } = contextUploads;
  route(app, CONTEXTS_PATH, { get: LIST });
  route(app, `${CONTEXTS_PATH}/{context}`, { get: SHOW, put, delete: ERASE });
  route(app, `${CONTEXTS_PATH}/{context}/blobs`, { put: putBlobs });
  route(app, `${CONTEXTS_PATH}/{context}/blobs/{sha256}`, { put: putBlob });
  route(app, `${CONTEXTS_PATH}/{context}/files/{path}`, { get: FILE });
  route(app, `${CONTEXTS_PATH}/{context}/archive.zip`, { get: ARCHIVE });
}

async function listContexts(context: Call): Promise<Response> {
  const after = context.req.query("after") ?? null;
  if (after !== null && !CONTEXT_NAME.test(after))
    throw new ApiError("bad_query", "`after` must be the name of a context.");
  const size = limitOf(context, PAGE);
  const rows = await context.env.contexts.store.index.page(
    context.var.principal.tenant,
    after,
    size + 1,
  );
  const data = rows.slice(0, size).map(toEntry);
  const pageEnds = { first_id: data[0]?.name ?? null, last_id: data.at(-1)?.name ?? null };
  const body: ContextList = { object: "list", data, ...pageEnds, has_more: rows.length > size };
  return context.json(body);
}

async function showContext(context: Call): Promise<Response> {
  const { version, tree } = await openContext(context);
  const { records } = context.env.contexts.store;
  const record = await records.read({ ...ownerOf(context), id: version.id });
  const [includes, leftOut] = [decodeRecord(record), decodeLeftOut(record)];
  const body: Context = {
    ...toEntry(version),
    tree: [...tree].map(([path, { hash, ...entry }]) => ({ path, sha256: hash, ...entry })),
    ...(includes.length > 0 && { includes }),
    ...(leftOut.length > 0 && { left_out: leftOut }),
  };
  return context.json(body);
}

async function showFile(context: Call): Promise<Response> {
  const { tree, stream } = await openContext(context);
  const path = pathOf(context);
  const entry = path === null ? undefined : tree.get(path);
  if (path === null || entry === undefined)
    throw new ApiError("file_not_found", "There is no such file in this version of the context.");
  return fileResponse(context, path, await stream(entry.hash));
}

/** The file path in the URL, in the form that trees use; `null` if the path is invalid. */
function pathOf(context: Call): string | null {
  try {
    return relativePath(context.req.param("path") ?? "");
  } catch (error) {
    if (error instanceof FileError) return null;
    throw error;
  }
}

async function showArchive(context: Call): Promise<Response> {
  const { version, tree, stream } = await openContext(context);
  return treeArchive(context, `${version.name}.zip`, tree, stream);
}

async function erase(context: Call): Promise<Response> {
  if (await eraseContext(context.env.contexts.store, ownerOf(context)))
    return context.body(null, 204);
  throw notFound();
}

async function openContext(context: Call): Promise<OpenContext> {
  const { tenant, name } = ownerOf(context);
  const open = await context.env.contexts.reader.open(tenant, name, versionOf(context));
  if (open) return open;
  throw notFound();
}

const NOT_FOUND =
  "There is no such context or version. A replaced version is deleted after 30 days, unless a session needs it.";
const notFound = (): ApiError => new ApiError("context_not_found", NOT_FOUND);

const toEntry = ({ name, id, files, bytes, createdAt }: VersionRow): ContextEntry => ({
  name,
  version: id,
  files,
  bytes,
  created_at: createdAt / 1_000,
  links: { context: contextPath(name), archive: contextArchivePath(name) },
});
