import { type LogRow, toWire } from "../../../durable-objects/session/streams/frames";
import {
  emptySession,
  evolve,
  headOf,
  runningTurn,
  type AgentState,
  type SessionState,
} from "../../../src/coordination";
import { LIMITS } from "../../../src/coordination/limits";
import type { SessionEvent } from "../../../src/protocol/events";
import { isDeepStrictEqual } from "node:util";
import { Chance } from "../../../simulated/chance";
import { Client } from "./clients";
import { Faults } from "./faults";
import { type LiveSession, Platform } from "./platform";
import type { RunRecord } from "./run-record";
import { type SessionSetup, drawSession, type EngineSituation, SESSION } from "./engine-situation";
import { CLOSED_WITHIN_MS } from "./outside";
import { WRONG_QUEUE } from "./outside-progress";
import { contextStatesOf } from "./project-states";
import { User } from "./user";
import { VirtualTime } from "./virtual-time";
import { sessionPrefix } from "../../../r2-layout/session-files";
import { readStoredSnapshots, type StoredSnapshots } from "../../../simulated/stored-snapshots";

/** Maximum number of steps. A run with more steps is considered a livelock. */
const MAX_STEPS = 60_000;
/**
 * Number of steps after the first problem of a queue, after which the run ends: a wrong queue may
 * never be empty.
 */
const STEPS_AFTER_PROBLEM = 3_000;
/** Number of steps between two comparisons of the state in memory with the fold of the log. */
const CHECKPOINT_STEPS = 400;
/** The time before a cancel in which faults strike more often. */
const NEAR_MS = 3_000;
/** The number of calls before the last call of a round during which faults strike more often. */
const NEAR_CALLS = 6;
/**
 * Conversation length in tokens from which a compaction is near. For runs with long tool results
 * and small context windows.
 */
const NEAR_COMPACTION_TOKENS = 5_000;
/** The number of last rounds in which faults strike more often, in runs that use all rounds. */
const LAST_ROUNDS = 2;

/** Changes the disk while no process runs. */
export type DiskChange = (disk: Platform["disk"]) => void;

/**
 * Runs the session of a situation to its end, in this process. The session has no access to the
 * real clock, network, disk or randomness.
 */
export async function runEngine(
  situation: EngineSituation,
  changeDisk: DiskChange = () => {},
): Promise<RunRecord> {
  const time = new VirtualTime(situation.seed);
  const restore = time.install();
  try {
    return await new Run(situation, time, changeDisk).play();
  } finally {
    time.dropTimers(); // A run that onError may have pending timers.
    restore();
  }
}

class Run {
  readonly #situation: EngineSituation;
  readonly #time: VirtualTime;
  readonly #setup: SessionSetup;
  readonly #faults: Faults;
  readonly #platform: Platform;
  readonly #user: User;
  readonly #chance: Chance;
  readonly #clients: Client[] = [];
  readonly #folds: string[] = [];
  readonly #grew: { at: number; head: number }[] = [];
  /** The fold of all durable events up to `seq`. */
  #folded: { seq: number; state: SessionState } = { seq: 0, state: emptySession };
  #steps = 0;
  /** The step before which the queue had no problem; `null` while it has none. */
  #wrongSince: number | null = null;
  #head = 0;

  constructor(situation: EngineSituation, time: VirtualTime, changeDisk: DiskChange) {
    this.#situation = situation;
    this.#time = time;
    this.#setup = drawSession(situation);
    this.#chance = new Chance(situation.seed ^ 0x7f4a7c15);
    const self = this;
    const world = {
      get now() {
        return time.now;
      },
      get head() {
        return self.#platform?.positionOf(null).head ?? 0;
      },
      get isNear() {
        return self.#isNear();
      },
    };
    const { calmAfterMs, isLate } = this.#setup;
    const plan = { ...situation, calmAfterMs, isLate };
    this.#faults = new Faults(plan, world);
    this.#platform = new Platform({ situation, setup: this.#setup, time, faults: this.#faults });
    const platform = this.#platform;
    this.#user = new User({ situation, setup: this.#setup, time, platform, chance: this.#chance });
    this.#platform.onDeath = () => {
      for (const client of this.#clients) client.onDisconnect();
      changeDisk(this.#platform.disk);
    };
    this.#platform.onBoot = (session) => this.#compare(session, "after a restart");
  }

  async play(): Promise<RunRecord> {
    const startedAt = this.#time.now;
    this.#addClients();
    this.#scheduleRandomFaults();
    this.#user.requestTurn(1);
    const stuck = await this.#runToEnd();
    await this.#letConnectionsEnd();
    const stored = await readStoredSnapshots(
      this.#platform.bucket.stored,
      sessionPrefix("simulated", SESSION),
    );
    return this.#record(startedAt, stuck, stored);
  }

  /** Returns why the run did not end; `null` if it ended. */
  async #runToEnd(): Promise<string | null> {
    for (;;) {
      await this.#time.settle();
      if (this.#isOver()) return null;
      this.#steps += 1;
      if (this.#steps > MAX_STEPS) return `still running after ${MAX_STEPS} steps`;
      if (this.#isQueueWrong()) return WRONG_QUEUE;
      if (this.#time.timeline.nextAt() === null) {
        // No request and no alarm is pending, so there must be no pending work. If the object is
        // not running, the next request of a client revives it.
        if (!this.#platform.isAway || this.#hasWork()) return "no event is scheduled";
        this.#time.timeline.advanceTo(this.#platform.backAt);
        this.#platform.object();
        continue;
      }
      this.#runNext();
      const { head } = this.#platform.positionOf(null);
      if (head > this.#head) this.#grew.push({ at: this.#time.now, head });
      this.#head = Math.max(head, this.#head);
      if (this.#steps % CHECKPOINT_STEPS === 0) this.#checkpoint();
    }
  }

  #isQueueWrong(): boolean {
    if ((this.#user.queue?.model.problems.length ?? 0) === 0) return false;
    this.#wrongSince ??= this.#steps;
    return this.#steps - this.#wrongSince > STEPS_AFTER_PROBLEM;
  }

  /** The connection of a complete reply may outlive the last turn, but only for a short time. */
  async #letConnectionsEnd(): Promise<void> {
    const until = this.#time.now + CLOSED_WITHIN_MS;
    for (;;) {
      await this.#time.settle();
      const nextAt = this.#time.timeline.nextAt();
      if (!this.#platform.providers.hasOpen || nextAt === null || nextAt > until) return;
      this.#runNext();
    }
  }

  #runNext(): void {
    try {
      this.#time.timeline.runNext();
      this.#user.queue?.model.observe();
    } catch (error) {
      this.#platform.onError(error);
    }
  }

  /** Adds one to three clients. They watch a turn or the session; the third has no deltas. */
  #addClients(): void {
    if (this.#situation.habits.includes("unwatched")) return;
    const world = { platform: this.#platform, time: this.#time, faults: this.#faults };
    const count = this.#chance.int(1, 3);
    for (let nth = 0; nth < count; nth += 1) {
      const subscription = {
        turn: nth === 1 ? null : this.#chance.int(1, this.#user.turns),
        deltas: nth !== 2,
      };
      this.#clients.push(
        new Client(subscription, new Chance(this.#situation.seed ^ (nth + 77)), world),
      );
    }
  }

  /** Schedules crashes and clock changes at random times, independent of the session's work. */
  #scheduleRandomFaults(): void {
    const { timeline } = this.#time;
    const drawFaults = (): void => {
      if (this.#platform.live && this.#faults.strikes("crash_at_random")) this.#platform.kill();
      if (this.#faults.strikes("clock_forward"))
        this.#time.setClock(this.#faults.chance("clock_forward").latency(10, 3_600_000));
      if (this.#faults.strikes("clock_back"))
        this.#time.setClock(-this.#faults.chance("clock_back").latency(1, 3_600_000));
      if (this.#time.now < this.#faults.calmAt)
        timeline.schedule(this.#time.now + this.#chance.latency(50, 8_000), drawFaults);
    };
    timeline.schedule(this.#time.now + this.#chance.latency(50, 5_000), drawFaults);
  }

  /**
   * Whether an event at which runs aim may be next: a restart, the user's cancel, an agent without
   * further rounds or calls, or the compaction of a long conversation.
   */
  #isNear(): boolean {
    const { habits } = this.#situation;
    if (this.#user?.cancelsAt - this.#time.now < NEAR_MS) return true;
    const live = this.#platform?.live;
    const attempt = live && runningTurn(live.coordinator.state)?.attempt;
    if (!attempt) return false;
    if (habits.includes("strict_judges") && attempt.settled) return true;
    const maxOfAgents = (of: (agent: AgentState) => number): number =>
      Math.max(...attempt.agents.map(of));
    if (
      habits.includes("prolific") &&
      maxOfAgents(({ rounds }) => rounds) > LIMITS.roundsPerAgent - LAST_ROUNDS
    )
      return true;
    if (
      habits.includes("long_results") &&
      maxOfAgents(({ round }) => round?.contextTokens ?? 0) > NEAR_COMPACTION_TOKENS
    )
      return true;
    const calls = live.coordinator.state.rules?.max_calls_per_round ?? LIMITS.callsPerRound;
    return (
      habits.includes("endless_tools") &&
      maxOfAgents(({ round }) => round?.calls ?? 0) >= calls - NEAR_CALLS
    );
  }

  #hasWork(): boolean {
    return (
      this.#count("outbox") > 0 ||
      this.#count("file_duties") > 0 ||
      this.#count("queue") > 0 ||
      this.#count("turns WHERE last_seq IS NULL") > 0
    );
  }

  #isOver(): boolean {
    const { disk } = this.#platform;
    if (this.#platform.isAway) return false;
    if (this.#user.acknowledged.length < this.#user.turns) return false;
    if (this.#user.queue && !this.#user.queue.isDone) return false;
    const { head, place } = this.#platform.positionOf(this.#user.turns);
    if (place?.lastSeq == null || disk.isDirty) return false;
    if (
      this.#clients.some(
        (client) => !client.isDone && client.lastId < this.#lastIdFor(client, head),
      )
    )
      return false;
    return this.#count("outbox") === 0 && this.#count("file_duties") === 0;
  }

  /** The last id that a client must receive. */
  #lastIdFor({ subscription }: Client, head: number): number {
    return subscription.turn === null
      ? head
      : (this.#platform.positionOf(subscription.turn).place?.lastSeq ?? head);
  }

  #count(
    table: "outbox" | "file_duties" | "queue" | "resume_points" | "turns WHERE last_seq IS NULL",
  ): number {
    return (
      this.#platform.disk.read<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`)[0]
        ?.rows ?? 0
    );
  }

  /** The files of every snapshot that the API would return. */
  #filesOverApi(): StoredSnapshots["trees"] {
    const session = this.#platform.live;
    const places = this.#platform.disk.read<{ turn: number; attempt: number; label: string }>(
      "SELECT DISTINCT turn, attempt, label FROM snapshots",
    );
    const trees = places.map(({ turn, attempt, label }) => {
      const { tree } = session?.workspaces.frozen(turn, { attempt, label, snapshot: label }) ?? {
        tree: [],
      };
      return [
        `${turn}/${attempt}/${label}`,
        Object.fromEntries(tree.map(({ path, hash, size }) => [path, `${hash} ${size}`])),
      ];
    });
    return Object.fromEntries(trees);
  }

  #rows(): LogRow[] {
    return this.#platform.disk.read<LogRow>(
      "SELECT seq, turn, attempt, agent, type, at, body FROM events UNION ALL SELECT seq, turn, NULL, NULL, 'stream.delta', at, body FROM deltas ORDER BY seq",
    );
  }

  #checkpoint(): void {
    const session = this.#platform.live;
    if (session) this.#compare(session, "while it runs");
  }

  /**
   * The fold of the log. Durable events are folded only once, to save time. Deltas, which are most
   * of the log, are left out, because they do not change the state.
   */
  #fold(): SessionState {
    const { disk } = this.#platform;
    const rows = disk.read<LogRow>(
      "SELECT seq, turn, attempt, agent, type, at, body FROM events WHERE seq > ? ORDER BY seq",
      this.#folded.seq,
    );
    const state = rows
      .map((row): SessionEvent => toWire(row, SESSION))
      .reduce(evolve, this.#folded.state);
    if (!disk.isDirty) this.#folded = { seq: rows.at(-1)?.seq ?? this.#folded.seq, state };
    return state;
  }

  /** I19: records a difference between the state in memory and the fold of the log. */
  #compare({ coordinator }: LiveSession, when: string): void {
    const folded = this.#fold();
    const live = coordinator.state;
    const isEqual = runningTurn(live)
      ? isEqualState(folded, live)
      : folded.turns === live.turns &&
        folded.lastAt === live.lastAt &&
        headOf(folded) === headOf(live) &&
        runningTurn(folded) === null;
    if (!isEqual)
      this.#folds.push(
        `the live state differs from the fold of the log, ${when} at ${this.#time.now}`,
      );
  }

  #record(startedAt: number, stuck: string | null, stored: StoredSnapshots): RunRecord {
    const session = this.#platform.live;
    if (session) this.#compare(session, "at the end");
    const { tree } = this.#user;
    if (tree) tree.shown = session?.queries.turns(0, this.#user.turns + 1) ?? null;
    const rows = this.#rows();
    const record: RunRecord = {
      situation: this.#situation,
      setup: this.#setup,
      log: rows.map((row) => toWire(row, SESSION)),
      rows,
      clients: this.#clients,
      platform: this.#platform,
      faults: this.#faults,
      acknowledged: this.#user.acknowledged,
      cancels: this.#user.cancels,
      cancelsAsked: this.#user.cancelsAsked,
      requestedAt: this.#user.requestedAt,
      tree,
      teams: this.#user.teams,
      queue: this.#user.queue,
      directStarts: new Set(
        this.#platform.disk.read<{ id: string }>("SELECT id FROM starts").map(({ id }) => id),
      ),
      folds: this.#folds,
      stuck,
      stored,
      frozen: this.#filesOverApi(),
      projectStarts: this.#user.project?.starts ?? [],
      contexts: session ? contextStatesOf(session, this.#platform.contexts) : new Map(),
      state: session?.coordinator.state ?? null,
      left: {
        outbox: this.#count("outbox"),
        duties: this.#count("file_duties"),
        points: this.#count("resume_points"),
      },
      steps: this.#steps,
      grew: this.#grew,
      startedAt,
      endedAt: this.#time.now,
    };
    this.#platform.close();
    return record;
  }
}

/**
 * Compares states without the order of their keys. The comparison of JSON text is faster and
 * usually sufficient.
 */
function isEqualState(one: SessionState, other: SessionState): boolean {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left === right || isDeepStrictEqual(JSON.parse(left), JSON.parse(right));
}
