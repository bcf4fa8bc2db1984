import { tmpdir } from "node:os";
import { MemoryProbe } from "../clients/memory";
import { freePort } from "../../../simulated/service/loopback";
import { FaultyService } from "../faulty-service";
import { checkStorage } from "./storage-check";
import { LedgerLog } from "./ledger-log";
import { SessionPool } from "./session-pool";
import {
  INTERRUPTED,
  type RestSample,
  type Sample,
  type SoakFailure,
  type SoakFigures,
} from "./figures";
import { ResourceSampler, refuseFullDisk } from "./resource-sampler";
import type { SoakRow } from "./soak-rows";
import { rest, FaultInjector } from "./fault-injector";

type SoakOptions = {
  seed: number;
  minutes: number;
  /** Number of concurrent sessions. */
  sessions: number;
  /** Time between two faults, in ms. Omitted: ten seconds. */
  faultEveryMs?: number;
  /** Its abort ends the soak early. The soak then returns the figures so far. */
  interrupted?: AbortSignal;
  /** Called before the first sessions start. */
  onStarted?: () => void;
  onSample?: (sample: Sample) => void;
  /** Called for each sample at rest. */
  onRest?: (sample: RestSample) => void;
  /** Called with everything that was measured, for each sample of both kinds. */
  onRow?: (row: SoakRow) => void;
  onFailure?: (failure: SoakFailure) => void;
};

const FAULT_EVERY_MS = 10_000;
/** Growth shows in many samples, so a soak of minutes takes them more often. */
const SAMPLE_EVERY_MS = { long: 60_000, short: 15_000 } as const;
const SHORT_MINUTES = 5;
/**
 * About so many times, a soak pauses all sessions to sample the heap at rest. The limits below keep
 * most of the time for sessions.
 */
const REST_COUNT = 10;
const REST_EVERY_MS = { least: 240_000, most: 1_800_000 } as const;
/**
 * Wait before a sample at rest. A tenant's settlement is retried after one, two, four and eight
 * seconds, and the runtime evicts an idle object after ten seconds.
 */
const AT_REST_WITHIN_MS = 40_000;
/**
 * Number of failures that ends the soak. Each failure keeps its evidence, so more failures could
 * fill the disk overnight.
 */
const MOST_FAILURES = 20;
/**
 * The soak does not start, or ends, with less free space: the evidence of the last failures must
 * fit. The sessions of a night need more space than this.
 */
const MIN_FREE_BYTES = 1_000_000_000;

/**
 * Runs sessions on one service without a restart, with a fault every ten seconds. Judges each
 * finished run and keeps only its data for the check of the ledger. When the time is up, no further
 * session or fault starts, the active sessions end, and everything on disk is checked. Throws if
 * the service cannot be started, and `UsageError` if the disk is nearly full.
 */
export async function playSoak(options: SoakOptions): Promise<SoakFigures> {
  await refuseFullDisk(tmpdir(), MIN_FREE_BYTES);
  const ledger = await LedgerLog.open();
  try {
    const inspectorPort = await freePort();
    const service = await FaultyService.prepare({}, { inspectorPort });
    try {
      await service.start();
      const probe = () => MemoryProbe.connect(inspectorPort, service.pid ?? 0);
      const figures = await new Soak({ options, service, ledger, probe }).play();
      const failures = await checkStorage({
        service,
        ledger,
        seed: options.seed,
        command: commandOf(options),
      });
      for (const failure of failures) options.onFailure?.(failure);
      return { ...figures, failures: [...figures.failures, ...failures] };
    } finally {
      await service.stop().catch((error: unknown) => {
        // Reported, not thrown: the figures of hours must not be lost because a folder remains.
        options.onFailure?.({
          name: "cleanup",
          problems: [String(error)],
          folder: "no folder",
          command: commandOf(options),
        });
      });
    }
  } finally {
    await ledger.close();
  }
}

/** The command that repeats the soak. Its course also depends on the speed of the machine. */
export const commandOf = ({
  seed,
  minutes,
  sessions,
}: Pick<SoakOptions, "seed" | "minutes" | "sessions">): string =>
  `npm run faults -- --soak ${Math.max(1, Math.ceil(minutes))} --sessions ${sessions} --seed ${seed}`;

/** `probe`: opens a new probe, also after an earlier probe has stopped answering. */
type Parts = {
  options: SoakOptions;
  service: FaultyService;
  ledger: LedgerLog;
  probe: () => Promise<MemoryProbe>;
};

class Soak {
  readonly #parts: Parts;
  readonly #pool: SessionPool;
  readonly #injector: FaultInjector;
  readonly #sampler: ResourceSampler;
  readonly #end = new AbortController();
  readonly #failures: SoakFailure[] = [];
  readonly #atRest: RestSample[] = [];
  #endedEarly: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { options, service, ledger, probe } = parts;
    const { seed, sessions, faultEveryMs: everyMs = FAULT_EVERY_MS } = options;
    this.#injector = new FaultInjector({
      service,
      seed,
      everyMs,
      targets: () => this.#pool.targets,
      isResting: () => this.#pool.isResting,
    });
    this.#pool = new SessionPool({
      ...{ service, ledger, seed, sessions },
      command: commandOf(options),
      recentFaults: () => this.#injector.recentFaults,
      quietSince: () => this.#injector.quietSince,
      onFailure: (failure) => this.#recordFailure(failure),
    });
    this.#sampler = new ResourceSampler({
      ...{
        connect: probe,
        url: service.url,
        pid: service.pid ?? 0,
        storage: service.storage,
        onSample: options.onSample,
        onRow: options.onRow,
      },
      everyMs: options.minutes < SHORT_MINUTES ? SAMPLE_EVERY_MS.short : SAMPLE_EVERY_MS.long,
      ended: () => this.#pool.ended,
      minFreeBytes: MIN_FREE_BYTES,
      onFull: () => this.#endEarly("less than 1 GB is left on the disk"),
    });
  }

  async play(): Promise<SoakFigures> {
    const { seed, sessions, minutes: wantedMinutes, interrupted, onStarted } = this.#parts.options;
    interrupted?.addEventListener("abort", () => this.#endEarly(INTERRUPTED), { once: true });
    if (interrupted?.aborted) this.#endEarly(INTERRUPTED);
    await this.#sampleAtRest(performance.now());
    onStarted?.();
    const startedAt = performance.now();
    const timeIsUp = rest(wantedMinutes * 60_000, this.#end.signal).then(() => this.#end.abort());
    const all = [
      this.#endOnFailure("the sessions", this.#pool.playUntil(this.#end.signal)),
      this.#endOnFailure("the faults", this.#injector.injectUntil(this.#end.signal)),
      this.#endOnFailure("the samples", this.#sampler.sampleUntil(this.#end.signal, startedAt)),
      this.#endOnFailure("the samples at rest", this.#sampleAtRestUntilOver(startedAt)),
    ];
    await timeIsUp;
    const minutes = (performance.now() - startedAt) / 60_000;
    await Promise.all(all);
    // Also after an early end: otherwise messages of the last sessions would count as undelivered.
    await rest(AT_REST_WITHIN_MS, new AbortController().signal);
    await this.#sampleAtRest(startedAt);
    this.#sampler.close();
    const atRest = [...this.#atRest];
    await this.#pool.checkOutput();
    const [runs, faultCounts, samples] = [
      this.#pool.runs,
      this.#injector.faultCounts,
      this.#sampler.samples,
    ];
    const failures = [...this.#failures];
    return {
      seed,
      sessions,
      minutes,
      runs,
      faultCounts,
      failures,
      samples,
      atRest,
      endedEarly: this.#endedEarly,
    };
  }

  /**
   * Pauses the sessions for each sample, because garbage of active sessions would hide the growth.
   */
  async #sampleAtRestUntilOver(startedAt: number): Promise<void> {
    const { least, most } = REST_EVERY_MS;
    const everyMs = Math.min(
      most,
      Math.max(least, (this.#parts.options.minutes * 60_000) / REST_COUNT),
    );
    for (;;) {
      await rest(everyMs, this.#end.signal);
      if (this.#end.signal.aborted) return;
      await this.#pool.rest(async () => {
        await rest(AT_REST_WITHIN_MS, this.#end.signal);
        if (!this.#end.signal.aborted) await this.#sampleAtRest(startedAt);
      });
    }
  }

  async #sampleAtRest(startedAt: number): Promise<void> {
    const sample = await this.#sampler.sampleAtRest(startedAt);
    if (sample === null) return;
    this.#atRest.push(sample);
    this.#parts.options.onRest?.(sample);
  }

  /** Ends the soak if this work fails, because the service is then gone or rejects orders. */
  async #endOnFailure(name: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      await this.#pool.fail({ name, problems: [String(error)] });
      this.#endEarly(`${name} failed`);
    }
  }

  #recordFailure(failure: SoakFailure): void {
    this.#failures.push(failure);
    this.#parts.options.onFailure?.(failure);
    if (this.#failures.length >= MOST_FAILURES) this.#endEarly(`${MOST_FAILURES} failures`);
  }

  #endEarly(why: string): void {
    if (this.#end.signal.aborted) return;
    this.#endedEarly = why;
    this.#end.abort();
  }
}
