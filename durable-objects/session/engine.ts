import { PartialTexts } from "../../src/agents/partial";
import type { Team } from "../../src/config/team";
import {
  callInFlight,
  decide,
  emptySession,
  evolve,
  failInternally,
  type Input,
  type InputBody,
  inFlight,
  nextTimerAt,
  owed,
  runningTurn,
  SteadyClock,
  type SessionState,
} from "../../src/coordination";
import {
  type DeltaItem,
  isTerminal,
  type SessionEvent,
  type Usage,
} from "../../src/protocol/events";
import { BEGINS_AGAIN } from "../../src/providers/platform-words";
import type { ResumePoint } from "../../src/providers/provider";
import type { ContainerDuty, Containers } from "./tools/containers";
import { Deliveries } from "./log/outbox-worker";
import type { DeltaSource } from "./log/delta-buffer";
import { EffectRunner, type Performer } from "./calls/effect-runner";
import { type LogRow, toRow } from "./streams/frames";
import { type Entry, Journal } from "./log/journal";
import type { FileDuty } from "./files/file-jobs";
import type { BroughtFiles, ResultFile } from "./files/files-entry";
import { CALL_SLOTS, HEADER_PATIENCE_MS } from "../shared/limits";
import type { SettledTurn } from "../tenant/tenant-api";
import { Outbox } from "./log/outbox";
import { isPlatformFault } from "./platform-fault";
import { brokenEnd, restore } from "./log/restore";
import { type Brought, RoundRecords } from "./calls/round-records";
import type { SessionLog, TurnPlace } from "./log/session-log";
import { Slots } from "./calls/semaphore";
import { WakeUp } from "./log/alarm-scheduler";
import type { Workspaces } from "./files/workspaces";
import { logError, logInfo } from "../../src/redaction/log";

/** A fixed part of a session, read once at boot. */
export type SessionFacts = {
  sessionId: string;
  team: Team;
  /** How often the object was loaded while a turn ran, this time included. */
  boot: number;
  /** Private words that mark the orchestrator's own blocks in an agent's messages. */
  nonce: (turn: number, attempt: number, agent: number) => string;
};

type Options = SessionFacts & {
  ctx: DurableObjectState;
  log: SessionLog;
  workspaces: Workspaces;
  /** Readers of the session's streams at a time. */
  maxReaders: number;
  /** Makes the performer of effects; it tells the engine what came of them. */
  performer: (engine: Engine) => Performer;
  /** Where agents' commands run; absent: in no container. */
  containers?: Pick<Containers, "duties" | "perform">;
  /** Tells the tenant of a turn that has ended. Throws if it did not hear. */
  settle: (turn: SettledTurn) => Promise<void>;
};

/**
 * The running session: inputs in, facts to disk, effects out. Computes first, then one transaction, then performs; nothing
 * awaits in between, so no other input can slip in. Recovery is the same path: `boot` folds the log and goes on.
 */
export class Engine {
  readonly facts: SessionFacts;
  readonly journal: Journal;
  readonly workspaces: Workspaces;
  /** Where calls wait for their headers. */
  readonly callSlots = new Slots(CALL_SLOTS, HEADER_PATIENCE_MS);
  readonly #ctx: DurableObjectState;
  readonly #log: SessionLog;
  readonly #records: RoundRecords;
  readonly #runner: EffectRunner;
  readonly #wakeUp: WakeUp;
  readonly #tellings: Deliveries<SettledTurn>;
  readonly #fileWork: Deliveries<FileDuty>;
  readonly #containerDuties: Outbox<ContainerDuty>;
  readonly #containerWork: Deliveries<ContainerDuty>;
  readonly #containers: Options["containers"];
  readonly #written = new PartialTexts();
  #state: SessionState = emptySession;
  readonly #usages = new Map<string, Usage>();
  #endedAt: number | null = null;
  #clock = new SteadyClock(() => Date.now());
  /** Time of the last input: what was due by then is dealt with. */
  #toldAt = 0;

  constructor(options: Options) {
    const { ctx, log, sessionId } = options;
    this.facts = options;
    this.#ctx = ctx;
    this.#log = log;
    this.workspaces = options.workspaces;
    this.journal = new Journal({
      ctx,
      log,
      sessionId,
      maxReaders: options.maxReaders,
      endedAt: () => this.#endedAt,
      now: () => this.#clock.now(),
      openTurn: () => runningTurn(this.#state)?.number ?? null,
    });
    const { calls, queries } = this.journal;
    this.#records = new RoundRecords({
      team: options.team,
      nonce: options.nonce,
      log,
      calls,
      queries,
    });
    this.#wakeUp = new WakeUp(ctx.storage, () => this.#look());
    this.#runner = new EffectRunner(options.performer(this), {
      slots: this.callSlots,
      patienceMs: HEADER_PATIENCE_MS,
    });
    const idle = { now: () => this.#clock.now(), onIdle: () => this.#arm(this.#clock.now()) };
    this.#tellings = new Deliveries({
      outbox: this.journal.outbox,
      deliver: (turn) => options.settle(turn).then(() => "done" as const),
      complaint: ["a turn's end was not told", sessionId],
      ...idle,
    });
    this.#fileWork = new Deliveries({
      outbox: this.workspaces.outbox,
      deliver: (duty) => this.workspaces.perform(duty),
      complaint: ["files were not brought to R2", sessionId],
      ...idle,
    });
    this.#containers = options.containers;
    this.#containerDuties = new Outbox(ctx.storage.sql, "container_duties");
    this.#containerWork = new Deliveries({
      outbox: this.#containerDuties,
      deliver: async (duty) => {
        await this.#containers?.perform(duty);
        return "done";
      },
      complaint: ["a container was not destroyed", sessionId],
      ...idle,
    });
  }

  /** The session's time, unix ms: it never runs backwards. */
  now(): number {
    return this.#clock.now();
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Takes up what is stored: tells the rules what a restart cut off, and goes on. A turn that does not fold ends. */
  boot(): void {
    const { state, open, broken } = restore(this.#log, this.facts.sessionId, this.facts.team.rules);
    this.#state = state;
    this.#clock = new SteadyClock(() => Date.now(), state.lastAt);
    if (!open) {
      this.#endedAt = state.lastAt;
    } else if (broken) {
      this.#endBroken(open, broken);
    } else {
      this.#resume(open.firstSeq);
    }
    this.#empty();
    this.#arm(this.#clock.now()); // for what waits for its next time, whatever became of the alarm that was to bring it
  }

  #resume(firstSeq: number): void {
    for (const row of this.#log.readDeltas(firstSeq)) this.#restore(row);
    for (const { id, answers } of runningTurn(this.#state)?.attempt.agents ?? [])
      if (answers > 0) this.#written.answered(id);
    const cutOff = inFlight(this.#state);
    logInfo(
      "resumed",
      this.facts.sessionId,
      `boot ${this.facts.boot}`,
      `${cutOff.length} effects interrupted`,
    );
    for (const effect of cutOff.filter((id) => !this.#takeUp(id))) {
      this.handle({ type: "effect_interrupted", effect });
    }
    this.handle({ type: "clock" });
  }

  /** Goes on with a call whose reply the provider has been writing all the while; to the rules nothing has happened. */
  #takeUp(id: string): boolean {
    const call = callInFlight(this.#state, id);
    const run = call && this.#runner.resume(call);
    if (run === null) return false;
    this.#ctx.waitUntil(run);
    return true;
  }

  #endBroken(open: TurnPlace, broken: unknown): void {
    this.#report(broken);
    const at = this.#clock.now();
    const events = brokenEnd(this.#log, open, at);
    const writeFiles = () =>
      this.workspaces.end({ turn: open.turn, hasChanges: false, hasContexts: true });
    this.#commit(
      {
        events,
        rows: events.map(toRow),
        state: { ...this.#state, lastAt: at },
        records: [],
        writeFiles,
      },
      at,
    );
  }

  /**
   * Whatever happened, told to the rules; gives the facts that followed. Throws only where a turn could not even be started,
   * and then nothing was written.
   */
  handle(body: InputBody, brought: BroughtIn = {}): readonly SessionEvent[] {
    const before = this.#state;
    const input: Input = {
      ...body,
      at: this.#clock.now(),
      seed: randomSeed(),
      partials: this.#written.partials(before),
      files: this.workspaces.facts(
        before,
        "effect" in body ? body.effect : null,
        brought.files?.staged ?? null,
      ),
      usages: Object.fromEntries(this.#usages),
    };
    this.#toldAt = Math.max(this.#toldAt, input.at);
    const decided = this.#decide(before, input, brought);
    if (decided.events.length > 0) this.#commit(decided, input.at);
    this.#perform();
    return decided.events;
  }

  /** A piece of what a model is writing; too late if nobody waits for its call any more. */
  write(source: DeltaSource, text: string, point: ResumePoint | null): void {
    if (!runningTurn(this.#state)?.inFlight[source.call]) return;
    this.#written.add(source, text);
    this.journal.write(source, text, point);
  }

  /** Where a call in flight can be taken up, although nothing of its reply is there to show yet. */
  notePoint(call: string, point: ResumePoint): void {
    if (runningTurn(this.#state)?.inFlight[call]) this.journal.notePoint(call, point);
  }

  /** What a call in flight is known to cost so far. */
  noteUsage(call: string, usage: Usage): void {
    if (runningTurn(this.#state)?.inFlight[call]) this.#usages.set(call, usage);
  }

  /** The alarm: whatever was set is gone, so where a turn runs a new one stands before anything else happens. */
  async wake(): Promise<void> {
    await this.#wakeUp.rang(runningTurn(this.#state) !== null);
    this.#look();
  }

  /**
   * At the alarm and at the timer in memory, which may take the alarm's place. What is owed is taken up first, and begun once the alarm
   * is set: so that is the net below this work, and not one that rings at once for it.
   */
  #look(): void {
    this.#empty();
    this.handle({ type: "clock" });
  }

  /** A fault of our own ends the turn; it never leaves it hanging. */
  fault(error: unknown): void {
    this.#report(error);
    const at = this.#clock.now();
    const decided = this.#failed(this.#state, at);
    if (decided.events.length > 0) this.#commit(decided, at);
    this.#perform();
  }

  /** Everything that can go wrong goes wrong here, before anything is written. */
  #decide(
    before: SessionState,
    input: Input,
    { files = null, wholeText = null, ...brought }: BroughtIn,
  ): Decided {
    try {
      const events = decide(before, input);
      if (events.length === 0) return { events, rows: [], state: before, records: [] };
      const state = events.reduce(evolve, before);
      const records = this.#records.render(before, events, brought);
      return {
        events,
        rows: events.map(toRow),
        state,
        records,
        ...this.#files(before, events, files, wholeText),
      };
    } catch (error) {
      if (input.type === "turn_requested") throw error;
      this.#report(error);
      return this.#failed(before, input.at);
    }
  }

  /** A fault of the platform is none of the run's: the object begins again. Only a fault of our own is told and gone on from. */
  #report(error: unknown): void {
    if (isPlatformFault(error)) {
      this.#ctx.abort(BEGINS_AGAIN);
      throw error;
    }
    logError("internal fault", this.facts.sessionId, error);
  }

  /** What the events mean for the agents' files, worked out now and written with them. */
  #files(
    before: SessionState,
    events: readonly SessionEvent[],
    brought: BroughtFiles | null,
    wholeText: ResultFile | null = null,
  ): Pick<Entry, "writeFiles"> {
    const entry = this.workspaces.entry(before, events, brought, wholeText);
    return { writeFiles: () => this.workspaces.write(entry) };
  }

  #failed(before: SessionState, at: number): Decided {
    const events = failInternally(before, at);
    const state = events.reduce(evolve, before);
    return {
      events,
      rows: events.map(toRow),
      state,
      records: [],
      ...this.#files(before, events, null),
    };
  }

  #commit(decided: Decided, at: number): void {
    this.journal.commit(decided, at);
    this.#state = decided.state;
    this.#endedAt = decided.events.some(({ type }) => isTerminal(type))
      ? at
      : runningTurn(decided.state)
        ? null
        : this.#endedAt;
    if (decided.events.some(isOwing)) this.#empty();
    for (const event of decided.events) {
      if (event.type === "call.completed" || event.type === "call.failed")
        this.#usages.delete(event.call);
      if (event.type === "answer.submitted") this.#written.answered(event.agent);
    }
  }

  #perform(): void {
    const state = this.#state;
    const now = this.#clock.now();
    for (const run of this.#runner.sync(owed(state), inFlight(state), now))
      this.#ctx.waitUntil(run);
    this.#arm(now);
  }

  #arm(now: number): void {
    const isRunning = runningTurn(this.#state) !== null;
    const next = isRunning ? nextTimerAt(this.#state, this.#toldAt) : this.#nextDeliveryAt(now);
    this.#ctx.waitUntil(this.#wakeUp.arm(isRunning, next === null ? null : next - now));
  }

  #nextDeliveryAt(now: number): number | null {
    const next = this.#deliveries.map((work) => work.nextAt(now)).filter((at) => at !== null);
    return next.length === 0 ? null : Math.min(...next);
  }

  /** Does what outlives turns; what fails waits for its next time, to which the alarm is set. */
  #empty(): void {
    for (const run of this.#deliveries.map((work) => work.start()))
      if (run) this.#ctx.waitUntil(run);
  }

  get #deliveries(): readonly Pick<Deliveries<unknown>, "start" | "nextAt">[] {
    return [this.#tellings, this.#fileWork, this.#containerWork];
  }

  /**
   * Stops for good, before the session is erased: what runs is cancelled, every turn's end is told, containers are destroyed, nothing
   * is brought to R2 any more, streams end, no timer stands.
   * Throws if an end could not be told or a container not be destroyed; then it may be called again, and that is tried again meanwhile.
   */
  async stop(): Promise<void> {
    this.handle({ type: "cancel_requested" });
    this.#oweContainers();
    try {
      await this.#tellings.finish();
      await this.#containerWork.finish();
    } catch (error) {
      this.#arm(this.#clock.now());
      throw error;
    }
    // What came to R2 after the session's files are erased there would stay for ever.
    await Promise.all([this.#fileWork.stop(), this.workspaces.close()]);
    // Readers are told of the last events only once those are on disk.
    await this.#ctx.storage.sync();
    this.journal.streams.end();
    await this.#wakeUp.arm(false, null);
  }

  /** A container whose end is owed already is owed it once. */
  #oweContainers(): void {
    const owed = new Set(this.#containerDuties.all().map(({ name }) => name));
    const duties = this.#containers?.duties() ?? [];
    this.#ctx.storage.transactionSync(() => {
      for (const duty of duties) if (!owed.has(duty.name)) this.#containerDuties.add(duty);
    });
  }

  /** What agents had written before the restart, for partial texts. */
  #restore(row: LogRow): void {
    const { items }: { items: DeltaItem[] } = JSON.parse(row.body);
    for (const item of items) {
      this.#written.add(item, item.text);
      this.journal.seed(item);
    }
  }
}

/** What comes with an input and is not for the rules. */
type BroughtIn = Brought & {
  files?: BroughtFiles | null;
  /** A reply's text that is too long for a final one, to be kept as a file. */
  wholeText?: ResultFile | null;
};

/** What leaves work behind that no run waits for. */
const isOwing = ({ type }: SessionEvent): boolean =>
  isTerminal(type) ||
  type === "answer.submitted" ||
  type === "presentation.completed" ||
  type === "tool.completed";

/** What follows from an input, complete before any of it is written. */
type Decided = Entry & { state: SessionState };

const randomSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
