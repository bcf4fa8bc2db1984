import { readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** Name of failures that concern everything on disk. */
export const DISK = "files on disk";

/** Prefix of every agent's key. No other text contains it. */
export const CANARY = "canary-key-";

/**
 * Prefix of session ids, which every kind of database holds. If none is found, the search would not
 * find keys either.
 */
const SESSION = "session_";
const WITH_SESSIONS = ["d1", "do"] as const;

/**
 * I17: no key is in anything that a stopped service wrote, databases with their logs and R2,
 * because keys are sealed before they are stored. Returns problems in sentences.
 */
export async function keysOnDisk(storage: string): Promise<string[]> {
  const entries = await readdir(storage, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name));
  const problems: string[] = [];
  const known = new Set<string>();
  for (const file of files) {
    const bytes = await readFile(file); // One at a time: a campaign leaves hundreds of files.
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
