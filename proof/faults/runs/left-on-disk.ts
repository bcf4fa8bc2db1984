import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** What failures are called that are of all that was written together. */
export const DISK = "what lies on disk";

/** How the key of each run's agents begins. Nothing else has a text like it. */
export const CANARY = "canary-key-";

/** A session's id, which databases of every kind hold: where none is found, keys would not be found either. */
const SESSION = "session_";
const WITH_SESSIONS = ["d1", "do"] as const;

/**
 * I17, from everything that a service which lies still has written: databases with their logs, and what R2 holds. No key is in any
 * of it, for they are sealed before they are stored. Gives sentences; none means that nothing is wrong.
 */
export async function keysOnDisk(storage: string): Promise<string[]> {
  const entries = await readdir(storage, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const problems: string[] = [];
  const known = new Set<string>();
  for (const file of files) {
    const bytes = await readFile(file); // one at a time: a campaign leaves hundreds
    const name = path.relative(storage, file);
    if (bytes.includes(CANARY)) problems.push(`I17: an agents' key is in ${name}`);
    if (bytes.includes(SESSION)) known.add(name.split(path.sep)[0] ?? name);
  }
  const blind = WITH_SESSIONS.filter((folder) => !known.has(folder));
  return [
    ...problems,
    ...blind.map(
      (folder) => `I17: nothing under ${folder} names a session, so no key could be found there`,
    ),
  ];
}
