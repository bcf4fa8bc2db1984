import { spawn } from "node:child_process";
import { once } from "node:events";
import { statfs } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "../../../local/command-line";
import { type MemoryProbe, residentOf } from "../clients/memory";
import type { RestSample, Sample } from "./figures";
import { rest } from "./striker";

type Probe = Pick<MemoryProbe, "live" | "close">;

type Options = {
  /** Gives what the heap is seen through; rejects while the inspector is deaf. */
  connect: () => Promise<Probe>;
  /** Of the service: its address, its process, and where all lies that it writes. */
  url: string;
  pid: number;
  storage: string;
  everyMs: number;
  /** How many sessions have ended. */
  ended: () => number;
  onSample?: ((sample: Sample) => void) | undefined;
  /** Told when less than this is left of the disk. */
  leastDiskBytes: number;
  onFull: () => void;
};

const LOOKS_AT_REST = 8;
const BETWEEN_LOOKS_MS = 500;

/** Looks again and again at how much memory and disk a service takes. */
export class Looks {
  readonly samples: Sample[] = [];
  readonly #options: Options;
  #probe: Probe | null = null;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Looks until `over`. An inspector that is deaf is one whose heap was not seen; throws only if the service's process is gone.
   * `startedAt`: `performance.now()` of the beginning.
   */
  async lookUntil(over: AbortSignal, startedAt: number): Promise<void> {
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
      if (!over.aborted) throw error; // what ended the soak may have ended the look, of which nothing depends any more
    }
  }

  /** No look is taken after this. */
  close(): void {
    this.#probe?.close();
  }

  /**
   * What is alive in a service that has nothing to do: the least of some looks. Between two of them the service is asked something, for
   * only while it works does it let go of what the runtime held for sessions that are gone. Null: its process is gone, of which those
   * who need it tell.
   */
  async lookAtRest(startedAt: number): Promise<RestSample | null> {
    const minutes = (performance.now() - startedAt) / 60_000;
    const seen: number[] = [];
    try {
      for (let nth = 0; nth < LOOKS_AT_REST; nth += 1) {
        await (await fetch(`${this.#options.url}/api/sessions?limit=1`)).text();
        await sleep(BETWEEN_LOOKS_MS);
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
    // Together, for one is divided by the other: to see the heap may take a while.
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

  /** One after the other, through one connection: with a second one the inspector falls silent on both. */
  #live(): Promise<number | null> {
    const look = this.#looking.then(() => this.#lookAtHeap());
    this.#looking = look.catch(() => undefined);
    return look;
  }

  async #lookAtHeap(): Promise<number | null> {
    this.#probe ??= await this.#options.connect().catch(() => null);
    const live = (await this.#probe?.live().catch(() => null)) ?? null;
    if (live !== null) return live;
    this.#probe?.close();
    this.#probe = null; // a new connection may be heard
    return null;
  }
}

/**
 * What the files below take of the disk. Some go while they are counted, of which `du` complains, and counts the others. It is in a process
 * group of its own: Ctrl-C in a terminal goes to the whole group of the command.
 */
async function bytesOnDisk(folder: string): Promise<number> {
  const du = spawn("du", ["-sk", folder], { detached: true, stdio: ["ignore", "pipe", "ignore"] });
  const [said] = await Promise.all([text(du.stdout), once(du, "close")]);
  const [, kilobytes] = /^(\d+)\s/.exec(said) ?? [];
  if (kilobytes === undefined) throw new Error(`du could not tell how much lies in ${folder}.`);
  return Number(kilobytes) * 1_024;
}

/** Bytes that are left on the disk on which this lies. */
async function bytesLeft(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Throws `UsageError` if less than so many bytes are left where this lies: it would end as soon as it began. */
export async function refuseFullDisk(folder: string, leastBytes: number): Promise<void> {
  const left = await bytesLeft(folder);
  if (left >= leastBytes) return;
  const gigabytes = (bytes: number) => `${(bytes / 1_000_000_000).toFixed(1)} GB`;
  throw new UsageError(
    `A soak needs ${gigabytes(leastBytes)} of disk at least, and ${gigabytes(left)} are left where ${folder} lies. Make room, or name a folder on another disk with TMPDIR.`,
  );
}
