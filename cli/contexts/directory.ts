import { lstat, readdir } from "node:fs/promises";
import path from "node:path";
import { z } from "zod";
import { ContextNameSchema, VersionIdSchema } from "../../src/protocol/api/contexts";
import { CONTEXT_LIMITS } from "../../src/protocol/context-limits";
import { CliError, EXIT } from "../exit-codes";
import { toLine } from "../terminal/sanitize";
import { parseJson } from "../service/schema";
import { readTextFile } from "../local-files";
import { hashOf, isAcceptedPath, readPlainFile } from "./scan";
import type { LocalEntry, BlockingEntries } from "./three-way";
import { writeWhole } from "./write-files";

/**
 * The context version of the directory's last push or pull. `without`: files of that version that
 * the pull excluded.
 */
const LinkSchema = z.object({
  server: z.string(),
  name: ContextNameSchema,
  version: VersionIdSchema,
  without: z.array(z.string()).optional(),
});
export type Link = z.infer<typeof LinkSchema>;

const linkFile = (directory: string): string =>
  path.join(directory, ".massgen-edge", "context.json");

/** `null` if the directory was never pushed or pulled. Throws CliError. */
export async function readLink(directory: string): Promise<Link | null> {
  const file = linkFile(directory);
  const text = await readTextFile(file, { what: "note of the last push" });
  if (text === null) return null;
  const parsed = LinkSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new CliError(
    EXIT.config,
    `${file} is not a file that \`push\` writes. Remove it, and name the context with --name.`,
  );
}

export const writeLink = (directory: string, link: Link): Promise<void> =>
  writeWhole(linkFile(directory), Buffer.from(`${JSON.stringify(link, null, 2)}\n`), false);

/** The directory of an argument. Throws CliError if it is not a directory. */
export async function toDirectory(cwd: string, text: string | undefined): Promise<string> {
  const directory = path.resolve(cwd, text ?? ".");
  const found = await lstat(directory).catch(() => null);
  if (found?.isDirectory()) return directory;
  throw new CliError(EXIT.config, `${toLine(text ?? directory)} is not a folder.`);
}

const DEVICE = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/**
 * Why a path from the server must not be written on this machine; `null` if it may be written.
 * Paths from a server are untrusted.
 */
export function refusalOf(text: string): string | null {
  const parts = text.split("/");
  if (
    /[\p{Cc}\\]/u.test(text) ||
    parts.some((part) => part === "" || part === "." || part === "..")
  )
    return "leads outside the folder";
  if (parts.some((part) => /^[a-z]:/i.test(part) || DEVICE.test(part)))
    return "names a device or a drive";
  if (parts.some((part) => /^(\.git|git~\d+|\.massgen-edge)[. ]*$/i.test(part)))
    return "could run programs on this machine";
  return isAcceptedPath(text) ? null : "is an invalid name on other systems";
}

/** The local entry at a path. Follows no link, neither at the path nor in its parents. */
export async function inspect(directory: string, text: string): Promise<LocalEntry> {
  const refusal = refusalOf(text);
  if (refusal !== null) return { blocked: refusal };
  const parts = text.split("/");
  for (let depth = 1; depth < parts.length; depth += 1) {
    const above = parts.slice(0, depth).join("/");
    const found = await lstat(path.join(directory, above)).catch(() => null);
    if (found === null) return null;
    if (found.isFile())
      return { blocked: `${above} is a file here`, by: { files: [above], folders: [] } };
    if (!found.isDirectory())
      return { blocked: `${above} is ${found.isSymbolicLink() ? "a link" : "no folder"} here` };
  }
  const file = path.join(directory, text);
  const found = await lstat(file).catch(() => null);
  if (found === null) return null;
  if (found.isDirectory())
    return { blocked: "is a folder here", by: await contentsOf(directory, text) };
  if (!found.isFile())
    return { blocked: found.isSymbolicLink() ? "is a link here" : "is not a regular file here" };
  const read = await readPlainFile(file);
  if (!read?.bytes) return { blocked: "is larger than a file of a context may be" };
  return { hash: hashOf(read.bytes), executable: read.executable };
}

/**
 * The contents of a folder. An unreadable folder, or one larger than a context, is listed as a
 * file, so that no plan deletes it.
 */
async function contentsOf(directory: string, folder: string): Promise<BlockingEntries> {
  const [files, folders]: [string[], string[]] = [[], []];
  const isTooMuch = (): boolean => files.length + folders.length > 2 * CONTEXT_LIMITS.files;
  const walk = async (at: string): Promise<void> => {
    const entries = isTooMuch()
      ? null
      : await readdir(path.join(directory, at), { withFileTypes: true }).catch(() => null);
    if (entries === null) files.push(at);
    for (const entry of entries ?? []) {
      if (entry.isDirectory()) await walk(`${at}/${entry.name}`);
      else files.push(`${at}/${entry.name}`);
    }
    folders.push(at);
  };
  await walk(folder);
  return { files, folders };
}

/** Whether two paths that differ only in case are the same file on this machine's disk. */
export async function isSameFile(directory: string, one: string, other: string): Promise<boolean> {
  const [ones, others] = [one.split("/"), other.split("/")];
  for (let depth = 1; depth <= ones.length; depth += 1) {
    const [here, there] = await Promise.all([
      identityOf(directory, ones, depth),
      identityOf(directory, others, depth),
    ]);
    if (here === null || here !== there) return false;
  }
  return true;
}

/** The identity of a file or folder on this machine; `null` if it does not exist. */
async function identityOf(
  directory: string,
  parts: readonly string[],
  depth: number,
): Promise<string | null> {
  const found = await lstat(path.join(directory, ...parts.slice(0, depth)), { bigint: true }).catch(
    () => null,
  );
  return found && `${found.dev}:${found.ino}`;
}
