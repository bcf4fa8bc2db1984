import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../simulated/chance";
import type { KindName, Surroundings } from "./kinds";
import { within } from "../../../simulated/service/within";
import type { FaultyService } from "../faulty-service";
import { PatientClient } from "../patient-client";
import { judgeRun } from "./judge";
import { Run } from "./run";

/**
 * Once nothing goes wrong any more every run ends within this (I13): a watchdog's 10 s, a call's back-off, and the run itself. In all,
 * and from whatever came of it last.
 */
export const PATIENCE: Patience = { inAllMs: 60_000, quietMs: 60_000 };
const LOOK_EVERY_MS = 200;
/** To read its log again and ask what became of it. */
const JUDGED_WITHIN_MS = 60_000;

/** What runs need of a service. */
export type Host = Pick<FaultyService, "url" | "tools" | "killedAt" | "output" | "forgetOutput">;

/**
 * How long runs may take, and for how long nothing may come of one of them, in ms. `since`: both count from then, `performance.now()`,
 * and not from when the verdict was asked for, if that was before.
 */
export type Patience = { inAllMs: number; quietMs: number; since?: number };

type Options = {
  service: Host;
  providers: Surroundings;
  seed: number;
  /** Whether nothing but kills can cut off what runs do. */
  isOnlyKilled?: boolean;
  /** Asked again and again, for it may change. Absent: that for runs around which nothing goes wrong any more. */
  patience?: () => Patience;
};

/** Some runs under fire together, from their start to the verdict on each. */
export class Party {
  readonly runs: readonly Run[];
  /** What was wrong, in sentences. */
  readonly problems: string[] = [];
  /** Those that may go on in the service when the verdict is given. */
  unfinished: readonly Run[] = [];
  /** Resolves when all of them have ended, or failed to. */
  readonly over: Promise<"over">;
  readonly #service: Host;
  readonly #patience: () => Patience;

  /** They start at once. */
  constructor(
    kinds: readonly KindName[],
    { service, providers, seed, isOnlyKilled = false, patience }: Options,
  ) {
    const chance = new Chance(seed ^ 0x5f5f);
    const client = new PatientClient(service.url);
    this.#service = service;
    this.#patience = patience ?? (() => PATIENCE);
    service.forgetOutput();
    const killedAt = isOnlyKilled ? service.killedAt : null;
    this.runs = kinds.map(
      (kind) => new Run(kind, { client, providers, tools: service.tools, chance, killedAt }),
    );
    const driven = this.runs.map((run) =>
      run.drive().catch((error: unknown) => this.#note(run, [String(error)])),
    );
    this.over = Promise.all(driven).then(() => "over" as const);
  }

  /** Waits for the end of all, and looks at what came of each. Gives all problems there were. */
  async verdict(): Promise<string[]> {
    const lateness = await this.#lateness();
    if (lateness !== null) {
      const late = this.runs.filter(({ isRunning, session }) => isRunning || session === "");
      for (const run of late) this.#note(run, [`I13: it is not over after ${lateness}`]);
      // A cancel, or whoever asks again, can be left without an answer when the run itself is seen to be over.
      if (late.length === 0)
        this.problems.push(`I13: something that was asked of it has no answer after ${lateness}`);
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

  /** Waits for the end of all; null: it came in time. Else what was waited for, in words. */
  async #lateness(): Promise<string | null> {
    const askedAt = performance.now();
    for (;;) {
      const end = await Promise.race([
        this.over,
        sleep(LOOK_EVERY_MS, "not yet" as const, { ref: false }),
      ]);
      if (end === "over") return null;
      const { inAllMs, quietMs, since: from = askedAt } = this.#patience();
      const [at, since] = [performance.now(), Math.max(askedAt, from)];
      if (at - since > inAllMs) return `${inAllMs} ms`;
      const on = this.runs.filter(({ isOver }) => !isOver);
      const quietest = Math.min(...on.map(({ heardAt }) => Math.max(since, heardAt)));
      if (at - quietest > quietMs) return `${quietMs} ms in which nothing came of it`;
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
