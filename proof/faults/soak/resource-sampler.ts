import { spawn } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../local/command-line";
import { type HeapFigures, liveBytes, type MemoryProbe } from "../clients/memory";
import type { RestSample, Sample } from "./figures";
import { rest } from "./fault-injector";
import { processFigures } from "./process-figures";
import type { SoakRow } from "./soak-rows";

type Probe = Pick<MemoryProbe, "heap" | "close">;

type Options = {
  /** Opens a probe of the heap; rejects while the inspector does not answer. */
  connect: () => Promise<Probe>;
  /** Address, process id and storage folder of the service. */
  url: string;
  pid: number;
  storage: string;
  everyMs: number;
  /** Returns the number of sessions that have ended. */
  ended: () => number;
  onSample?: ((sample: Sample) => void) | undefined;
  /** Called with everything that was measured, for each sample. */
  onRow?: ((row: SoakRow) => void) | undefined;
  /** With less free space on the disk, `onFull` is called. */
  minFreeBytes: number;
  onFull: () => void;
};

const SAMPLES_AT_REST = 8;
const PAUSE_BETWEEN_SAMPLES_MS = 500;

/** Samples the memory and the disk use of a service. */
export class ResourceSampler {
  readonly samples: Sample[] = [];
  readonly #options: Options;
  #probe: Probe | null = null;
  #lastMeasurement: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Takes samples until `end` is aborted. If the inspector does not answer, the sample has no heap.
   * Throws only if the service's process is gone. `startedAt`: start of the soak,
   * `performance.now()`.
   */
  async sampleUntil(end: AbortSignal, startedAt: number): Promise<void> {
    const { everyMs, storage, minFreeBytes, onSample, onFull } = this.#options;
    try {
      for (let nth = 1; !end.aborted; nth += 1) {
        const sample = await this.#takeSample(startedAt);
        this.samples.push(sample);
        onSample?.(sample);
        if ((await freeBytes(storage)) < minFreeBytes) onFull();
        await rest(startedAt + nth * everyMs - performance.now(), end);
      }
    } catch (error) {
      // The end of the soak may be the cause of the error, and no figure needs this last sample.
      if (!end.aborted) throw error;
    }
  }

  /** Call after the last sample. */
  close(): void {
    this.#probe?.close();
  }

  /**
   * Memory of an idle service. `live` is the smallest of several measurements. Before each of them,
   * a request makes the runtime work, because only then it frees references to evicted objects.
   * Returns `null` if the process is gone; other parts of the soak report that.
   */
  async sampleAtRest(startedAt: number): Promise<RestSample | null> {
    const minutes = (performance.now() - startedAt) / 60_000;
    let least: HeapFigures | null = null;
    try {
      for (let nth = 0; nth < SAMPLES_AT_REST; nth += 1) {
        await (await fetch(`${this.#options.url}/api/sessions?limit=1`)).text();
        await sleep(PAUSE_BETWEEN_SAMPLES_MS);
        const heap = await this.#heap();
        if (heap !== null && (least === null || liveBytes(heap) < liveBytes(least))) least = heap;
      }
      const row = await this.#row({ minutes, isAtRest: true, heap: least });
      return { minutes, live: toLive(least), resident: row.process.resident };
    } catch {
      return null;
    }
  }

  async #takeSample(startedAt: number): Promise<Sample> {
    const minutes = (performance.now() - startedAt) / 60_000;
    const heap = await this.#heap();
    const { disk, ended, own, process } = await this.#row({ minutes, isAtRest: false, heap });
    return { minutes, live: toLive(heap), resident: process.resident, own, disk, ended };
  }

  async #row(measured: Pick<SoakRow, "minutes" | "isAtRest" | "heap">): Promise<SoakRow> {
    const { storage, pid, ended: countEnded, onRow } = this.#options;
    // Read together, because the figures divide `disk` by `ended`.
    const [disk, ended] = [await bytesOnDisk(storage), countEnded()];
    const [own, figures] = [process.memoryUsage().rss, await processFigures(pid)];
    const row = { ...measured, disk, ended, own, process: figures };
    onRow?.(row);
    return row;
  }

  /**
   * Makes one measurement at a time, through one connection. With two connections, the inspector
   * stops answering on both.
   */
  #heap(): Promise<HeapFigures | null> {
    const measurement = this.#lastMeasurement.then(() => this.#measureHeap());
    this.#lastMeasurement = measurement.catch(() => undefined);
    return measurement;
  }

  async #measureHeap(): Promise<HeapFigures | null> {
    this.#probe ??= await this.#options.connect().catch(() => null);
    const heap = (await this.#probe?.heap().catch(() => null)) ?? null;
    if (heap !== null) return heap;
    this.#probe?.close();
    this.#probe = null; // A new connection may get answers.
    return null;
  }
}

const toLive = (heap: HeapFigures | null): number | null =>
  heap === null ? null : liveBytes(heap);

/**
 * Bytes of the files below a folder. Files may be deleted meanwhile; `du` then reports an error and
 * counts the other files. `du` runs in its own process group, because Ctrl-C reaches all processes
 * of this command's group.
 */
async function bytesOnDisk(folder: string): Promise<number> {
  const du = spawn("du", ["-sk", folder], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const [output] = await Promise.all([text(du.stdout), once(du, "close")]);
  const [, kilobytes] = /^(\d+)\s/.exec(output) ?? [];
  if (kilobytes === undefined) throw new Error(`du reported no size of ${folder}.`);
  return Number(kilobytes) * 1_024;
}

/** Free bytes on the disk of this folder. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/**
 * Throws `UsageError` if the disk of this folder has less free space, because the soak would end at
 * once.
 */
export async function refuseFullDisk(folder: string, leastBytes: number): Promise<void> {
  const free = await freeBytes(folder);
  if (free >= leastBytes) return;
  const gigabytes = (bytes: number) => `${(bytes / 1_000_000_000).toFixed(1)} GB`;
  throw new UsageError(
    `A soak needs at least ${gigabytes(leastBytes)} of free disk space; the disk of ${folder} has ${gigabytes(free)}. Free some space, or set TMPDIR to a folder on another disk.`,
  );
}
