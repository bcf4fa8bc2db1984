import { PartialTexts } from "../src/agents/partial";
import { type RenderInput, type RoundRecord, renderRecords } from "../src/agents/records";
import type { Team } from "../src/config/team";
import {
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
  type SessionState,
} from "../src/coordination";
import { type DeltaItem, isTerminal, type SessionEvent, type Usage } from "../src/protocol/events";
import { CallStore } from "./call-store";
import { DeltaBuffer, type DeltaSource } from "./delta-buffer";
import { EffectRunner, type Performer } from "./effect-runner";
import { EventStreams } from "./event-streams";
import { type LogRow, type NewRow, toJson, toRow } from "./frames";
import { CALL_SLOTS } from "./limits";
import type { SessionLog } from "./session-log";
import { SessionQueries } from "./session-queries";
import { WakeUp } from "./wake-up";

/** What the conversation gains beside the events: texts that only the performer of an effect has seen. */
export type Brought = Partial<Pick<RenderInput, "reply" | "toolResult">>;

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
  /** Makes the performer of effects; it tells the engine what came of them. */
  performer: (engine: Engine) => Performer;
};

/**
 * The running session: inputs in, facts to disk, effects out. Computes first, then one transaction, then performs; nothing
 * awaits in between, so no other input can slip in. Recovery is the same path: `boot` folds the log and goes on.
 */
export class Engine {
  readonly facts: SessionFacts;
  readonly calls: CallStore;
  readonly streams: EventStreams;
  readonly queries: SessionQueries;
  readonly #ctx: DurableObjectState;
  readonly #log: SessionLog;
  readonly #runner: EffectRunner;
  readonly #wakeUp: WakeUp;
  readonly #deltas: DeltaBuffer;
  readonly #written = new PartialTexts();
  #state: SessionState = emptySession;
  readonly #usages = new Map<string, Usage>();
  #endedAt: number | null = null;
  /** Time of the last input: what was due by then is dealt with. */
  #toldAt = 0;
  #earlier: { turn: number; history: History } | null = null;

  constructor(options: Options) {
    const { ctx, log, sessionId } = options;
    this.facts = options;
    this.#ctx = ctx;
    this.#log = log;
    this.calls = new CallStore(ctx.storage.sql);
    this.queries = new SessionQueries(log, sessionId);
    this.streams = new EventStreams({ log, sessionId, endedAt: () => this.#endedAt });
    this.#wakeUp = new WakeUp(ctx.storage, () => this.handle({ type: "clock" }));
    this.#deltas = new DeltaBuffer({ onDue: () => this.#flush(), isWatched: () => this.streams.watched });
    this.#runner = new EffectRunner(options.performer(this), CALL_SLOTS);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Folds the latest turn, tells the rules what a restart cut off, and goes on. A log that does not fold ends its turn. */
  boot(): void {
    const latest = this.#log.turns().at(-1);
    if (!latest) return;
    try {
      this.#fold(1, 1);
      this.#fold(latest.firstSeq, latest.lastSeq ?? this.#log.head);
    } catch (error) {
      return this.fault(error);
    }
    this.#endedAt = latest.lastSeq === null ? null : this.#state.lastAt;
    if (latest.lastSeq === null) this.#resume(latest.firstSeq);
  }

  #resume(firstSeq: number): void {
    for (const row of this.#log.readDeltas(firstSeq)) this.#restore(row);
    const cutOff = inFlight(this.#state);
    console.log("resumed", this.facts.sessionId, `boot ${this.facts.boot}`, `${cutOff.length} effects interrupted`);
    for (const effect of cutOff) this.handle({ type: "effect_interrupted", effect, workspaceFiles: null });
    this.handle({ type: "clock" });
  }

  /**
   * Whatever happened, told to the rules; gives the facts that followed. Throws only where a turn could not even be started,
   * and then nothing was written.
   */
  handle(body: InputBody, brought: Brought = {}): readonly SessionEvent[] {
    const before = this.#state;
    const input: Input = {
      ...body,
      at: Date.now(),
      seed: randomSeed(),
      partials: this.#written.partials(before),
      usages: Object.fromEntries(this.#usages),
    };
    this.#toldAt = Math.max(this.#toldAt, input.at);
    const decided = this.#decide(before, input, brought);
    if (decided.events.length > 0) this.#commit(decided, input.at);
    this.#perform();
    return decided.events;
  }

  /** A piece of what a model is writing; too late if nobody waits for its call any more. */
  write(source: DeltaSource, text: string): void {
    if (!runningTurn(this.#state)?.inFlight[source.call]) return;
    this.#written.add(source, text);
    this.#deltas.add(source, text);
  }

  /** What a call in flight is known to cost so far. */
  noteUsage(call: string, usage: Usage): void {
    this.#usages.set(call, usage);
  }

  /** The alarm: whatever was set is gone, so a new one stands before anything else happens. */
  async wake(): Promise<void> {
    await this.#wakeUp.rang(runningTurn(this.#state) !== null);
    this.handle({ type: "clock" });
  }

  /** A fault of our own ends the turn; it never leaves it hanging. */
  fault(error: unknown): void {
    console.error("internal fault", this.facts.sessionId, error instanceof Error ? error.stack : error);
    const decided = this.#failed(this.#state);
    if (decided.events.length > 0) this.#commit(decided, Date.now());
    this.#perform();
  }

  /** Everything that can go wrong goes wrong here, before anything is written. */
  #decide(before: SessionState, input: Input, brought: Brought): Decided {
    try {
      const events = decide(before, input);
      if (events.length === 0) return { events, rows: [], state: before, records: [] };
      const state = events.reduce(evolve, before);
      return { events, rows: events.map(toRow), state, records: this.#render(before, { events, ...brought }) };
    } catch (error) {
      if (input.type === "turn_requested") throw error;
      console.error("internal fault", this.facts.sessionId, error instanceof Error ? error.stack : error);
      return this.#failed(before);
    }
  }

  #failed(before: SessionState): Decided {
    const events = failInternally(before, Date.now());
    return { events, rows: events.map(toRow), state: events.reduce(evolve, before), records: [] };
  }

  #render(before: SessionState, brought: Brought & { events: SessionEvent[] }): RoundRecord[] {
    const turn = brought.events.at(-1)?.turn ?? 0;
    return renderRecords({
      before,
      events: brought.events,
      team: this.facts.team,
      nonce: (agent, attempt) => this.facts.nonce(turn, attempt, agent),
      history: brought.events.some(({ type }) => type.endsWith("started")) ? this.#history(brought.events) : [],
      reply: brought.reply ?? null,
      toolResult: brought.toolResult ?? null,
      planned: [],
    });
  }

  /** Earlier turns never change, so they are read once for a turn. */
  #history(events: readonly SessionEvent[]): History {
    const started = events.find((event) => event.type === "turn.started");
    const number = started?.turn ?? runningTurn(this.#state)?.number ?? 0;
    if (this.#earlier?.turn === number) return this.#earlier.history;
    const parent = started ? started.parent_turn : (this.#log.turn(number)?.parent ?? null);
    this.#earlier = { turn: number, history: this.queries.history(parent) };
    return this.#earlier.history;
  }

  /** One transaction: what was written so far, the facts, and the private payloads that belong to them. */
  #commit({ events, rows, state, records }: Decided, at: number): void {
    const ended = events.find(({ type }) => isTerminal(type));
    const written = this.#write(() => {
      const deltas = this.#appendDeltas(at);
      const facts = this.#log.append(rows);
      for (const [nth, event] of events.entries()) {
        if (event.type === "turn.started") this.#log.placeTurn(event.turn, event.parent_turn, facts[nth]?.seq ?? 0);
      }
      this.calls.append(events.at(-1)?.turn ?? 0, records);
      this.queries.note(facts, ended?.turn ?? null);
      return [...deltas, ...facts];
    });
    this.#state = state;
    this.#endedAt = ended ? at : runningTurn(state) ? null : this.#endedAt;
    for (const event of events) {
      if (event.type === "call.completed" || event.type === "call.failed") this.#forget(event.call);
    }
    this.#publish(written);
  }

  #forget(call: string): void {
    this.#deltas.forget(call);
    this.#usages.delete(call);
  }

  /** All or nothing. If the disk refuses, memory is not to be trusted any more: the object begins again from what is stored. */
  #write(work: () => LogRow[]): LogRow[] {
    try {
      return this.#ctx.storage.transactionSync(work);
    } catch (error) {
      this.#ctx.abort("a transaction failed");
      throw error;
    }
  }

  #appendDeltas(at: number): LogRow[] {
    const turn = runningTurn(this.#state);
    const items = this.#deltas.take(at);
    return turn ? items.map((row) => this.#log.appendDelta(turn.number, at, row)) : [];
  }

  #flush(): void {
    const rows = this.#write(() => this.#appendDeltas(Date.now()));
    if (rows.length > 0) this.#publish(rows);
  }

  /** Readers may know of it once it cannot be lost any more. */
  #publish(rows: LogRow[]): void {
    this.#ctx.waitUntil(this.#ctx.storage.sync().then(() => this.streams.publish(rows)));
  }

  #perform(): void {
    const state = this.#state;
    for (const run of this.#runner.sync(owed(state), inFlight(state), Date.now())) this.#ctx.waitUntil(run);
    this.#ctx.waitUntil(this.#wakeUp.arm(runningTurn(state) !== null, nextTimerAt(state, this.#toldAt)));
  }

  /** What agents had written before the restart, for partial texts. */
  #restore(row: LogRow): void {
    const { items }: { items: DeltaItem[] } = JSON.parse(row.body);
    for (const item of items) this.#written.add(item, item.text);
  }

  #fold(from: number, to: number): void {
    for (const row of this.#log.read({ after: from - 1, upTo: to, deltas: false })) {
      const event: SessionEvent = JSON.parse(toJson(row, this.facts.sessionId));
      this.#state = evolve(this.#state, event);
    }
  }
}

/** `rows` are the events as they will be stored. */
type Decided = { events: readonly SessionEvent[]; rows: NewRow[]; state: SessionState; records: RoundRecord[] };

type History = readonly { question: string; answer: string }[];

const randomSeed = (): number => crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
