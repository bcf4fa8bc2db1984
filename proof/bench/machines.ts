import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { type Runtime, startRuntime } from "./runtime";

/** A file system in memory: measurements there exclude the time of the disk. */
const IN_MEMORY = "/dev/shm";

/**
 * The runtimes that measurements share. A runtime starts on its first use; `stop` ends them all.
 */
export class Machines {
  #disk: Promise<Runtime> | null = null;
  #memory: Promise<Runtime> | null = null;

  disk(): Promise<Runtime> {
    this.#disk ??= startRuntime(tmpdir());
    return this.#disk;
  }

  /** `null` if there is no file system in memory. */
  async memory(): Promise<Runtime | null> {
    if (!isWritable(IN_MEMORY)) return null;
    this.#memory ??= startRuntime(IN_MEMORY);
    return this.#memory;
  }

  /** Measures with storage on disk and, if possible, with storage in memory. */
  async onBoth<Result>(
    measure: (runtime: Runtime) => Promise<Result>,
  ): Promise<{ disk: Result; memory: Result | null }> {
    const disk = await measure(await this.disk());
    const memory = await this.memory();
    return { disk, memory: memory && (await measure(memory)) };
  }

  async stop(): Promise<void> {
    for (const runtime of [this.#disk, this.#memory]) await (await runtime)?.stop();
    this.#disk = null;
    this.#memory = null;
  }
}

function isWritable(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
