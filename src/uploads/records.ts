import * as z from "zod";
import {
  type IncludedTurn,
  IncludedTurnSchema,
  type Includes,
  type LeftOutFiles,
  RecordBaseSchema,
} from "../protocol/api/contexts";
import { RECORD_LIMITS } from "../protocol/context-limits";
import { foldedList, isFolder, leftOutTest } from "../workspace/left-out-paths";
import { ancestorsOf } from "../workspace/paths";
import type { Tree } from "../workspace/types";
import { UploadRefusal } from "./refusals";

/**
 * Records of context versions: the turns of sessions whose results a version contains. The last
 * entry is the newest.
 */

/**
 * The record of a version: the entries of `own`, and before them the entries of `inherited` whose
 * sessions `own` does not name. If the record exceeds a limit, its oldest entries are dropped.
 * Throws `UploadRefusal` if `own` alone is too large.
 */
export function combineRecords(inherited: Includes, own: Includes): Includes {
  if (bytesOf(own) > RECORD_LIMITS.bytes)
    throw new UploadRefusal(
      "record_too_large",
      `The record of the version (\`includes\`) is larger than ${RECORD_LIMITS.bytes / 1024} KiB. Leave out or skip fewer files, or drop entries of old sessions.`,
    );
  const named = new Set(own.map(({ session }) => session));
  const entries = [...inherited.filter(({ session }) => !named.has(session)), ...own];
  const kept = entries.slice(-RECORD_LIMITS.entries);
  while (bytesOf(kept) > RECORD_LIMITS.bytes) kept.shift();
  return kept;
}

/**
 * The entries that a new version inherits from its base. A path that an entry left out, by its name
 * or by its folder, counts as left out only while the version has the same file as its base.
 * Otherwise the sender changed the file, and the path gets its last contents before this change as
 * its older base.
 */
export const inheritedEntries = (
  entries: Includes,
  { tree, base, leftOut: leftOutOfBase }: InheritingVersion,
): Includes => {
  const last = new Map(leftOutOfBase.map(({ path, sha256 }) => [path, sha256]));
  const hashIn = (files: Tree, path: string) => files.get(path)?.hash ?? null;
  const isSent = (path: string) => hashIn(tree, path) !== hashIn(base, path);
  const baseHash = (path: string) => hashIn(base, path) ?? last.get(path) ?? null;
  return entries.map((entry) => {
    const list = entry.left_out ?? [];
    if (list.length === 0) return entry;
    const isNamed = leftOutTest(list, base);
    const files = list.filter((path) => !isFolder(path));
    const paths = new Set([...files, ...(files.length < list.length ? tree.keys() : [])]);
    const sent = new Set([...paths].filter((path) => isNamed(path) && isSent(path)));
    if (sent.size === 0) return entry;
    const known = new Set(entry.bases?.map(({ path }) => path));
    const added = [...sent].filter((path) => !known.has(path));
    const leftOut = entry.left_out?.filter((path) => !sent.has(path)) ?? [];
    return {
      session: entry.session,
      turn: entry.turn,
      ...(leftOut.length > 0 && { left_out: leftOut }),
      bases: [...(entry.bases ?? []), ...added.map((path) => ({ path, sha256: baseHash(path) }))],
    };
  });
};

/** A new version. `base`: the files of its base. `leftOut`: the files that the base left out. */
export type InheritingVersion = { tree: Tree; base: Tree; leftOut: LeftOutFiles };

/**
 * The entries of `own` that may replace those of `inherited` if the request was made on an older
 * version: its sender did not know of the later turns that `inherited` names.
 */
export function laterTurns(inherited: Includes, own: Includes): Includes {
  const turns = new Map(inherited.map(({ session, turn }) => [session, turn]));
  return own.filter(({ session, turn }) => turn >= (turns.get(session) ?? 0));
}

const bytesOf = (value: object): number =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength;

/**
 * The files that a version leaves out: those of its base and of the request, as far as the version
 * lacks them. The older contents count. A list above the limits names folders instead of files. A
 * folder of the base ends if the version has a file below it and the request does not name it
 * again. Throws `UploadRefusal` if the list is still too large.
 */
export function combineLeftOut(
  inherited: LeftOutFiles,
  own: LeftOutFiles,
  tree: Pick<Tree, "has" | "keys">,
): LeftOutFiles {
  if (!fitsLeftOut(own)) throw leftOutTooLarge();
  if (inherited.length + own.length === 0) return [];
  const again = new Set(own.map(({ path }) => path));
  const hashes = new Map([...own, ...inherited].map(({ path, sha256 }) => [path, sha256]));
  const foldersWithFiles = new Set([...tree.keys()].flatMap(ancestorsOf));
  const lacks = (path: string) =>
    isFolder(path) ? again.has(path) || !foldersWithFiles.has(path.slice(0, -1)) : !tree.has(path);
  const paths = [...hashes.keys()].filter(lacks);
  const folders = paths.filter(isFolder);
  const isCovered = leftOutTest(folders, tree);
  const files = paths.filter((path) => isFolder(path) || !isCovered(path));
  const entriesOf = (list: readonly string[]): LeftOutFiles =>
    list.map((path) => ({ path, sha256: hashes.get(path) ?? null }));
  const fits = (list: readonly string[]) => fitsLeftOut(entriesOf(list));
  const folded = entriesOf(foldedList(files, { sent: tree.keys(), fits }));
  if (!fitsLeftOut(folded)) throw leftOutTooLarge();
  return folded;
}

const fitsLeftOut = (files: LeftOutFiles): boolean =>
  files.length <= RECORD_LIMITS.paths && bytesOf(files) <= RECORD_LIMITS.leftOutBytes;

const leftOutTooLarge = (): UploadRefusal =>
  new UploadRefusal(
    "record_too_large",
    `The left-out files of the version (\`left_out\`) are larger than ${RECORD_LIMITS.leftOutBytes / 1024} KiB, or more than ${RECORD_LIMITS.paths}. Name their folders instead, such as \`dist/\`.`,
  );

/** A later version of the service may have stored further fields, which are ignored. */
const EntriesSchema = z.array(IncludedTurnSchema.strip());
const RecordSchema = z.union([
  EntriesSchema.transform((includes) => ({ includes, left_out: [] })),
  z.object({ includes: EntriesSchema, left_out: z.array(RecordBaseSchema.strip()) }),
]);

function parseRecord(text: string | null): { includes: Includes; left_out: LeftOutFiles } {
  if (text === null) return { includes: [], left_out: [] };
  try {
    return RecordSchema.parse(JSON.parse(text));
  } catch {
    return { includes: [], left_out: [] };
  }
}

/** The entries of a stored record. Text that is no record counts as an empty record. */
export const decodeRecord = (text: string | null): Includes => parseRecord(text).includes;

/** The left-out files of a stored record. */
export const decodeLeftOut = (text: string | null): LeftOutFiles => parseRecord(text).left_out;

/** The text in which a record is stored; `null` if it is empty. */
export function encodeRecord(record: Includes, leftOut: LeftOutFiles = []): string | null {
  if (leftOut.length > 0) return JSON.stringify({ includes: record, left_out: leftOut });
  return record.length === 0 ? null : JSON.stringify(record);
}

/** Whether two entries are equal; `null` is a missing entry. */
export const sameRecordEntry = (a: IncludedTurn | null, b: IncludedTurn | null): boolean =>
  JSON.stringify(a && toRow(a)) === JSON.stringify(b && toRow(b));

/** Whether two entries name the same turn, with any lists; `null` is a missing entry. */
export const sameRecordedTurn = (a: IncludedTurn | null, b: IncludedTurn | null): boolean =>
  (a?.turn ?? null) === (b?.turn ?? null);

/**
 * Bases of single paths if `entry` names the same turn as the entry `before` of an older version,
 * whose files are the base of all other paths. A path that `before` left out or gave an older base,
 * and `entry` does not, now has the state of the turn in the folder. `stateHash`: the hash of a
 * file in this state; `null` if it has no such file.
 */
export function basesAfter(
  before: IncludedTurn,
  entry: IncludedTurn,
  stateHash: (path: string) => string | null,
): ReadonlyMap<string, string | null> {
  const leftOut = new Set(entry.left_out);
  const older = new Map(entry.bases?.map(({ path, sha256 }) => [path, sha256]));
  const bases = new Map<string, string | null>();
  for (const path of before.left_out ?? []) {
    const base = older.get(path);
    if (!leftOut.has(path)) bases.set(path, base === undefined ? stateHash(path) : base);
  }
  for (const { path } of before.bases ?? [])
    if (!leftOut.has(path) && !older.has(path)) bases.set(path, stateHash(path));
  return bases;
}

const toRow = ({ session, turn, left_out = [], bases = [] }: IncludedTurn) => [
  session,
  turn,
  [...left_out].sort(),
  bases.map(({ path, sha256 }) => [path, sha256]).sort(),
];
