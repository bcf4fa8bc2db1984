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
import { rest, FaultInjector } from "./fault-injector";

type SoakOptions = {
  seed: number;
  minutes: number;
  /** Number of concurrent sessions. */
  sessions: number;
  /** Between two faults, in ms. Omitted: ten seconds. */
  faultEveryMs?: number;
  /** Ends the soak early, with the figures so far. */
  interrupted?: AbortSignal;
  /** Called before the first sessions start. */
  onStarted?: () => void;
  onSample?: (sample: Sample) => void;
  /** Called for each sample at rest. */
  onRest?: (sample: RestSample) => void;
  onFailure?: (failure: SoakFailure) => void;
};

const FAULT_EVERY_MS = 10_000;
/** Growth shows in many samples, so a soak of minutes takes them more often. */
const LOOK_EVERY_MS = { long: 60_000, short: 15_000 } as const;
const SHORT_MINUTES = 5;
/**
 * How often a soak pauses all sessions to sample the heap at rest. Bounded, so that most of the
 * time goes to sessions.
 */
const RESTS = 10;
const REST_EVERY_MS = { least: 240_000, most: 1_800_000 } as const;
/**
 * A tenant's settlement is retried after one, two, four and eight seconds, and the runtime evicts
 * an idle object after ten.
 */
const AT_REST_WITHIN_MS = 40_000;
/**
 * Each failure keeps its evidence, which could fill the disk overnight. So many are enough to
 * investigate.
 */
const MOST_FAILURES = 20;
/**
 * The sessions of a night take more. With less, even the evidence of the last failures does not
 * fit.
 */
const LEAST_DISK_BYTES = 1_000_000_000;

/**
 * Runs sessions on one service without a restart, while a fault strikes every ten seconds. Each
 * finished run is judged; only its ledger entries are kept. Then no session starts, the active ones
 * end without further faults, and everything on disk is checked. Throws if the service cannot be
 * started, and `UsageError` if the disk is nearly full.
 */
export async function soak(options: SoakOptions): Promise<SoakFigures> {
  await refuseFullDisk(tmpdir(), LEAST_DISK_BYTES);
  const ledger = await LedgerLog.open();
  try {
    const inspectorPort = await freePort();
    const service = await FaultyService.prepare({}, { inspectorPort });
    try {
      await service.start();
      const probe = () => MemoryProbe.connect(inspectorPort, service.pid ?? 0);
      const played = await new Soak({ options, service, ledger, probe }).play();
      const failures = await checkStorage({
        service,
        ledger,
        seed: options.seed,
        command: commandOf(options),
      });
      for (const failure of failures) options.onFailure?.(failure);
      return { ...played, failures: [...played.failures, ...failures] };
    } finally {
      await service.stop().catch((error: unknown) => {
        // Reported as a failure: the figures of hours are worth more than a folder that remains.
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

/** The command that repeats the soak, as far as the machine keeps its speed. */
export const commandOf = ({
  seed,
  minutes,
  sessions,
}: Pick<SoakOptions, "seed" | "minutes" | "sessions">): string =>
  `npm run faults -- --soak ${Math.max(1, Math.ceil(minutes))} --sessions ${sessions} --seed ${seed}`;

/** `probe` opens a new probe after one stops answering. */
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
  readonly #over = new AbortController();
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
      onFailure: (failure) => this.#fail(failure),
    });
    this.#sampler = new ResourceSampler({
      ...{
        connect: probe,
        url: service.url,
        pid: service.pid ?? 0,
        storage: service.storage,
        onSample: options.onSample,
      },
      everyMs: options.minutes < SHORT_MINUTES ? LOOK_EVERY_MS.short : LOOK_EVERY_MS.long,
      ended: () => this.#pool.ended,
      leastDiskBytes: LEAST_DISK_BYTES,
      onFull: () => this.#endEarly("less than 1 GB is left on the disk"),
    });
  }

  async play(): Promise<SoakFigures> {
    const { seed, sessions, minutes: wanted, interrupted, onStarted } = this.#parts.options;
    interrupted?.addEventListener("abort", () => this.#endEarly(INTERRUPTED), { once: true });
    if (interrupted?.aborted) this.#endEarly(INTERRUPTED);
    await this.#sampleAtRest(performance.now());
    onStarted?.();
    const startedAt = performance.now();
    const clock = rest(wanted * 60_000, this.#over.signal).then(() => this.#over.abort());
    const all = [
      this.#watched("the sessions", this.#pool.playUntil(this.#over.signal)),
      this.#watched("the faults", this.#injector.injectUntil(this.#over.signal)),
      this.#watched("the samples", this.#sampler.sampleUntil(this.#over.signal, startedAt)),
      this.#watched("the samples at rest", this.#restUntilOver(startedAt)),
    ];
    await clock;
    const minutes = (performance.now() - startedAt) / 60_000;
    await Promise.all(all);
    // However the soak ended: messages still due for the last sessions would count as undelivered.
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

  /** With active sessions, garbage that the runtime still holds hides the growth. */
  async #restUntilOver(startedAt: number): Promise<void> {
    const { least, most } = REST_EVERY_MS;
    const everyMs = Math.min(most, Math.max(least, (this.#parts.options.minutes * 60_000) / RESTS));
    for (;;) {
      await rest(everyMs, this.#over.signal);
      if (this.#over.signal.aborted) return;
      await this.#pool.rest(async () => {
        await rest(AT_REST_WITHIN_MS, this.#over.signal);
        if (!this.#over.signal.aborted) await this.#sampleAtRest(startedAt);
      });
    }
  }

  async #sampleAtRest(startedAt: number): Promise<void> {
    const seen = await this.#sampler.sampleAtRest(startedAt);
    if (seen === null) return;
    this.#atRest.push(seen);
    this.#parts.options.onRest?.(seen);
  }

  /** A part that fails ends the soak: the service is gone or rejects orders. */
  async #watched(name: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      await this.#pool.fail({ name, problems: [String(error)] });
      this.#endEarly(`${name} failed`);
    }
  }

  #fail(failure: SoakFailure): void {
    this.#failures.push(failure);
    this.#parts.options.onFailure?.(failure);
    if (this.#failures.length >= MOST_FAILURES) this.#endEarly(`${MOST_FAILURES} failures`);
  }

  #endEarly(why: string): void {
    if (this.#over.signal.aborted) return;
    this.#endedEarly = why;
    this.#over.abort();
  }
}
