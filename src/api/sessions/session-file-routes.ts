import * as z from "zod";
import type { FrozenFiles } from "../../../durable-objects/session/session-api";
import { type SessionFiles, SessionFilesSchema } from "../../protocol/api/files";
import { typeByName } from "../../workspace/content-type";
import type { App, Call } from "../api-env";
import {
  FILE_DESCRIPTION,
  FILE_RESPONSE,
  fileResponse,
  INLINE,
  treeArchive,
  ZIP_RESPONSE,
} from "../attachment";
import { ApiError } from "../errors";
import { SESSION_FILES } from "./examples";
import { ATTEMPT, ID_TURN, ID_TURN_LABEL, json, type Operation } from "../operation";
import { labelOf, refuse, route, sessionOf, turnOf } from "../routes";

const PATH = {
  path: z
    .string()
    .describe("Path of the file, relative to the root of the workspace, slashes included"),
};
const CODES = ["bad_id", "session_not_found", "turn_not_found"] as const;
const ANSWER_CODES = [...CODES, "bad_query", "answer_not_found"] as const;

const list = (id: string, summary: string) =>
  ({
    id,
    tag: "Sessions",
    summary,
    responses: { 200: json("The files", SessionFilesSchema, SESSION_FILES) },
    handle: showFiles,
  }) as const;
const file = (id: string, summary: string) =>
  ({
    id,
    tag: "Sessions",
    summary,
    description: FILE_DESCRIPTION,
    responses: { 200: FILE_RESPONSE },
    handle: showFile,
  }) as const;
const archive = (id: string, summary: string) =>
  ({
    id,
    tag: "Sessions",
    summary,
    responses: { 200: ZIP_RESPONSE },
    handle: showArchive,
  }) as const;

const RESULT = { request: { params: ID_TURN }, codes: [...CODES] };
const RESULT_FILE = {
  request: { params: ID_TURN.extend(PATH), query: INLINE },
  codes: [...CODES, "bad_query" as const, "file_not_found" as const],
};
const ANSWER = { request: { params: ID_TURN_LABEL, query: ATTEMPT }, codes: [...ANSWER_CODES] };
const ANSWER_FILE = {
  request: { params: ID_TURN_LABEL.extend(PATH), query: ATTEMPT.extend(INLINE.shape) },
  codes: [...ANSWER_CODES, "file_not_found" as const],
};

/** Routes for files of answers and of turns' results: lists, single files and archives. */
export function sessionFileRoutes(app: App): void {
  const turn = "/api/sessions/{id}/turns/{turn}";
  const answer = `${turn}/answers/{label}`;
  const operations: [string, Operation][] = [
    [`${turn}/files`, { ...list("listTurnFiles", "The files of a turn's result"), ...RESULT }],
    [
      `${turn}/files/{path}`,
      { ...file("getTurnFile", "A file of a turn's result"), ...RESULT_FILE },
    ],
    [
      `${turn}/archive.zip`,
      { ...archive("getTurnArchive", "The files of a turn's result as a zip"), ...RESULT },
    ],
    [`${answer}/files`, { ...list("listAnswerFiles", "The files of an answer"), ...ANSWER }],
    [`${answer}/files/{path}`, { ...file("getAnswerFile", "A file of an answer"), ...ANSWER_FILE }],
    [
      `${answer}/archive.zip`,
      { ...archive("getAnswerArchive", "The files of an answer as a zip"), ...ANSWER },
    ],
  ];
  for (const [path, get] of operations) route(app, path, { get });
}

async function showFiles(context: Call): Promise<Response> {
  const { attempt, label, tree } = await filesOf(context);
  const body: SessionFiles = {
    object: "list",
    label: label || null,
    attempt,
    files: tree.length,
    bytes: tree.reduce((sum, { size }) => sum + size, 0),
    data: tree.map(({ hash, ...entry }) => ({
      sha256: hash,
      ...entry,
      content_type: typeByName(entry.path),
    })),
  };
  return context.json(body);
}

async function showFile(context: Call): Promise<Response> {
  const { tree } = await filesOf(context);
  const path = context.req.param("path")?.normalize("NFC") ?? "";
  const entry = tree.find((file) => file.path === path);
  if (!entry) throw new ApiError("file_not_found", "There is no such file.");
  return fileResponse(context, path, await contentsOf(context, entry.hash));
}

async function showArchive(context: Call): Promise<Response> {
  const { label, tree } = await filesOf(context);
  const name = `turn-${turnOf(context)}${label === "" ? "" : `-${label}`}.zip`;
  return treeArchive(
    context,
    name,
    new Map(tree.map(({ path, ...entry }) => [path, entry])),
    (hash) => contentsOf(context, hash),
  );
}

async function filesOf(context: Call): Promise<FrozenFiles> {
  const attempt = context.req.query("attempt");
  if (attempt !== undefined && !/^[1-9]\d{0,3}$/.test(attempt))
    throw new ApiError("bad_query", "`attempt` is a number from 1.");
  const label = context.req.param("label") === undefined ? null : labelOf(context);
  const { stub } = await sessionOf(context);
  const result = await stub.files(
    turnOf(context) ?? 0,
    label,
    attempt === undefined ? null : Number(attempt),
  );
  return result.ok ? result.files : refuse(result.code);
}

async function contentsOf(context: Call, hash: string): Promise<ReadableStream<Uint8Array>> {
  const contents = await (await sessionOf(context)).stub.blob(hash);
  if (contents.ok) return new Blob([contents.bytes]).stream();
  if (contents.code === "file_not_found")
    throw new ApiError("file_not_found", "There is no such file.");
  if (contents.code === "contents_lost") throw lostError();
  throw unreadableError();
}

/** The error for lost contents. It is permanent, so a retry does not help. */
export const lostError = (): ApiError =>
  new ApiError(
    "file_not_found",
    "The contents of this file are lost: the storage no longer has them. Other files are not affected.",
  );

/** The error for contents that cannot be read now because R2 is unavailable. */
export const unreadableError = (): ApiError =>
  new ApiError("interrupted", "The file cannot be read at the moment. Please retry.", {
    headers: { "retry-after": "1" },
  });
