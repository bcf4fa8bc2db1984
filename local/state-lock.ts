import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

const OwnerSchema = z.object({ pid: z.int(), runtime: z.int().nullable(), dir: z.string() });
type Owner = z.infer<typeof OwnerSchema>;

/** Where the running service of a folder of storage writes its process ids. */
const FILE = "massgen-edge-service.json";

/** How the name of a service's own folder begins. */
export const RUN_DIR_PREFIX = "massgen-edge-";

/**
 * One service for each folder of storage: two runtimes on the same files would each believe that
 * they alone own every session. Nothing else prevents that, since services on two ports do not meet.
 */
export class StateLock {
  readonly #file: string;
  readonly #dir: string;

  private constructor(file: string, dir: string) {
    this.#file = file;
    this.#dir = dir;
  }

  /**
   * Takes the lock. `dir`: the new service's own folder, which its runtime's command line names.
   * Ends a runtime whose service was killed. Throws if a service already runs on this storage.
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

  /** Records the runtime's process id, so that the next service can end it if this one is killed. */
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
    return null; // there is none, or it was cut while it was written
  }
}

/** Whether this very process still runs; its number alone may be another program's by now. */
const isOwner = ({ pid, dir }: Owner): boolean =>
  existsSync(dir) && /\b(start|demo)\.(ts|mjs)\b/.test(commandOf(pid));

/** What a service leaves that was killed: its runtime, which would go on, and its folder. */
function removeRemains({ runtime, dir }: Owner): void {
  if (runtime !== null && commandOf(runtime).includes(dir)) endProcess(runtime);
  if (path.basename(dir).startsWith(RUN_DIR_PREFIX)) rmSync(dir, { recursive: true, force: true });
}

/** A running process's command line; empty if there is no such process. */
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
    // it has just ended
  }
}
