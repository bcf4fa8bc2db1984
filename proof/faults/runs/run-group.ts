import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import type { KindName, RunServers } from "./kinds";
import { within } from "../../../simulated/service/within";
import type { FaultyService } from "../faulty-service";
import { PatientClient } from "../patient-client";
import { judgeRun } from "./judge";
import { Run } from "./run";

/**
 * Once no fault is active, every run ends within these limits (I13). The time is enough for a
 * watchdog (10 s), the back-off of a call, and the run itself.
 */
export const DEFAULT_LIMITS: TimeLimits = { totalMs: 60_000, quietMs: 60_000 };
const CHECK_EVERY_MS = 200;
/** Time limit for reading the log again and checking the run. */
const JUDGED_WITHIN_MS = 60_000;

/** The part of a service that a group of runs needs. */
export type Host = Pick<FaultyService, "url" | "tools" | "killedAt" | "output" | "clearOutput">;

/**
 * `totalMs`: the longest duration of a run. `quietMs`: the longest time without an event. Both
 * count from `since` (`performance.now()`), or from the call of `verdict` if this call is later.
 */
export type TimeLimits = { totalMs: number; quietMs: number; since?: number };

type Options = {
  service: Host;
  providers: RunServers;
  seed: number;
  /** Whether only kills can interrupt the runs. */
  isOnlyKilled?: boolean;
  /** Returns the limits. Called repeatedly, because they may change. Omitted: `DEFAULT_LIMITS`. */
  timeLimits?: () => TimeLimits;
};

/** Concurrent runs under faults, from their start to the verdict on each run. */
export class RunGroup {
  readonly runs: readonly Run[];
  /** Problems in sentences. */
  readonly problems: string[] = [];
  /** Runs that may still be active in the service after the verdict. */
  unfinished: readonly Run[] = [];
  /** Resolves when all runs have ended or failed. */
  readonly over: Promise<"over">;
  readonly #service: Host;
  readonly #timeLimits: () => TimeLimits;

  /** Starts the runs at once. */
  constructor(
    kinds: readonly KindName[],
    { service, providers, seed, isOnlyKilled = false, timeLimits }: Options,
  ) {
    const chance = new Chance(seed ^ 0x5f5f);
    const client = new PatientClient(service.url);
    this.#service = service;
    this.#timeLimits = timeLimits ?? (() => DEFAULT_LIMITS);
    service.clearOutput();
    const killedAt = isOnlyKilled ? service.killedAt : null;
    this.runs = kinds.map(
      (kind) => new Run(kind, { client, providers, tools: service.tools, chance, killedAt }),
    );
    const drivenRuns = this.runs.map((run) =>
      run.drive().catch((error: unknown) => this.#addProblems(run, [String(error)])),
    );
    this.over = Promise.all(drivenRuns).then(() => "over" as const);
  }

  /** Waits for the end of all runs and checks each run. Returns all problems. */
  async verdict(): Promise<string[]> {
    const exceededLimit = await this.#exceededLimit();
    if (exceededLimit !== null) {
      const late = this.runs.filter(({ isRunning, session }) => isRunning || session === "");
      for (const run of late) this.#addProblems(run, [`I13: not finished after ${exceededLimit}`]);
      // A cancel or a second turn may lack a reply although the run itself has ended.
      if (late.length === 0)
        this.problems.push(`I13: a request to it has no reply after ${exceededLimit}`);
    }
    this.unfinished = this.runs.filter(({ isOver, erasedAt }) => !isOver && erasedAt === null);
    for (const run of this.runs) run.stop();
    if (this.problems.length === 0) {
      for (const run of this.runs) this.#addProblems(run, await this.#judge(run));
    }
    if (this.runs.some(({ canary }) => this.#service.output.includes(canary))) {
      this.problems.push("I17: the service printed an agents' key");
    }
    return this.problems;
  }

  /**
   * Waits for the end of all runs. Returns `null` if they ended in time, otherwise the limit that
   * they exceeded, in words.
   */
  async #exceededLimit(): Promise<string | null> {
    const askedAt = performance.now();
    for (;;) {
      const end = await Promise.race([
        this.over,
        sleep(CHECK_EVERY_MS, "not yet" as const, { ref: false }),
      ]);
      if (end === "over") return null;
      const limits = this.#timeLimits();
      const { totalMs, quietMs } = limits;
      const since = Math.max(askedAt, limits.since ?? askedAt);
      const now = performance.now();
      if (now - since > totalMs) return `${totalMs} ms`;
      const activeRuns = this.runs.filter(({ isOver }) => !isOver);
      const quietest = Math.min(
        ...activeRuns.map(({ lastEventAt }) => Math.max(since, lastEventAt)),
      );
      if (now - quietest > quietMs) return `${quietMs} ms without an event`;
    }
  }

  #judge = (run: Run): Promise<string[]> =>
    within(JUDGED_WITHIN_MS, "what the service says of it", judgeRun(run)).catch(
      (error: unknown) => [String(error)],
    );

  #addProblems({ name, session }: Run, problems: readonly string[]): void {
    this.problems.push(...problems.map((problem) => `${name} ${session}: ${problem}`));
  }
}
