import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const OwnerSchema = z.object({ pid: z.int(), runtime: z.int().nullable(), dir: z.string() });
type Owner = z.infer<typeof OwnerSchema>;

/** File with the process ids of the running service, in its storage folder. */
const FILE = "massgen-edge-service.json";

/** Prefix of a service's own folder. */
export const RUN_DIR_PREFIX = "massgen-edge-";

/**
 * One service per storage folder: two runtimes on the same files would each assume that they own
 * every session. Nothing else prevents that, because services on two ports do not conflict.
 */
export class StateLock {
  readonly #file: string;
  readonly #dir: string;

  private constructor(file: string, dir: string) {
    this.#file = file;
    this.#dir = dir;
  }

  /**
   * Takes the lock. `dir` is the new service's own folder, which is in its runtime's command line.
   * Ends the runtime of a killed service. Throws if a service is running on this storage.
   */
  static take(persistTo: string, dir: string): StateLock {
    mkdirSync(persistTo, { recursive: true });
    const lock = new StateLock(path.join(persistTo, FILE), dir);
    const owner = readOwner(lock.#file);
    if (owner !== null && isOwner(owner)) {
      throw new Error(
        `A service already runs on the storage ${persistTo} (process ${owner.pid}). Use it, stop it, or start this one with --persist-to FOLDER.`,
      );
    }
    if (owner !== null) removeRemains(owner);
    lock.note(null);
    return lock;
  }

  /**
   * Records the runtime's process id, so that the next service can end it if this one is killed.
   */
  note(runtime: number | null): void {
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
    return null; // missing, or cut while it was written
  }
}

/** Whether the same process still runs; its pid may have been reused. */
const isOwner = ({ pid, dir }: Owner): boolean =>
  existsSync(dir) && /\b(start|demo)\.(ts|mjs)\b/.test(commandOf(pid));

/** Removes the remains of a killed service: its runtime, which would continue, and its folder. */
function removeRemains({ runtime, dir }: Owner): void {
  if (runtime !== null && commandOf(runtime).includes(dir)) endProcess(runtime);
  if (path.basename(dir).startsWith(RUN_DIR_PREFIX)) rmSync(dir, { recursive: true, force: true });
}

/** A running process's command line; "" if there is no such process. */
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
    // it has just exited
  }
}
