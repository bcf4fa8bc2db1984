import {
  contextNameFrom,
  type ContextUpload,
  type IncludedTurn,
} from "../../src/protocol/api/contexts";
import { ancestorsOf } from "../../src/workspace/paths";
import type { Connection } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT } from "../exit-codes";
import type { Io } from "../io";
import { canRedraw } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { uploadContext } from "./context-client";
import { ContextFiles } from "./contents";
import { refusalOf } from "./directory";
import { printExclusions } from "./exclusions";
import { type Note, readNote, writeNote } from "./note";
import { PathFilter } from "./path-filter";
import {
  fittingEntries,
  leftOutPaths,
  type LeftOutBySession,
  noteAfterPush,
  type PushedHashes,
  sentEntry,
} from "./record";
import { type Scan, scan } from "./scan";

export type PushOptions = {
  name?: string;
  include?: readonly string[];
  force?: true;
  dryRun?: true;
  /** Whether a folder without files may be pushed. */
  allowEmpty?: boolean;
  /** Base of a folder without a note. `null`: the context must be new. Omitted: not checked. */
  base?: null;
};
type World = Pick<Io, "stdout" | "stderr" | "env">;

/**
 * Uploads a directory as the newest version of a context. Returns `null` for a dry run. Throws
 * CliError.
 */
export async function push(
  directory: string,
  options: PushOptions,
  connection: Connection,
  world: World,
): Promise<ContextUpload | null> {
  const linked = await readNote(directory);
  // a note of another context has no base version for this push
  const note =
    linked?.server === connection.server && (options.name ?? linked.name) === linked.name
      ? linked
      : null;
  const name = options.name ?? linked?.name ?? nameOf(directory);
  const scanned = await scan(directory, options.include ?? []);
  printExclusions(scanned.exclusions, world);
  if (scanned.exclusions.some(({ reason }) => reason === "may hold secrets"))
    world.stderr.write("To send such files, add --include <pattern>.\n");
  if (options.dryRun) {
    for (const { path: file } of scanned.files) world.stdout.write(`${toLine(file)}\n`);
    world.stderr.write(`${summaryOf(scanned)} would go to ${name}.\n`);
    return null;
  }
  if (scanned.files.length === 0 && !options.allowEmpty)
    throw new CliError(EXIT.config, `${directory} has no files to push.`);
  const record = await recordOf({ directory, note, name, scanned, options }, connection);
  for (const session of record.unsent) world.stderr.write(`${unsentWarning(session)}\n`);
  const base = options.force ? undefined : (note?.version ?? options.base);
  const line = progressLine(world);
  const input = {
    files: scanned.files,
    base,
    includes: record.includes,
    onProgress: line.show,
  };
  const upload = await uploadContext(name, input, connection).finally(line.clear);
  const link = { server: connection.server, name };
  await writeNote(directory, noteAfterPush(note, { link, upload, leftOut: record.leftOut }));
  return upload;
}

type RecordInput = {
  directory: string;
  note: Note | null;
  name: string;
  scanned: Scan;
  options: PushOptions;
};

/** Turns whose states are read at the same time. */
const STATES_AT_ONCE = 4;

/**
 * The record that a push sends: for each pulled turn, the files of its state that this push leaves
 * out. `unsent`: sessions whose entries are too large.
 */
async function recordOf(
  { directory, note, name, scanned, options }: RecordInput,
  connection: Connection,
): Promise<{ includes: IncludedTurn[]; leftOut: LeftOutBySession; unsent: string[] }> {
  const entries = note?.includes ?? [];
  const reads = new ContextFiles(name, connection);
  const pushed: PushedHashes = new Map(scanned.files.map(({ path, hash }) => [path, hash]));
  const leftOut = new Map<string, string[]>();
  const filter = new PathFilter(directory, options.include ?? []);
  for (let start = 0; start < entries.length; start += STATES_AT_ONCE) {
    const batch = entries.slice(start, start + STATES_AT_ONCE);
    const states = await Promise.all(batch.map((entry) => reads.stateIfKept(entry)));
    for (const [index, entry] of batch.entries()) {
      const state = states[index] ? [...states[index].files.keys()] : null;
      const missing = (state ?? []).filter((path) => !pushed.has(path));
      const excluded = await excludedOf(missing, scanned, filter);
      leftOut.set(entry.session, leftOutPaths(entry, { state, pushed, excluded }));
    }
  }
  const sent = entries.flatMap(
    (entry) => sentEntry(entry, leftOut.get(entry.session) ?? [], pushed) ?? [],
  );
  const includes = fittingEntries(sent);
  const sessions = new Set(includes.map(({ session }) => session));
  const unsent = entries.map(({ session }) => session).filter((session) => !sessions.has(session));
  return { includes, leftOut, unsent };
}

const unsentWarning = (session: string): string =>
  `warning: too many left-out files of ${session} to note them with the push; files that you changed after its last pull may be conflicts of its next turn`;

/** The paths that this push excludes, by the rules or by the contents of the files. */
async function excludedOf(
  paths: readonly string[],
  { exclusions }: Scan,
  filter: PathFilter,
): Promise<ReadonlySet<string>> {
  const found = new Set(exclusions.map(({ path }) => path.normalize("NFC")));
  const excluded = new Set<string>();
  for (const path of paths) {
    const isFound = [path, ...ancestorsOf(path).map((folder) => `${folder}/`)].some((name) =>
      found.has(name),
    );
    const isExcluded =
      isFound || (refusalOf(path) === null && (await filter.exclusionOf(path)) !== null);
    if (isExcluded) excluded.add(path);
  }
  return excluded;
}

/** Shows the progress of an upload on one line. Prints nothing without a terminal. */
function progressLine({ stderr, env }: World): {
  show(progress: { sent: number; total: number }): void;
  clear(): void;
} {
  const isShown = canRedraw(stderr, env);
  return {
    show({ sent, total }) {
      if (isShown) stderr.write(`\r\u001b[K${toMegabytes(sent)} of ${toMegabytes(total)} sent`);
    },
    clear() {
      if (isShown) stderr.write("\r\u001b[K");
    },
  };
}

const toMegabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;

const summaryOf = ({ files }: Scan): string =>
  `${plural(files.length, "file")}, ${toMegabytes(files.reduce((sum, { size }) => sum + size, 0))},`;

/** A context name made from the directory's name. Throws CliError if that is impossible. */
function nameOf(directory: string): string {
  const name = contextNameFrom(directory);
  if (name !== null) return name;
  throw new CliError(
    EXIT.config,
    "The folder's name is not a valid context name. Set one with --name, such as --name website.",
  );
}
