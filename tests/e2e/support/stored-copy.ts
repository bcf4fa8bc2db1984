import { cp, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { sha256 } from "../../../local/sha256";

/**
 * All stored data of a service (sessions, tenants, alarms, R2, D1), copied while the service is
 * stopped, like an operator's backup of a local service.
 */
export class StoredCopy {
  readonly #dir: string;

  private constructor(dir: string) {
    this.#dir = dir;
  }

  /** Copies the data at `storage`. The service must be stopped: SQLite's files belong together. */
  static async take(storage: string): Promise<StoredCopy> {
    const dir = await mkdtemp(path.join(tmpdir(), "massgen-copy-"));
    await cp(storage, dir, { recursive: true });
    return new StoredCopy(dir);
  }

  /** Replaces the data at `storage` by the copy. */
  async putBack(storage: string): Promise<void> {
    await wipe(storage);
    await cp(this.#dir, storage, { recursive: true });
  }

  /** SHA-256 of each file by its path. */
  hashes = (): Promise<Record<string, string>> => hashesIn(this.#dir);

  discard = (): Promise<void> => rm(this.#dir, { recursive: true, force: true });
}

/**
 * Removes every file below `dir`, also SQLite's journals. The directories stay, because a runtime
 * gets them at its start.
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
