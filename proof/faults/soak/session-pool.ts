import type { FaultyService } from "../faulty-service";
import { type FailedCase, keepCase } from "../runs/evidence";
import type { RunServers } from "../runs/kinds";
import { CANARY } from "../runs/left-on-disk";
import {
  type Host,
  DEFAULT_LIMITS as LIMITS_AFTER_FAULTS,
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
  /** The command that repeats the soak. */
  command: string;
  /** The latest faults. */
  recentFaults: () => readonly object[];
  /** Since when no fault is active, `performance.now()`; `null` if a fault may be active. */
  quietSince: () => number | null;
  onFailure: (failure: SoakFailure) => void;
  /**
   * Starts the servers of one session. Omitted: simulated providers and tool servers on loopback.
   */
  startServers?: () => Promise<RunServers>;
};

/**
 * Limits while faults are active. On a busy machine, faults delay calls repeatedly, so a run may
 * take long. But it must produce an event in time: a call may wait a minute for its rate limit.
 */
const LIMITS_UNDER_FAULTS: TimeLimits = { totalMs: 1_800_000, quietMs: 150_000 };
/**
 * After the last fault, the limits of the other campaigns apply (I13), with more time for each
 * session. In other campaigns a few runs take two seconds. Here all sessions share the machine.
 */
const EXTRA_MS_PER_SESSION = 5_000;
const OUTPUT_CHECK_MS = 1_000;
/** Name of the failure for a key in the output, which belongs to no single session. */
const OUTPUT_FAILURE = "service output";

/** `output`: what the service printed. Omitted: the current output buffer. */
type FailureReport = Pick<FailedCase, "name" | "problems"> &
  Partial<Pick<FailedCase, "runs">> & { output?: string };

/**
 * Keeps a number of sessions active: when a session ends, it starts a new session. Keeps only the
 * number of finished sessions.
 */
export class SessionPool {
  readonly #options: Options;
  readonly #host: Host;
  readonly #targets = new Set<Target>();
  readonly #runs = new Map<string, number>();
  readonly #playing = new Set<Promise<void>>();
  #pauseEnd: Promise<void> = Promise.resolve();
  #isResting = false;
  #startedCount = 0;
  #failureCount = 0;

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

  /** Starts sessions until `end` is aborted, then waits for the end of all active sessions. */
  async playUntil(end: AbortSignal): Promise<void> {
    const outputTimer = setInterval(() => void this.checkOutput(), OUTPUT_CHECK_MS);
    const lane = async () => {
      for (;;) {
        await this.#pauseEnd;
        if (end.aborted) return;
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

  /** Whether the pool pauses, so that no session may start. */
  get isResting(): boolean {
    return this.#isResting;
  }

  /** Pauses: waits for the end of all sessions, runs the callback, then allows new sessions. */
  async rest(whileIdle: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#pauseEnd = promise;
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
      name: OUTPUT_FAILURE,
      problems: ["I17: the service printed an agents' key"],
      output,
    });
  }

  /**
   * Keeps the evidence of a failure and reports the failure, also if the evidence cannot be kept.
   */
  async fail({
    name,
    problems: found,
    runs = [],
    output = this.#options.service.output,
  }: FailureReport): Promise<void> {
    const { seed, command, recentFaults, onFailure } = this.#options;
    const problems = [...found];
    this.#failureCount += 1;
    const failed = {
      name: `soak-${seed}-${this.#failureCount}-${name}`,
      command,
      problems,
      runs,
      story: { recentFaults: recentFaults() },
    };
    const folder = await keepCase(failed, { output }).catch(noFolder);
    onFailure({ name, problems, command, folder });
  }

  /** Plays the next session. An error is reported as a failure, and the other sessions continue. */
  async #playNext(): Promise<void> {
    const nth = this.#startedCount;
    this.#startedCount += 1;
    const draw = sessionDraw(this.#options.seed, nth);
    const name = `session ${nth} (${draw.kind})`;
    await this.#play(name, draw).catch((error: unknown) =>
      this.fail({ name, problems: [String(error)] }),
    );
  }

  async #play(name: string, { kind, seed }: ReturnType<typeof sessionDraw>): Promise<void> {
    const { service, ledger, startServers = startRunServers } = this.#options;
    // Servers for this session alone, so that they record only its requests.
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
   * Reports the problems of a session. Then ends its unfinished runs, so that none of their calls
   * counts as a call of another session.
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
    if (since === null) return LIMITS_UNDER_FAULTS;
    const { totalMs, quietMs } = LIMITS_AFTER_FAULTS;
    return { totalMs: totalMs + this.#options.sessions * EXTRA_MS_PER_SESSION, quietMs, since };
  }
}

/** The text that replaces the folder in a report if the evidence could not be kept. */
export const noFolder = (error: unknown): string => `no folder: ${String(error)}`;
