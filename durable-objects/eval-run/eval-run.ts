import { DurableObject } from "cloudflare:workers";
import { isOver, nextAskMs } from "../../src/evals/run";
import type { Env } from "../../src/env";
import { EvalCases } from "./eval-cases";
import { type EvalRunApi, type EvalRunStart, evalRunName } from "./eval-run-api";
import { EvalRunStore, type StoredRun } from "./eval-run-store";
import { TeamKeys } from "../session/calls/team-keys";
import { logError } from "../../src/redaction/log";

/** Time after which an interrupted step is repeated. */
const WATCHDOG_MS = 30_000;
/** How long this object tries to start the runs that are due with it. */
const OTHERS_RETRY_MS = 24 * 60 * 60 * 1_000;

/**
 * One run of a suite. The object's name identifies the run, so a repeated cron event finds the run
 * that has begun. This class contains no rules; they are in `src/evals/`. The alarm does all work,
 * and nothing is kept in memory, so a restart repeats one step.
 */
export class EvalRunObject extends DurableObject<Env> implements EvalRunApi {
  readonly #store: EvalRunStore;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new EvalRunStore(ctx.storage.sql);
  }

  /** See `EvalRunApi`. */
  async start(
    run: EvalRunStart,
    others: readonly EvalRunStart[] = [],
  ): Promise<{ started: boolean }> {
    const { storage } = this.ctx;
    const begunRun = this.#store.run();
    if (begunRun) {
      // An alarm whose time has passed may have been lost.
      const alarmAt = (await storage.getAlarm()) ?? 0;
      if (!this.#isSettled(begunRun) && alarmAt < Date.now()) await storage.setAlarm(Date.now());
      return { started: false };
    }
    const sealedRun = this.#sealed({ ...run, startedAt: Date.now() });
    const sealedOthers = others.map((other) => this.#sealed(other));
    // No `await` in between: the platform stores the run and its alarm together.
    storage.transactionSync(() => {
      this.#store.create(sealedRun);
      for (const [nth, other] of sealedOthers.entries()) this.#store.addOther(nth, other);
    });
    await storage.setAlarm(Date.now());
    return { started: true };
  }

  override async alarm(): Promise<void> {
    const run = this.#store.run();
    if (!run) return;
    // The platform has removed the alarm. Set the next one before any work begins.
    await this.ctx.storage.setAlarm(Date.now() + WATCHDOG_MS);
    try {
      await this.#startOthers();
      await new EvalCases(this.env, this.#store, this.#opened(run)).step();
    } catch (error) {
      logError("evaluation", run.suite.name, run.id, error);
    }
    if (this.#isSettled(run)) return this.ctx.storage.deleteAlarm();
    const now = Date.now();
    // At least 1 ms later: an alarm that its own handler sets for now may never fire
    // (cloudflare/workerd, issue 6866).
    await this.ctx.storage.setAlarm(now + Math.max(1, nextAskMs(this.#store.state(run), now)));
  }

  /** Starts the runs that are due with this one. A run that has begun is not changed. */
  async #startOthers(): Promise<void> {
    const starting = this.#store.others().map(async ({ nth, run }) => {
      try {
        const name = evalRunName(run.tenant, run.suite.name, run.id);
        const object = this.env.EVALS.get(this.env.EVALS.idFromName(name));
        await object.start(this.#opened(run));
      } catch (error) {
        logError("evaluation could not start", run.suite.name, run.id, error);
        if (Date.now() - run.scheduledAt < OTHERS_RETRY_MS) return;
      }
      this.#store.dropOther(nth);
    });
    await Promise.all(starting);
  }

  /** The run as it is stored: without the suite's team setting, and with sealed keys. */
  #sealed<Run extends EvalRunStart>(run: Run): Run {
    const { team: _, ...suite } = { team: null, ...run.suite };
    return { ...run, suite, team: run.team && this.#keysOf(run).seal(run.team) };
  }

  /**
   * The run with its team's keys in clear, as sessions expect them. If a key cannot be opened, the
   * run has no team, and `problem` says why.
   */
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

  /** Whether every case has a result, D1 has all results, and no other run is to be started. */
  #isSettled(run: StoredRun): boolean {
    return (
      isOver(this.#store.state(run)) &&
      this.#store.unsaved().length === 0 &&
      this.#store.others().length === 0
    );
  }
}
