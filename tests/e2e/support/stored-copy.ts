import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256 } from "../../../local/sha256";

/**
 * A copy of all stored data of a local service: sessions, tenants, alarms, R2 and D1. It is made as
 * an operator makes a backup.
 */
export class StoredCopy {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Copies the data in `storage`. The service must be stopped, so that SQLite's files match. */
  static async take(storage: string): Promise<StoredCopy> {
    const dir = await mkdtemp(path.join(tmpdir(), "massgen-copy-"));
    await cp(storage, dir, { recursive: true });
    return new StoredCopy(dir);
  }

  /** Replaces the data in `storage` by the copy. */
  async putBack(storage: string): Promise<void> {
    await wipe(storage);
    await cp(this.#dir, storage, { recursive: true });
  }

  /** SHA-256 of each file by its path. */
  hashes = (): Promise<Record<string, string>> => hashesIn(this.#dir);

  discard = (): Promise<void> => rm(this.#dir, { recursive: true, force: true });
}

/**
 * Deletes every file below `dir`, also SQLite's journals. The directories stay, because the runtime
 * needs them at its start.
 */
export async function wipe(dir: string): Promise<void> {
  for (const file of await filesIn(dir)) await rm(path.join(dir, file));
}

/** SHA-256 of each file below `dir` by its path. */
export async function hashesIn(dir: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for (const file of await filesIn(dir))
    hashes[file] = sha256(await readFile(path.join(dir, file)));
  return hashes;
}

async function filesIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(dir, path.join(entry.parentPath, entry.name)));
}
