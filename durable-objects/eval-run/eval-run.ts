import { DurableObject } from "cloudflare:workers";
import { isOver, nextAskMs } from "../../src/evals/run";
import type { Env } from "../../src/env";
import { EvalCases } from "./eval-cases";
import { type EvalRunApi, type EvalRunStart, evalRunName } from "./eval-run-api";
import { EvalRunStore, type StoredRun } from "./eval-run-store";
import { TeamKeys } from "../session/calls/team-keys";
import { logError } from "../../src/redaction/log";

/** When a run that was cut off in the middle of a step goes on by itself. */
const WATCHDOG_MS = 30_000;
/** How long runs that are due together with this one are tried to be started. */
const OTHERS_FOR_MS = 24 * 60 * 60 * 1_000;

/**
 * One run of a suite; its name says which, so a cron that rings twice finds it begun. A shell: the rules lie in `src/evals/`.
 * All work is done by the alarm, and nothing is kept in memory: a restart in the middle is one step like any other.
 */
export class EvalRunObject extends DurableObject<Env> implements EvalRunApi {
  readonly #store: EvalRunStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new EvalRunStore(ctx.storage.sql);
  }

  async start(
    run: EvalRunStart,
    others: readonly EvalRunStart[] = [],
  ): Promise<{ started: boolean }> {
    const { storage } = this.ctx;
    const begun = this.#store.run();
    if (begun) {
      // One whose moment has passed may never ring.
      if (!this.#isSettled(begun) && ((await storage.getAlarm()) ?? 0) < Date.now())
        await storage.setAlarm(Date.now());
      return { started: false };
    }
    const kept = this.#sealed({ ...run, startedAt: Date.now() });
    const keptOthers = others.map((other) => this.#sealed(other));
    // No await in between: the run and the alarm that drives it are on disk together or not at all.
    storage.transactionSync(() => {
      this.#store.create(kept);
      for (const [nth, other] of keptOthers.entries()) this.#store.addOther(nth, other);
    });
    await storage.setAlarm(Date.now());
    return { started: true };
  }

  override async alarm(): Promise<void> {
    const run = this.#store.run();
    if (!run) return;
    // The alarm is gone now, and another must stand before any work begins.
    await this.ctx.storage.setAlarm(Date.now() + WATCHDOG_MS);
    try {
      await this.#startOthers();
      await new EvalCases(this.env, this.#store, this.#opened(run)).step();
    } catch (error) {
      logError("evaluation", run.suite.name, run.id, error);
    }
    if (this.#isSettled(run)) return this.ctx.storage.deleteAlarm();
    const now = Date.now();
    // Not for this very moment: such an alarm, set by its own handler, may never ring (cloudflare/workerd, issue 6866).
    await this.ctx.storage.setAlarm(now + Math.max(1, nextAskMs(this.#store.state(run), now)));
  }

  /** One that has begun already stays as it is. */
  async #startOthers(): Promise<void> {
    const starting = this.#store.others().map(async ({ nth, run }) => {
      try {
        await this.env.EVALS.get(
          this.env.EVALS.idFromName(evalRunName(run.tenant, run.suite.name, run.id)),
        ).start(this.#opened(run));
      } catch (error) {
        logError("evaluation could not start", run.suite.name, run.id, error);
        if (Date.now() - run.scheduledAt < OTHERS_FOR_MS) return;
      }
      this.#store.dropOther(nth);
    });
    await Promise.all(starting);
  }

  /** The run as it may be kept: without what the suite wrote of its team, and with the team's keys sealed. */
  #sealed<Run extends EvalRunStart>(run: Run): Run {
    const { team: _, ...suite } = { team: null, ...run.suite };
    return { ...run, suite, team: run.team && this.#keysOf(run).seal(run.team) };
  }

  /** The run with its team's keys as sessions take them; one that does not open is why its cases cannot run. */
  #opened<Run extends EvalRunStart>(run: Run): Run {
    const opened = run.team && this.#keysOf(run).open(run.team);
    if (!opened) return run;
    return opened.ok
      ? { ...run, team: opened.team }
      : { ...run, team: null, problem: opened.failure.message };
  }

  #keysOf({ tenant, suite, id }: EvalRunStart): TeamKeys {
    return new TeamKeys(this.env, { tenant, session: evalRunName(tenant, suite.name, id) });
  }

  /** Every case has its result, D1 has them all, and nothing else is to be started. */
  #isSettled(run: StoredRun): boolean {
    return (
      isOver(this.#store.state(run)) &&
      this.#store.unsaved().length === 0 &&
      this.#store.others().length === 0
    );
  }
}
