import { spawn } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../local/command-line";
import { type MemoryProbe, residentOf } from "../clients/memory";
import type { RestSample, Sample } from "./figures";
import { rest } from "./fault-injector";

type Probe = Pick<MemoryProbe, "live" | "close">;

type Options = {
  /** Opens a probe of the heap; rejects while the inspector does not answer. */
  connect: () => Promise<Probe>;
  /** Address, process id and storage folder of the service. */
  url: string;
  pid: number;
  storage: string;
  everyMs: number;
  /** Number of sessions that have ended. */
  ended: () => number;
  onSample?: ((sample: Sample) => void) | undefined;
  /** `onFull` is called if the disk has less space left. */
  leastDiskBytes: number;
  onFull: () => void;
};

const SAMPLES_AT_REST = 8;
const BETWEEN_SAMPLES_MS = 500;

/** Samples the memory and the disk use of a service. */
export class ResourceSampler {
  readonly samples: Sample[] = [];
  readonly #options: Options;
  #probe: Probe | null = null;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Samples until `over`. If the inspector does not answer, the heap is missing in the sample.
   * Throws only if the service's process is gone. `startedAt`: `performance.now()` of the
   * beginning.
   */
  async sampleUntil(over: AbortSignal, startedAt: number): Promise<void> {
    const { everyMs, storage, leastDiskBytes, onSample, onFull } = this.#options;
    try {
      for (let nth = 1; !over.aborted; nth += 1) {
        const sample = await this.#look(startedAt);
        this.samples.push(sample);
        onSample?.(sample);
        if ((await bytesLeft(storage)) < leastDiskBytes) onFull();
        await rest(startedAt + nth * everyMs - performance.now(), over);
      }
    } catch (error) {
      // The event that ended the soak may also have broken this sample, which no figure needs.
      if (!over.aborted) throw error;
    }
  }

  /** Call after the last sample. */
  close(): void {
    this.#probe?.close();
  }

  /**
   * Live memory of an idle service: the least of several measurements. A request comes before each,
   * because the runtime frees references to evicted objects only while it works. `null` if the
   * process is gone, which other parts report.
   */
  async sampleAtRest(startedAt: number): Promise<RestSample | null> {
    const minutes = (performance.now() - startedAt) / 60_000;
    const seen: number[] = [];
    try {
      for (let nth = 0; nth < SAMPLES_AT_REST; nth += 1) {
        await (await fetch(`${this.#options.url}/api/sessions?limit=1`)).text();
        await sleep(BETWEEN_SAMPLES_MS);
        const live = await this.#live();
        if (live !== null) seen.push(live);
      }
      return {
        minutes,
        live: seen.length === 0 ? null : Math.min(...seen),
        resident: residentOf(this.#options.pid),
      };
    } catch {
      return null;
    }
  }

  async #look(startedAt: number): Promise<Sample> {
    const { storage, pid, ended: endedSoFar } = this.#options;
    // Read together because one is divided by the other; measuring the heap may take a while.
    const [disk, ended] = [await bytesOnDisk(storage), endedSoFar()];
    const minutes = (performance.now() - startedAt) / 60_000;
    const live = await this.#live();
    return {
      minutes,
      live,
      resident: residentOf(pid),
      own: process.memoryUsage().rss,
      disk,
      ended,
    };
  }

  /**
   * One at a time, through one connection: the inspector stops answering on both if there are two.
   */
  #live(): Promise<number | null> {
    const look = this.#looking.then(() => this.#measureHeap());
    this.#looking = look.catch(() => undefined);
    return look;
  }

  async #measureHeap(): Promise<number | null> {
    this.#probe ??= await this.#options.connect().catch(() => null);
    const live = (await this.#probe?.live().catch(() => null)) ?? null;
    if (live !== null) return live;
    this.#probe?.close();
    this.#probe = null; // A new connection may get answers.
    return null;
  }
}

/**
 * Bytes of the files below a folder. Files may vanish meanwhile: `du` complains and counts the
 * others. It runs in its own process group, because Ctrl-C reaches the whole group of the command.
 */
async function bytesOnDisk(folder: string): Promise<number> {
  const du = spawn("du", ["-sk", folder], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const [output] = await Promise.all([text(du.stdout), once(du, "close")]);
  const [, kilobytes] = /^(\d+)\s/.exec(output) ?? [];
  if (kilobytes === undefined) throw new Error(`du reported no size of ${folder}.`);
  return Number(kilobytes) * 1_024;
}

/** Free bytes on the disk of this folder. */
async function bytesLeft(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Throws `UsageError` if the disk of this folder has less space left: the soak would end at once.
 */
export async function refuseFullDisk(folder: string, leastBytes: number): Promise<void> {
  const left = await bytesLeft(folder);
  if (left >= leastBytes) return;
  const gigabytes = (bytes: number) => `${(bytes / 1_000_000_000).toFixed(1)} GB`;
  throw new UsageError(
    `A soak needs at least ${gigabytes(leastBytes)} of free disk space; the disk of ${folder} has ${gigabytes(left)}. Free some space, or set TMPDIR to a folder on another disk.`,
  );
}
