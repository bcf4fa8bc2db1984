import { type CaseResult, errored, judge } from "../src/evals/result";
import { claimable, owedAt, type RunEffect } from "../src/evals/run";
import type { SuiteCase } from "../src/evals/schema";
import { withIncluded } from "../src/tenancy/principal";
import { type Env, readSecret } from "./env";
import { EvalRecords, sessionOf } from "./eval-records";
import type { EvalRunStore, StoredRun } from "./eval-run-store";
import type { SessionStub, StartTurn } from "./session-api";
import { createSessionIndex, type SessionIndex } from "./session-index";
import { sessionStub } from "./session-stub";
import { logError } from "../src/redaction/log";

/** Whoever is asked and does not answer is asked again later. */
const ANSWER_WITHIN_MS = 10_000;
/** Results written to D1 at a time: answers are long. */
const SAVED_AT_ONCE = 20;

/** Does for a run's cases what the rules ask for. Everything may be done again: sessions and rows are told apart by name. */
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

  /** One round: hears of what runs, starts what has a place, saves what is done. */
  async step(): Promise<void> {
    // Whoever started the run looks for it at once.
    if (!this.#store.isListed()) await this.#save();
    await Promise.all(owedAt(this.#state(), Date.now()).map((effect) => this.#perform(effect)));
    const next = claimable(this.#state());
    // On disk before any session hears of it: whatever happens now, these cases are under way and no others in their place.
    for (const nth of next) this.#store.apply(this.#run, { type: "case_claimed", nth, at: Date.now() });
    await Promise.all(next.map((nth) => this.#perform({ type: "create_session", nth })));
    await this.#save();
  }

  /** A fault is passing: the same effect is owed again at the next step, until the case is given up. */
  async #perform(effect: RunEffect): Promise<void> {
    try {
      await inTime(this.#do(effect));
    } catch (error) {
      logError("evaluation", this.#run.suite.name, this.#run.id, effect.type, error instanceof Error ? error.message : error);
      if (effect.type === "give_up") this.#end(effect.nth, errored("nothing was heard of its session"));
    }
  }

  async #do({ type, nth }: RunEffect): Promise<void> {
    const one = this.#run.suite.cases[nth];
    if (!one) return;
    switch (type) {
      case "create_session":
        return this.#create(nth, one);
      case "ask_session":
        return this.#ask(nth, one);
      case "give_up":
        return this.#giveUp(nth, one);
    }
  }

  async #create(nth: number, one: SuiteCase): Promise<void> {
    const { team, problem } = this.#run;
    if (!team) return this.#end(nth, errored(problem ?? "its team cannot run here"));
    const { tenant } = this.#run;
    const id = sessionOf(this.#run, nth);
    await this.#index.add({ tenant, id, createdAt: Date.now(), question: one.question });
    const started = await this.#session(nth).create(id, team, this.#turnOf(one));
    if (started.ok) return this.#store.apply(this.#run, { type: "case_started", nth, at: Date.now() });
    // Other turns of the tenant will end.
    if (started.code === "quota_exceeded") return;
    this.#end(nth, errored(`its session could not start: ${started.code.replaceAll("_", " ")}`));
  }

  async #ask(nth: number, one: SuiteCase): Promise<void> {
    const asked = await this.#session(nth).turn(1);
    const result = asked.ok ? judge(asked.turn, one.grader) : errored("its session was erased");
    if (result) this.#end(nth, result);
  }

  /** It may have ended just before. What it cost counts in any case. */
  async #giveUp(nth: number, one: SuiteCase): Promise<void> {
    const session = this.#session(nth);
    await session.cancel();
    const asked = await session.turn(1);
    const late = errored(`not done within ${this.#run.suite.timeout_seconds} seconds`);
    const result = asked.ok ? judge(asked.turn, one.grader) : null;
    const wasCut = !asked.ok || asked.turn.status === "cancelled";
    this.#end(nth, wasCut || !result ? { ...late, costUsd: result?.costUsd ?? 0, durationMs: result?.durationMs ?? 0 } : result);
  }

  #end(nth: number, result: CaseResult): void {
    this.#store.apply(this.#run, { type: "case_ended", nth, at: Date.now(), result });
  }

  async #save(): Promise<void> {
    for (;;) {
      const unsaved = this.#store.unsaved().slice(0, SAVED_AT_ONCE);
      if (unsaved.length === 0 && this.#store.isListed()) return;
      await inTime(this.#records.save(this.#run, this.#state(), unsaved));
      this.#store.markSaved(unsaved);
    }
  }

  #turnOf({ question }: SuiteCase): StartTurn {
    const { max_cost_usd, max_tokens } = this.#run.suite.budget;
    return {
      question,
      parentTurn: null,
      budget: { ...(max_cost_usd === undefined ? {} : { max_cost_usd }), ...(max_tokens === undefined ? {} : { max_tokens }) },
      timeoutMs: Math.round(this.#run.suite.timeout_seconds * 1000),
    };
  }

  #session(nth: number): SessionStub {
    const place = { namespace: this.#env.SESSIONS, masterKey: readSecret(this.#env, "MASTER_KEY") ?? null };
    const caller = { tenant: this.#run.tenant, keyId: null, scopes: withIncluded(["run"]) };
    return sessionStub(place, caller, sessionOf(this.#run, nth));
  }

  #state() {
    return this.#store.state(this.#run);
  }
}

/** The same, or an error when it takes too long. */
async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} seconds`)), ANSWER_WITHIN_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
