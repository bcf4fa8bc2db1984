import { contextNameFrom, type ContextUpload } from "../../src/protocol/api/contexts";
import type { Connection } from "../credentials/connection";
import { plural } from "../../src/describe/figures";
import { CliError, EXIT } from "../exit-codes";
import { commandAt, shellArgument } from "../invocation";
import type { Io } from "../io";
import { canRedraw } from "../terminal/output";
import { toLine } from "../terminal/sanitize";
import { readContextIfAny } from "./context-client";
import { uploadOrRecreate } from "./erased-context";
import { firstNamesOf, printExclusions } from "./exclusions";
import { type DonePart, forgetPull, settlePull } from "./interrupted-pull";
import { type Link, type Note, noteOf, readNotes, writeNote } from "./note";
import { forgetFirstPush, ownNote, withPending, writeFirstPush } from "./pending-push";
import { recordOf } from "./push-record";
import { noteAfterPush } from "./record";
import { type Scan, scan } from "./scan";

export type PushOptions = {
  name?: string;
  include?: readonly string[];
  force?: true;
  dryRun?: true;
  /** Whether a folder without files may be pushed. */
  allowEmpty?: boolean;
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
  const interrupted = options.dryRun ? null : await settlePull(directory);
  const notes = await readNotes(directory);
  const name = options.name ?? notes.linked?.name ?? nameOf(directory);
  const link = { server: connection.server, name };
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
  if (!options.force) requireWholePull(directory, interrupted, connection);
  const own = await ownNote({ directory, notes }, link, connection);
  const newest = options.force ? await readContextIfAny(name, connection) : null;
  const replaced = newest?.version === own?.version ? null : newest;
  const record = await recordOf(
    { directory, note: own, replaced, name, scanned, include: options.include ?? [] },
    connection,
  );
  if (!options.force) requireMerged(record.unmerged);
  const { note } = record;
  for (const session of record.unsent) world.stderr.write(`${unsentWarning(session)}\n`);
  // Without a note, the folder and an existing context have nothing in common. A forced push sends
  // no base, because its files do not contain the turns that the replaced version contains.
  const base = replaced ? undefined : (note?.version ?? null);
  const line = progressLine(world);
  const input = {
    files: record.files,
    base,
    includes: record.includes,
    leftOut: record.leftOutFiles,
    onProgress: line.show,
  };
  if (note) await writeNote(directory, withPending(note, record), { links: false });
  else await writeFirstPush(directory, link, record.files);
  const context = { ...connection, push: { directory, name, isLinked: note !== null } };
  const upload = await uploadOrRecreate(name, input, context, world).finally(line.clear);
  // another command may have changed the note meanwhile
  const before = noteOf(await readNotes(directory), link) ?? note;
  const { leftOut } = record;
  await writeNote(directory, noteAfterPush(before, { link, upload, leftOut, sent: note }));
  if (noteOf(notes, link) === null) await forgetFirstPush(directory);
  if (interrupted) await forgetPull(directory);
  printLinkChange(notes.linked, link, world);
  return upload;
}

/** Throws CliError if a pull was interrupted: its files would count as changed by the user. */
function requireWholePull(
  directory: string,
  interrupted: DonePart | null,
  connection: Connection,
): void {
  if (interrupted === null) return;
  // a file of the folder has the words, and the folder may be of another person
  const words = [directory, ...interrupted.words, "--apply"].map((word) =>
    shellArgument(toLine(word)),
  );
  throw new CliError(
    EXIT.config,
    `Nothing was sent: the last pull of this folder was interrupted. Complete it first: ${commandAt(connection, "pull", ...words)}`,
  );
}

/** Throws CliError if the push would replace files that a pull skipped. */
function requireMerged(unmerged: readonly string[]): void {
  if (unmerged.length === 0) return;
  throw new CliError(
    EXIT.config,
    `Nothing was sent. A pull skipped these files of the newest version, and you have not changed them since: ${firstNamesOf(unmerged)}\nMerge them, then push again. To replace them by yours, push with --force.`,
  );
}

function printLinkChange(linked: Note | null, link: Link, { stderr }: World): void {
  if (linked === null || (linked.server === link.server && linked.name === link.name)) return;
  const [before, now] = [linked, link].map(({ server, name }) => `${name} of ${server}`);
  stderr.write(`This folder was linked to ${before}. It is now linked to ${now}.\n`);
}

const unsentWarning = (session: string): string =>
  `warning: the push does not record the last pull of ${session}, because the record of pulled turns is too large. The next turn of this session may report conflicts; --conflicts then names the side that wins.`;

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
