import { withTimeout } from "../../src/async/timeout";
import { holdReason, refusalReason } from "../../src/evals/refused-start";
import { type CaseResult, errored, judge, judgeCancelled } from "../../src/evals/result";
import { claimable, owedAt, type RunEffect } from "../../src/evals/run";
import type { SuiteCase } from "../../src/evals/schema";
import { withIncluded } from "../../src/tenancy/principal";
import { type Env, readSecret } from "../../src/env";
import { EvalRecords, sessionOf } from "../../d1/eval-records";
import type { EvalRunStore, StoredRun } from "./eval-run-store";
import type { SessionStub, StartTurn } from "../session/session-api";
import { createSessionIndex, type SessionIndex } from "../../d1/session-index";
import { sessionStub } from "../session/session-stub";
import { logError } from "../../src/redaction/log";

/**
 * Time limit of one request to a session or to D1. A request that times out is repeated in a later
 * step.
 */
const ANSWER_LIMIT_MS = 10_000;
/** Results per write to D1. Few, because answers are long. */
const RESULTS_PER_SAVE = 20;

/**
 * Performs the effects of a run's cases. Every effect is idempotent, because the names of sessions
 * and rows are computed from the run and the case. `nth` is always the index of a case.
 */
export class EvalCases {
  readonly #env: Env;
  readonly #store: EvalRunStore;
  readonly #run: StoredRun;
  readonly #records: EvalRecords;
  readonly #index: SessionIndex;

  constructor(env: Env, store: EvalRunStore, run: StoredRun) {
    this.#env = env;
    this.#store = store;
    this.#run = run;
    this.#records = new EvalRecords(env.DB);
    this.#index = createSessionIndex(env.DB);
  }

  /**
   * Performs one step: asks the sessions of running cases for results, starts the cases that may
   * start, and saves new results.
   */
  async step(): Promise<void> {
    // Save the run before any case starts: the caller that started the run reads it at once.
    if (!this.#store.isListed()) await this.#save();
    await Promise.all(owedAt(this.#state(), Date.now()).map((effect) => this.#perform(effect)));
    const startable = claimable(this.#state());
    // Claims are stored before any session is created. After a crash these cases count as started,
    // and no other case starts in their place.
    for (const nth of startable)
      this.#store.apply(this.#run, { type: "case_claimed", nth, at: Date.now() });
    await Promise.all(startable.map((nth) => this.#perform({ type: "create_session", nth })));
    await this.#save();
  }

  /**
   * Performs an effect. Errors are treated as temporary: the effect is due again in the next step,
   * until the case is given up.
   */
  async #perform(effect: RunEffect): Promise<void> {
    try {
      await withAnswerTimeout(this.#dispatch(effect));
    } catch (error) {
      logError(
        "evaluation",
        this.#run.suite.name,
        this.#run.id,
        effect.type,
        error instanceof Error ? error.message : error,
      );
      if (effect.type !== "give_up") return;
      const hasRun = this.#state().cases[effect.nth]?.status === "running";
      this.#end(effect.nth, errored("its session did not answer", { hasRun }));
    }
  }

  async #dispatch({ type, nth }: RunEffect): Promise<void> {
    const suiteCase = this.#run.suite.cases[nth];
    if (!suiteCase) return;
    switch (type) {
      case "create_session":
        return this.#create(nth, suiteCase);
      case "ask_session":
        return this.#ask(nth, suiteCase);
      case "give_up":
        return this.#cancelCase(nth, suiteCase);
    }
  }

  async #create(nth: number, suiteCase: SuiteCase): Promise<void> {
    const { team, problem } = this.#run;
    if (!team)
      return this.#end(nth, errored(problem ?? "its team is not supported on this deployment"));
    const { tenant } = this.#run;
    const id = sessionOf(this.#run, nth);
    await this.#index.add({ tenant, id, createdAt: Date.now(), question: suiteCase.question });
    const started = await this.#session(nth).create(id, team, this.#turnOf(suiteCase));
    if (started.ok)
      return this.#store.apply(this.#run, { type: "case_started", nth, at: Date.now() });
    const reason = holdReason(started);
    if (reason) return this.#store.apply(this.#run, { type: "case_held", nth, why: reason });
    await this.#endUnstarted(nth, `its session could not start: ${refusalReason(started)}`);
  }

  /** Ends a case whose session could not start. Deletes the session's row from the index. */
  async #endUnstarted(nth: number, detail: string): Promise<void> {
    await this.#index.drop(this.#run.tenant, sessionOf(this.#run, nth));
    this.#end(nth, errored(detail));
  }

  async #ask(nth: number, { grader }: SuiteCase): Promise<void> {
    const found = await this.#session(nth).turn(1);
    const result = found.ok
      ? judge(found.turn, grader)
      : errored("its session was erased", { hasRun: true });
    if (result) this.#end(nth, result);
  }

  /** Cancels the case's session, and ends the case. */
  async #cancelCase(nth: number, { grader }: SuiteCase): Promise<void> {
    const session = this.#session(nth);
    await session.cancel();
    const found = await session.turn(1);
    if (!found.ok) return this.#endWithoutSession(nth);
    const { timeout_seconds } = this.#run.suite;
    this.#end(nth, judgeCancelled(found.turn, grader, timeout_seconds));
  }

  /** Ends a case that has no session: the session could never start, or was erased. */
  async #endWithoutSession(nth: number): Promise<void> {
    const { caseLimitMs, cases } = this.#state();
    const state = cases[nth];
    if (state?.status !== "starting")
      return this.#end(nth, errored("its session was erased", { hasRun: true }));
    const reason = state.held ?? "its session did not answer";
    await this.#endUnstarted(
      nth,
      `could not start for ${Math.round(caseLimitMs / 1000)} seconds: ${reason}`,
    );
  }

  #end(nth: number, result: CaseResult): void {
    this.#store.apply(this.#run, { type: "case_ended", nth, at: Date.now(), result });
  }

  async #save(): Promise<void> {
    for (;;) {
      const unsaved = this.#store.unsaved().slice(0, RESULTS_PER_SAVE);
      if (unsaved.length === 0 && this.#store.isListed()) return;
      await withAnswerTimeout(this.#records.save(this.#run, this.#state(), unsaved));
      this.#store.markSaved(unsaved);
    }
  }

  #turnOf({ question }: SuiteCase): StartTurn {
    const { max_cost_usd, max_tokens } = this.#run.suite.budget;
    return {
      question,
      parentTurn: null,
      budget: {
        ...(max_cost_usd === undefined ? {} : { max_cost_usd }),
        ...(max_tokens === undefined ? {} : { max_tokens }),
      },
      timeoutMs: Math.round(this.#run.suite.timeout_seconds * 1000),
    };
  }

  #session(nth: number): SessionStub {
    const place = {
      namespace: this.#env.SESSIONS,
      masterKey: readSecret(this.#env, "MASTER_KEY") ?? null,
    };
    const caller = { tenant: this.#run.tenant, keyId: null, scopes: withIncluded(["run"]) };
    return sessionStub(place, caller, sessionOf(this.#run, nth));
  }

  #state() {
    return this.#store.state(this.#run);
  }
}

/** Throws if `work` takes longer than `ANSWER_WITHIN_MS`. */
const withAnswerTimeout = <T>(work: Promise<T>): Promise<T> =>
  withTimeout(
    ANSWER_LIMIT_MS,
    () => work,
    () => new Error(`no answer within ${ANSWER_LIMIT_MS / 1000} seconds`),
  );
