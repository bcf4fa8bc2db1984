import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Name of the failures of all files that a service wrote. */
export const DISK = "files on disk";

/** Every agent's key begins with this prefix, and no other text contains it. */
export const CANARY = "canary-key-";

/**
 * Prefix of session ids. Every kind of database contains session ids, so a search that finds no
 * session id would not find a key either.
 */
const SESSION_PREFIX = "session_";
const FOLDERS_WITH_SESSIONS = ["d1", "do"] as const;

/**
 * I17: no file that a stopped service wrote contains a key, because the service encrypts keys
 * before it stores them. Reads the databases with their write-ahead logs, and R2. Returns problems
 * in sentences.
 */
export async function keysOnDisk(storage: string): Promise<string[]> {
  const entries = await readdir(storage, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const problems: string[] = [];
  const foldersWithSession = new Set<string>();
  for (const file of files) {
    const bytes = await readFile(file); // One at a time: a campaign leaves hundreds of files.
    const name = path.relative(storage, file);
    if (bytes.includes(CANARY)) problems.push(`I17: an agents' key is in ${name}`);
    if (bytes.includes(SESSION_PREFIX)) foldersWithSession.add(name.split(path.sep)[0] ?? name);
  }
  const unreadable = FOLDERS_WITH_SESSIONS.filter((folder) => !foldersWithSession.has(folder));
  return [
    ...problems,
    ...unreadable.map(
      (folder) => `I17: nothing under ${folder} names a session, so no key could be found there`,
    ),
  ];
}
