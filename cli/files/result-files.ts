import { type UnzipFileInfo, unzipSync } from "fflate";
import type { FilesPlace } from "../../client/index";
import { type ContentFetcher, readChanges } from "../contexts/context-client";
import { hashOf } from "../contexts/scan";
import { CliError, EXIT } from "../exit-codes";
import { type Answer, callService, readAnswer } from "../service/call-service";
import type { RequestContext } from "../service/problem";
import { type FileList, FileListSchema } from "../service/schema";
import { toLine } from "../terminal/sanitize";

/**
 * Requests for the files of a turn's result or of an answer (`label`). Every function throws
 * CliError.
 */
export type { FilesPlace };

/** Lists the files, sorted by path. */
export const listFiles = (place: FilesPlace, context: RequestContext): Promise<Answer<FileList>> =>
  readAnswer(context, FileListSchema, ({ files }) => files.list(place));

/**
 * Lists the files of a turn's result. Returns `null` if the list cannot be read: the caller only
 * adds it to a result that is already there.
 */
export async function listIfPossible(
  place: FilesPlace,
  context: RequestContext,
): Promise<FileList | null> {
  try {
    return (await listFiles(place, context)).data;
  } catch (error) {
    if (error instanceof CliError) return null;
    throw error;
  }
}

/**
 * Whether contexts have changes after a turn, so that a pull can bring them. `false` also if they
 * cannot be read: the caller only adds this to a result that is already there.
 */
export async function hasChanges(
  { session, turn }: FilesPlace,
  context: RequestContext,
): Promise<boolean> {
  try {
    const { data } = await readChanges(session, turn, context);
    return data.some(({ changes }) => changes.length > 0);
  } catch (error) {
    if (error instanceof CliError) return false;
    throw error;
  }
}

/** Up to this number, files are requested one by one. More files are requested as one zip. */
const MAX_SINGLE = 24;

/** Downloads contents of these files. Each call checks the hash of the contents. */
export function fetchFromResult(
  place: FilesPlace,
  wanted: FileList["data"],
  context: RequestContext,
): ContentFetcher {
  const fetchOne = (path: string) => callService(context, ({ files }) => files.read(place, path));
  let archive: Promise<ReadonlyMap<string, Uint8Array>> | null = null;
  const fetchFromArchive = async (path: string) => {
    archive ??= callService(context, ({ files }) => files.archive(place)).then((zip) =>
      unpack(zip, wanted),
    );
    return (await archive).get(path) ?? fetchOne(path);
  };
  return async (path, hash) => {
    const bytes = await (wanted.length > MAX_SINGLE ? fetchFromArchive(path) : fetchOne(path));
    if (hashOf(bytes) === hash) return bytes;
    throw new CliError(
      EXIT.execution,
      `${context.server} sent other contents of ${toLine(path)} than announced. Retry.`,
    );
  };
}

/** Unpacks the listed files. Entries with another size than announced are skipped. */
function unpack(zip: Uint8Array, wanted: FileList["data"]): ReadonlyMap<string, Uint8Array> {
  const sizes = new Map(wanted.map(({ path, size }) => [path, size]));
  const isWanted = (name: string, size: number) => sizes.get(name) === size;
  try {
    const filter = ({ name, originalSize }: UnzipFileInfo) => isWanted(name, originalSize);
    return new Map(Object.entries(unzipSync(zip, { filter })));
  } catch {
    return new Map(); // each file is then requested on its own
  }
}
