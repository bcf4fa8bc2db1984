import { ClientError, type UploadFile } from "../../client/index";
import {
  type Context,
  type ContextList,
  ContextListSchema,
  ContextSchema,
  type ContextUpload,
  ContextUploadSchema,
  type IncludedTurn,
  type LeftOutFiles,
  type TurnChanges,
  TurnChangesSchema,
} from "../../src/protocol/api/contexts";
import { CliError, EXIT } from "../exit-codes";
import { type Answer, callService, readAnswer } from "../service/call-service";
import type { RequestContext } from "../service/problem";
import { toLine } from "../terminal/sanitize";
import { hashOf, type LocalFile, readPlainFile } from "./scan";
import type { Side } from "./three-way";

/** Requests about contexts. Every function throws CliError. */

export type UploadInput = {
  files: readonly LocalFile[];
  /** The context version that the files are based on. `null`: there must be no version yet. */
  base: string | null | undefined;
  /** Turns whose results the files contain. */
  includes: IncludedTurn[];
  /** Files of `base` that are excluded, with their hashes in it. */
  leftOut: LeftOutFiles;
  onProgress: (progress: { sent: number; total: number }) => void;
};

/** Uploads these files as the newest version of a context. */
export async function uploadContext(
  name: string,
  { files, base, includes, leftOut, onProgress }: UploadInput,
  context: RequestContext,
): Promise<ContextUpload> {
  const upload = readAnswer(context, ContextUploadSchema, ({ contexts }) =>
    contexts.upload(name, files.map(toUploadFile), {
      baseVersion: base,
      onProgress,
      ...(includes.length > 0 ? { includes } : {}),
      ...(leftOut.length > 0 ? { leftOut } : {}),
    }),
  );
  return (await upload).data;
}

const toUploadFile = (file: LocalFile): UploadFile => ({
  path: file.path,
  sha256: file.hash,
  size: file.size,
  executable: file.executable,
  read: () => readAgain(file),
});

async function readAgain({ file, hash, path }: LocalFile): Promise<Uint8Array> {
  const bytes = (await readPlainFile(file))?.bytes;
  if (bytes && hashOf(bytes) === hash) return bytes;
  throw new CliError(
    EXIT.config,
    `${toLine(path)} was changed while it was pushed. The context is unchanged. Push again.`,
  );
}

/** Contexts per page of a list. */
const PAGE = 100;

/** Lists contexts, sorted by name. `after`: the last name of the previous page. */
export const listContexts = (
  after: string | undefined,
  context: RequestContext,
): Promise<Answer<ContextList>> =>
  readAnswer(context, ContextListSchema, ({ contexts }) =>
    contexts.list({ limit: PAGE, ...(after === undefined ? {} : { after }) }),
  );

/** Erases a context with all its versions. */
export const eraseContext = (name: string, context: RequestContext): Promise<void> =>
  callService(context, ({ contexts }) => contexts.delete(name));

/** Reads a version of a context. `version`: `null` means the newest. */
export async function readContext(
  name: string,
  version: string | null,
  context: RequestContext,
): Promise<Context> {
  const read = readAnswer(context, ContextSchema, ({ contexts }) =>
    contexts.get(name, { version: version ?? undefined }),
  );
  return (await read).data;
}

/** Reads a version of a context; returns `null` if the service has pruned the version. */
export async function readContextIfKept(
  name: string,
  version: string,
  context: RequestContext,
): Promise<Context | null> {
  const read = readAnswer(context, ContextSchema.nullable(), ({ contexts }) =>
    contexts.get(name, { version }).catch((error: unknown) => {
      if (error instanceof ClientError && error.status === 404) return null;
      throw error;
    }),
  );
  return (await read).data;
}

/** Reads the newest version of a context; returns `null` if there is no such context. */
export async function readContextIfAny(
  name: string,
  context: RequestContext,
): Promise<Context | null> {
  const read = readAnswer(context, ContextSchema.nullable(), ({ contexts }) =>
    contexts.get(name).catch((error: unknown) => {
      if (error instanceof ClientError && error.status === 404) return null;
      throw error;
    }),
  );
  return (await read).data;
}

/** The files of a context by path. */
export const sidesOf = ({ tree }: Context): Map<string, Exclude<Side, null>> =>
  new Map(
    tree.map(({ path, sha256, executable }) => [
      path,
      { hash: sha256, executable: executable ?? false },
    ]),
  );

/** Reads the changes that a turn made in contexts. */
export async function readChanges(
  session: string,
  turn: number,
  context: RequestContext,
): Promise<TurnChanges> {
  const read = readAnswer(context, TurnChangesSchema, ({ contexts }) =>
    contexts.changes({ session, turn }),
  );
  return (await read).data;
}

/** Reads the changes of a turn; returns `null` if the session or the turn does not exist. */
export async function readChangesIfKept(
  session: string,
  turn: number,
  context: RequestContext,
): Promise<TurnChanges | null> {
  const read = readAnswer(context, TurnChangesSchema.nullable(), ({ contexts }) =>
    contexts.changes({ session, turn }).catch((error: unknown) => {
      if (error instanceof ClientError && error.status === 404) return null;
      throw error;
    }),
  );
  return (await read).data;
}

/** Downloads a file's contents. Throws CliError, also if the contents have another hash. */
export type ContentFetcher = (path: string, hash: string) => Promise<Uint8Array>;

export const fetchFromContext =
  (name: string, version: string, context: RequestContext): ContentFetcher =>
  (path, sha256) =>
    callService(context, ({ contexts }) => contexts.file(name, path, { version, sha256 }));

export const fetchFromTurn =
  (session: string, turn: number, context: RequestContext): ContentFetcher =>
  (_, sha256) =>
    callService(context, ({ contexts }) => contexts.changedFile({ session, turn }, sha256));
