import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import type { KindName, RunServers } from "./kinds";
import { within } from "../../../simulated/service/within";
import type { FaultyService } from "../faulty-service";
import { PatientClient } from "../patient-client";
import { judgeRun } from "./judge";
import { Run } from "./run";

/**
 * Once no fault is active, every run ends within this (I13): a watchdog's 10 s, a call's back-off,
 * and the run itself. Applies in total and since the run's last event.
 */
export const DEFAULT_LIMITS: TimeLimits = { inAllMs: 60_000, quietMs: 60_000 };
const LOOK_EVERY_MS = 200;
/** To read the log again and check the run. */
const JUDGED_WITHIN_MS = 60_000;

/** The part of a service that runs need. */
export type Host = Pick<FaultyService, "url" | "tools" | "killedAt" | "output" | "clearOutput">;

/**
 * The longest duration of a run and the longest time without an event, in ms. Both count from
 * `since` (`performance.now()`), or from the call of `verdict` if that is later.
 */
export type TimeLimits = { inAllMs: number; quietMs: number; since?: number };

type Options = {
  service: Host;
  providers: RunServers;
  seed: number;
  /** Whether only kills can interrupt the runs. */
  isOnlyKilled?: boolean;
  /** Called repeatedly, because it may change. Omitted: `DEFAULT_LIMITS`. */
  timeLimits?: () => TimeLimits;
};

/** Runs that execute together under faults, from their start to the verdict on each. */
export class RunGroup {
  readonly runs: readonly Run[];
  /** Problems in sentences. */
  readonly problems: string[] = [];
  /** Runs that may still be active in the service when the verdict is given. */
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
    const driven = this.runs.map((run) =>
      run.drive().catch((error: unknown) => this.#note(run, [String(error)])),
    );
    this.over = Promise.all(driven).then(() => "over" as const);
  }

  /** Waits for the end of all runs and checks each. Returns all problems. */
  async verdict(): Promise<string[]> {
    const lateness = await this.#lateness();
    if (lateness !== null) {
      const late = this.runs.filter(({ isRunning, session }) => isRunning || session === "");
      for (const run of late) this.#note(run, [`I13: not finished after ${lateness}`]);
      // A cancel or a second turn may lack a reply although the run itself has ended.
      if (late.length === 0)
        this.problems.push(`I13: a request to it has no reply after ${lateness}`);
    }
    this.unfinished = this.runs.filter(({ isOver, erasedAt }) => !isOver && erasedAt === null);
    for (const run of this.runs) run.stop();
    if (this.problems.length === 0) {
      for (const run of this.runs) this.#note(run, await this.#judge(run));
    }
    if (this.runs.some(({ canary }) => this.#service.output.includes(canary))) {
      this.problems.push("I17: the service printed an agents' key");
    }
    return this.problems;
  }

  /**
   * Waits for the end of all runs. `null` if they ended in time, else the exceeded limit in words.
   */
  async #lateness(): Promise<string | null> {
    const askedAt = performance.now();
    for (;;) {
      const end = await Promise.race([
        this.over,
        sleep(LOOK_EVERY_MS, "not yet" as const, { ref: false }),
      ]);
      if (end === "over") return null;
      const { inAllMs, quietMs, since: from = askedAt } = this.#timeLimits();
      const [at, since] = [performance.now(), Math.max(askedAt, from)];
      if (at - since > inAllMs) return `${inAllMs} ms`;
      const on = this.runs.filter(({ isOver }) => !isOver);
      const quietest = Math.min(...on.map(({ lastEventAt }) => Math.max(since, lastEventAt)));
      if (at - quietest > quietMs) return `${quietMs} ms without an event`;
    }
  }

  #judge = (run: Run): Promise<string[]> =>
    within(JUDGED_WITHIN_MS, "what the service says of it", judgeRun(run)).catch(
      (error: unknown) => [String(error)],
    );

  #note({ name, session }: Run, problems: readonly string[]): void {
    this.problems.push(...problems.map((problem) => `${name} ${session}: ${problem}`));
  }
}
