import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";

/**
 * The service that uses a storage folder: its process id, the process id of its runtime (`null`
 * while no runtime runs), and the service's own folder.
 */
const OwnerSchema = z.object({ pid: z.int(), runtime: z.int().nullable(), dir: z.string() });
type Owner = z.infer<typeof OwnerSchema>;

/** The file in the storage folder with the owner of the lock. */
const LOCK_FILE = "massgen-edge-service.json";

/** Prefix of the name of a service's own folder. */
export const RUN_DIR_PREFIX = "massgen-edge-";

/**
 * Allows one service per storage folder. Two runtimes on the same files would each assume that they
 * own every session. Nothing else prevents two services, because their ports may differ.
 */
export class StateLock {
  readonly #file: string;
  readonly #dir: string;

  private constructor(file: string, dir: string) {
    this.#file = file;
    this.#dir = dir;
  }

  /**
   * Takes the lock. `dir` is the new service's own folder; the command line of its runtime contains
   * `dir`. Ends the runtime of a killed service. Throws if a service is running on this storage.
   */
  static take(persistTo: string, dir: string): StateLock {
    mkdirSync(persistTo, { recursive: true });
    const lock = new StateLock(path.join(persistTo, LOCK_FILE), dir);
    const owner = readOwner(lock.#file);
    if (owner !== null && isOwner(owner)) {
      throw new Error(
        `A service already runs on the storage ${persistTo} (process ${owner.pid}). Use it, stop it, or start this one with --persist-to FOLDER.`,
      );
    }
    if (owner !== null) removeRemains(owner);
    lock.recordRuntime(null);
    return lock;
  }

  /**
   * Records the runtime's process id, so that the next service can end it if this one is killed.
   */
  recordRuntime(runtime: number | null): void {
    writeFileSync(
      this.#file,
      JSON.stringify({ pid: process.pid, runtime, dir: this.#dir } satisfies Owner),
    );
  }

  release(): void {
    if (readOwner(this.#file)?.dir === this.#dir) rmSync(this.#file, { force: true });
  }
}

function readOwner(file: string): Owner | null {
  try {
    return OwnerSchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch {
    return null; // the file is missing, or its service was killed while it was written
  }
}

/** Whether the service still runs. Its process id alone may belong to another process by now. */
const isOwner = ({ pid, dir }: Owner): boolean =>
  existsSync(dir) && /\b(start|demo)\.(ts|mjs)\b/.test(commandOf(pid));

/** Removes the remains of a killed service: its runtime, which would continue, and its folder. */
function removeRemains({ runtime, dir }: Owner): void {
  if (runtime !== null && commandOf(runtime).includes(dir)) endProcess(runtime);
  if (path.basename(dir).startsWith(RUN_DIR_PREFIX)) rmSync(dir, { recursive: true, force: true });
}

/** The command line of a running process; "" if there is no such process. */
function commandOf(pid: number): string {
  try {
    return execFileSync("ps", ["-o", "args=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  } catch {
    return "";
  }
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // the process has just exited
  }
}
