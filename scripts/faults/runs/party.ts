import { setTimeout as sleep } from "node:timers/promises";
import { Chance } from "../../../tests/simulation/world/random";
import type { KindName, Surroundings } from "./kinds";
import { within } from "../../service/within";
import type { FaultyService } from "../faulty-service";
import { PatientClient } from "../patient-client";
import { judgeRun } from "./judge";
import { Run } from "./run";

/** Once nothing goes wrong any more every run ends within this (I13): a watchdog's 10 s, a call's back-off, and the run itself. */
const OVER_WITHIN_MS = 60_000;
/** To read its log again and ask what became of it. */
const JUDGED_WITHIN_MS = 60_000;

type Options = {
  service: FaultyService;
  providers: Surroundings;
  seed: number;
  /** Whether nothing but kills can cut off what runs do. */
  isOnlyKilled?: boolean;
};

/** Some runs under fire together, from their start to the verdict on each. */
export class Party {
  readonly runs: readonly Run[];
  /** What was wrong, in sentences. */
  readonly problems: string[] = [];
  /** Resolves when all of them have ended, or failed to. */
  readonly over: Promise<"over">;
  readonly #service: FaultyService;

  /** They start at once. */
  constructor(kinds: readonly KindName[], { service, providers, seed, isOnlyKilled = false }: Options) {
    const chance = new Chance(seed ^ 0x5f5f);
    const client = new PatientClient(service.url);
    this.#service = service;
    service.forgetOutput();
    const killedAt = isOnlyKilled ? service.killedAt : null;
    this.runs = kinds.map((kind) => new Run(kind, { client, providers, tools: service.tools, chance, killedAt }));
    const driven = this.runs.map((run) => run.drive().catch((error: unknown) => this.#note(run, [String(error)])));
    this.over = Promise.all(driven).then(() => "over" as const);
  }

  /** Waits for the end of all, and looks at what came of each. Gives all problems there were. */
  async verdict(): Promise<string[]> {
    const end = await Promise.race([this.over, sleep(OVER_WITHIN_MS, "late" as const, { ref: false })]);
    if (end === "late") {
      const late = this.runs.filter(({ isRunning, session }) => isRunning || session === "");
      for (const run of late) this.#note(run, [`I13: it is not over after ${OVER_WITHIN_MS} ms without a fault`]);
    }
    for (const run of this.runs) run.stop();
    if (this.problems.length === 0) {
      for (const run of this.runs) this.#note(run, await this.#judge(run));
    }
    if (this.runs.some(({ canary }) => this.#service.output.includes(canary))) {
      this.problems.push("I17: the service printed an agents' key");
    }
    return this.problems;
  }

  #judge = (run: Run): Promise<string[]> =>
    within(JUDGED_WITHIN_MS, "what the service says of it", judgeRun(run)).catch((error: unknown) => [String(error)]);

  #note({ name, session }: Run, problems: readonly string[]): void {
    this.problems.push(...problems.map((problem) => `${name} ${session}: ${problem}`));
  }
}
