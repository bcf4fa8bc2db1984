import type { FaultyService } from "../faulty-service";
import { type FailedCase, keepCase } from "../runs/evidence";
import type { RunServers } from "../runs/kinds";
import { CANARY } from "../runs/left-on-disk";
import {
  type Host,
  DEFAULT_LIMITS as AFTER_THE_LAST_FAULT,
  RunGroup,
  type TimeLimits,
} from "../runs/run-group";
import { startRunServers } from "../runs/run-servers";
import { toFinishedRuns } from "../runs/tenant-ledger";
import { KEYLESS } from "../runs/tool-records";
import type { LedgerLog } from "./ledger-log";
import { sessionDraw } from "./draw";
import type { SoakFailure } from "./figures";
import type { Target } from "./fault-injector";

type Options = {
  service: Pick<FaultyService, "url" | "tools" | "killedAt" | "output" | "clearOutput">;
  ledger: Pick<LedgerLog, "add">;
  seed: number;
  sessions: number;
  /** Repeats the soak. */
  command: string;
  /** The latest faults. */
  recentFaults: () => readonly object[];
  /** Since when no fault is active, `performance.now()`; `null` if one may be. */
  quietSince: () => number | null;
  onFailure: (failure: SoakFailure) => void;
  /**
   * Starts the servers of one session. Omitted: simulated providers and tool servers on loopback.
   */
  startServers?: () => Promise<RunServers>;
};

/**
 * Limits while faults are active. Calls are delayed again and again on a busy machine, but a run
 * must produce an event in time. A call may wait a minute for its rate limit.
 */
const UNDER_FIRE: TimeLimits = { inAllMs: 1_800_000, quietMs: 150_000 };
/**
 * After the last fault the limits of the other campaigns apply (I13). There a few runs take two
 * seconds; here all sessions share the machine, so each adds to the total.
 */
const MORE_FOR_EACH_MS = 5_000;
const OUTPUT_CHECK_MS = 1_000;
/** Name of a failure that concerns no single session. */
const PRINTED = "service output";

/** `output`: what the service printed. Omitted: the current output buffer. */
type FailureReport = Pick<FailedCase, "name" | "problems"> &
  Partial<Pick<FailedCase, "runs">> & { output?: string };

/**
 * Keeps a number of sessions active: starts a new one when one ends. Of finished sessions only a
 * count remains.
 */
export class SessionPool {
  readonly #options: Options;
  readonly #host: Host;
  readonly #targets = new Set<Target>();
  readonly #runs = new Map<string, number>();
  readonly #playing = new Set<Promise<void>>();
  #mayBegin: Promise<void> = Promise.resolve();
  #isResting = false;
  #begun = 0;
  #failed = 0;

  constructor(options: Options) {
    this.#options = options;
    const { url, tools, killedAt } = options.service;
    // The output belongs to all sessions together, and `checkOutput` reads it.
    this.#host = { url, tools, killedAt, output: "", clearOutput: () => undefined };
  }

  get targets(): readonly Target[] {
    return [...this.#targets];
  }

  /** Sessions that ended, by kind. */
  get runs(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#runs);
  }

  get ended(): number {
    return [...this.#runs.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Starts sessions until `over`, then waits for the end of all active ones. */
  async playUntil(over: AbortSignal): Promise<void> {
    const outputTimer = setInterval(() => void this.checkOutput(), OUTPUT_CHECK_MS);
    const lane = async () => {
      for (;;) {
        await this.#mayBegin;
        if (over.aborted) return;
        const one = this.#playNext();
        this.#playing.add(one);
        await one.finally(() => this.#playing.delete(one));
      }
    };
    try {
      const lanes = await Promise.allSettled(Array.from({ length: this.#options.sessions }, lane));
      for (const one of lanes) if (one.status === "rejected") throw one.reason;
    } finally {
      clearInterval(outputTimer);
    }
  }

  /** Whether no session may start now. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Waits for the end of all active sessions, runs the callback, and then allows new sessions. */
  async rest(whileIdle: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#mayBegin = promise;
    this.#isResting = true;
    try {
      await Promise.allSettled(this.#playing);
      await whileIdle();
    } finally {
      this.#isResting = false;
      resolve();
    }
  }

  /** I17: the output since the last check contains no key. */
  async checkOutput(): Promise<void> {
    const { service } = this.#options;
    const { output } = service;
    if (!output.includes(CANARY)) return;
    service.clearOutput(); // Otherwise each check would report it again.
    await this.fail({
      name: PRINTED,
      problems: ["I17: the service printed an agents' key"],
      output,
    });
  }

  /**
   * Records a failure, of a session or of none. It is reported even if its evidence cannot be kept.
   */
  async fail({
    name,
    problems: found,
    runs = [],
    output = this.#options.service.output,
  }: FailureReport): Promise<void> {
    const { seed, command, recentFaults, onFailure } = this.#options;
    const problems = [...found];
    this.#failed += 1;
    const failed = {
      name: `soak-${seed}-${this.#failed}-${name}`,
      command,
      problems,
      runs,
      story: { recentFaults: recentFaults() },
    };
    const folder = await keepCase(failed, { output }).catch(notKept);
    onFailure({ name, problems, command, folder });
  }

  /** A session that cannot be played is a failure; the others continue. */
  async #playNext(): Promise<void> {
    const nth = this.#begun;
    this.#begun += 1;
    const drawn = sessionDraw(this.#options.seed, nth);
    const name = `session ${nth} (${drawn.kind})`;
    await this.#play(name, drawn).catch((error: unknown) =>
      this.fail({ name, problems: [String(error)] }),
    );
  }

  async #play(name: string, { kind, seed }: ReturnType<typeof sessionDraw>): Promise<void> {
    const { service, ledger, startServers = startRunServers } = this.#options;
    // Record requests of this session alone and are closed with it.
    const providers = await startServers();
    const group = new RunGroup([kind], {
      service: this.#host,
      providers,
      seed,
      timeLimits: () => this.#timeLimits(),
    });
    const targets = group.runs.map((run) => ({ run, providers }));
    for (const target of targets) this.#targets.add(target);
    try {
      const problems = await group.verdict();
      if (problems.length > 0) await this.#report(name, group);
      await ledger.add(toFinishedRuns(group));
      this.#runs.set(kind, (this.#runs.get(kind) ?? 0) + 1);
    } finally {
      for (const target of targets) {
        this.#targets.delete(target);
        if (target.run.session !== "") service.tools.forget(`${target.run.session}_`);
      }
      await providers.close();
    }
  }

  /**
   * Reports the problems of a session, then ends its runs so that nothing of them is taken for
   * another session's.
   */
  async #report(name: string, { runs, problems, unfinished }: RunGroup): Promise<void> {
    await this.fail({ name, problems, runs });
    if (problems.some((problem) => problem.includes(KEYLESS)))
      this.#options.service.tools.forgetKeyless();
    for (const run of unfinished)
      await run
        .erase()
        .catch((error: unknown) =>
          this.fail({ name: `the end of ${name}`, problems: [String(error)] }),
        );
  }

  #timeLimits(): TimeLimits {
    const since = this.#options.quietSince();
    if (since === null) return UNDER_FIRE;
    const { inAllMs, quietMs } = AFTER_THE_LAST_FAULT;
    return { inAllMs: inAllMs + this.#options.sessions * MORE_FOR_EACH_MS, quietMs, since };
  }
}

/** Reported instead of a folder if the evidence could not be kept. */
export const notKept = (error: unknown): string => `no folder: ${String(error)}`;
