import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import {
  CONTEXT_NAME,
  contextNameFrom,
  type GrantedContexts,
} from "../../src/protocol/api/contexts";
import { plural } from "../../src/describe/figures";
import { readContextIfAny } from "../contexts/context-client";
import { toDirectory } from "../contexts/directory";
import { type Note, readNotes } from "../contexts/note";
import { push } from "../contexts/push";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { commandAt, shellArgument } from "../invocation";
import type { Io } from "../io";
import { allowedFoldersFile } from "../local-files";
import { toLine } from "../terminal/sanitize";
import { type Confirm, confirmAtTerminal } from "./consent";
import { allow, isAllowed } from "./consent-store";
import { type HostPath, hostPathsIn, withContextNames } from "./host-paths";
import type { TeamChoice } from "./team-choice";

/** Folders of this machine that a question gives to a team: `--with`, and paths in a config. */

export type Permission = "read" | "write";
/** A `--with` argument. `permission`: `null` if it is not stated. */
export type WithFolder = { typed: string; permission: Permission | null };

/** Parses `./site`, `./site:read` or `./site:write`. */
export function toWithFolder(text: string): WithFolder {
  const [, typed = text, permission] = /^(.+):(read|write)$/s.exec(text) ?? [];
  return { typed, permission: permission === "read" || permission === "write" ? permission : null };
}

/** A pushed folder and its context. */
export type SharedFolder = { typed: string; name: string; permission: Permission };
/** The team with the names of contexts instead of paths, the pushed folders, and the grants. */
export type Sharing = { team: TeamChoice; folders: SharedFolder[]; contexts: GrantedContexts };

type SharingIo = Pick<Io, "cwd" | "home" | "stdin" | "stdout" | "stderr" | "screen" | "env"> & {
  confirm?: Confirm;
};

/**
 * `requested`: the folders of `--with`, which are pushed. `allowed`: folders of `--with` that the
 * session already has. They are not pushed again unless the config names them, and then without a
 * question.
 */
type SharingInput = {
  team: TeamChoice;
  requested: readonly WithFolder[];
  allowed?: readonly WithFolder[];
};

/**
 * Pushes the folders of `--with`, and the folders that the config names, once the user allows it.
 * Throws CliError, also if the user refuses, or if there is no terminal to ask at.
 */
export async function shareFolders(
  { team, requested, allowed = [] }: SharingInput,
  connection: Connection,
  io: SharingIo,
): Promise<Sharing> {
  const given = await Promise.all(
    requested.map(async (one) => ({ ...one, directory: await realDirectory(io.cwd, one.typed) })),
  );
  requireDistinct(given);
  // A folder that no longer exists is not pushed again.
  const before = allowed.map(({ typed }) => realDirectory(io.cwd, typed).catch(() => null));
  const known = new Set([
    ...given.map(({ directory }) => directory),
    ...(await Promise.all(before)),
  ]);
  const text = team.request.config_yaml ?? "";
  const named = await Promise.all(hostPathsIn(text).map((one) => resolveHostPath(one, team, io)));
  const unasked = named.filter(({ directory }) => !known.has(directory));
  await requireFolderConsent({ folders: unasked, text, team, connection }, io);
  const names = new Map<string, string>();
  const writable = new Set(
    [...given, ...named.map(({ directory, hostPath }) => ({ directory, ...hostPath }))]
      .filter(({ permission }) => permission === "write")
      .map(({ directory }) => directory),
  );
  const typedOf = new Map([
    ...named.map(({ directory, hostPath }) => [directory, hostPath.path] as const),
    ...given.map(({ directory, typed }) => [directory, typed] as const),
  ]);
  await requireDistinctContexts(typedOf, connection);
  for (const directory of typedOf.keys())
    names.set(directory, await pushFolder(directory, writable.has(directory), connection, io));
  const nameOf = (directory: string): string => names.get(directory) ?? "";
  const isNamed = (directory: string) => named.some((one) => one.directory === directory);
  const replaced = named.map(({ directory, hostPath }) => ({ hostPath, name: nameOf(directory) }));
  return {
    team: named.length === 0 ? team : withText(team, withContextNames(text, replaced)),
    folders: [...names].map(([directory, name]) => ({
      typed: typedOf.get(directory) ?? directory,
      name,
      permission: writable.has(directory) ? "write" : "read",
    })),
    // the config's own permission counts for its folders, unless the user states another
    contexts: given
      .filter(({ directory, permission }) => permission !== null || !isNamed(directory))
      .map(({ directory, permission }) => ({
        name: nameOf(directory),
        permission: permission ?? "read",
      })),
  };
}

/**
 * The folder with all links in its path resolved. The user sees and allows this path, because a
 * link in a cloned repository can lead to any folder of this machine.
 */
const realDirectory = async (cwd: string, typed: string): Promise<string> =>
  realpath(await toDirectory(cwd, typed));

/** Throws CliError if the user names a folder twice: the permissions could contradict. */
function requireDistinct(given: readonly (WithFolder & { directory: string })[]): void {
  const seen = new Set<string>();
  for (const { directory, typed } of given) {
    if (seen.has(directory))
      throw new CliError(
        EXIT.config,
        `--with names ${toLine(typed)} twice. Name each folder once, such as --with ${shellArgument(`${typed}:write`)}.`,
      );
    seen.add(directory);
  }
}

/**
 * The note of the folder's context at a service: of the linked context, or else of the context that
 * was pushed or pulled last there. `null` if there is none.
 */
async function noteAt(server: string, directory: string): Promise<Note | null> {
  const { linked, others } = await readNotes(directory);
  if (linked?.server === server) return linked;
  return others.findLast((note) => note.server === server) ?? null;
}

/** Throws CliError if two folders are linked to one context: one push would replace the other. */
async function requireDistinctContexts(
  typedOf: ReadonlyMap<string, string>,
  { server }: Connection,
): Promise<void> {
  const linked = new Map<string, string>();
  for (const [directory, typed] of typedOf) {
    const note = await noteAt(server, directory);
    if (note === null) continue;
    const other = linked.get(note.name);
    if (other !== undefined)
      throw new CliError(
        EXIT.config,
        `${toLine(other)} and ${toLine(typed)} are linked to the same context, ${note.name}. Share only one of them.`,
      );
    linked.set(note.name, typed);
  }
}

const withText = (team: TeamChoice, text: string): TeamChoice => ({
  ...team,
  request: { ...team.request, config_yaml: text },
});

type NamedFolder = { hostPath: HostPath; directory: string };

async function resolveHostPath(
  hostPath: HostPath,
  team: TeamChoice,
  { cwd, home }: Pick<Io, "cwd" | "home">,
): Promise<NamedFolder> {
  const expanded = hostPath.path.replace(/^~(?=$|[\\/])/, home);
  try {
    return { hostPath, directory: await realDirectory(cwd, expanded) };
  } catch (cause) {
    const message = `${team.description} names ${toLine(hostPath.path)} in context_paths, and there is no such folder here.`;
    throw new CliError(EXIT.config, message, { cause });
  }
}

type ConsentInput = {
  folders: readonly NamedFolder[];
  text: string;
  team: TeamChoice;
  connection: Connection;
};

/**
 * Returns if the user has allowed to send these folders for this config, or allows it now. A config
 * may come from another person, and could name any folder of this machine.
 */
async function requireFolderConsent(
  { folders, text, team, connection: { server } }: ConsentInput,
  io: SharingIo,
): Promise<void> {
  const file = allowedFoldersFile(io);
  const consentOf = ({ directory }: NamedFolder) => ({ subject: `${server} ${directory}`, text });
  const asked: NamedFolder[] = [];
  for (const folder of folders)
    if (!(await isAllowed(file, consentOf(folder), io))) asked.push(folder);
  if (asked.length === 0) return;
  const confirm = io.confirm ?? confirmAtTerminal(io);
  const options = asked.map(({ directory }) => `--with ${shellArgument(directory)}`).join(" ");
  const list = asked.map(({ directory }) => toLine(directory)).join(", ");
  if (confirm === null)
    throw new CliError(
      EXIT.config,
      `${team.description} names folders of this machine: ${list}. Without a terminal they are not sent. To send them, add ${options}`,
    );
  if (!(await confirm(questionAbout(asked, team, server))))
    throw new CliError(EXIT.config, "Nothing was sent, and the team was not asked.");
  for (const folder of asked) await allow(file, consentOf(folder), io);
}

const questionAbout = (
  asked: readonly NamedFolder[],
  { description }: TeamChoice,
  server: string,
): string =>
  [
    `${description} names folders of this machine:`,
    ...asked.map(({ directory, hostPath }) => `  ${toLine(directory)} (${hostPath.permission})`),
    `Send them to ${server}, without files that git ignores or that may hold secrets?`,
  ].join("\n");

/** Pushes a folder, and prints its context. Returns the name of the context. Throws CliError. */
async function pushFolder(
  directory: string,
  isWritable: boolean,
  connection: Connection,
  io: SharingIo,
): Promise<string> {
  const note = await noteAt(connection.server, directory);
  const place = note ? { name: note.name } : await newContext(directory, connection, io);
  const options = { ...place, allowEmpty: isWritable };
  const upload = await push(directory, options, connection, io);
  const name = upload?.name ?? place.name;
  io.stderr.write(
    `pushed  ${toLine(directory)} as ${name}: version ${upload?.version}, ${plural(upload?.files ?? 0, "file")}\n`,
  );
  return name;
}

/** Most characters of a context's name before the part that makes it unique. */
const MAX_NAME_STEM = 56;

/**
 * A new context for a folder that is not linked: it has the folder's name, unless a context of that
 * name exists. Then the name ends in six random letters. The folder's path would not do, because
 * folders on two computers can have the same path.
 */
async function newContext(
  directory: string,
  connection: Connection,
  { stderr }: Pick<Io, "stderr">,
): Promise<{ name: string }> {
  const stem = contextNameFrom(directory) ?? "project";
  if ((await readContextIfAny(stem, connection)) === null) return { name: stem };
  const unique = randomBytes(3).toString("hex");
  const name = `${stem.slice(0, MAX_NAME_STEM)}-${unique}`;
  stderr.write(
    `The context ${stem} exists and is not linked to this folder. The folder gets a new context.\n`,
  );
  return { name: CONTEXT_NAME.test(name) ? name : `project-${unique}` };
}

/** Stands in a printed command for a folder that only the user knows. */
export const UNKNOWN_FOLDER = "FOLDER";

/** Prints, for each folder that the team may change, the command that pulls the changes. */
export function printPullCommands(
  folders: readonly SharedFolder[],
  { sessionId, turn }: { sessionId: string; turn: number },
  connection: Connection,
  { stderr }: Pick<Io, "stderr">,
): void {
  for (const { typed, name, permission } of folders) {
    if (permission !== "write") continue;
    const place = typed === UNKNOWN_FOLDER ? [typed, "--name", name] : [shellArgument(typed)];
    const words = ["pull", ...place, "--session", sessionId, "--turn", String(turn)];
    stderr.write(`pull    ${commandAt(connection, ...words, "--apply")}\n`);
  }
}
