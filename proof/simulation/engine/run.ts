import { type LogRow, toWire } from "../../../durable-objects/session/streams/frames";
import {
  emptySession,
  evolve,
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
import { User } from "./user";
import { VirtualTime } from "./virtual-time";
import { sessionPrefix } from "../../../r2-layout/session-files";
import { readStoredSnapshots, type StoredSnapshots } from "../../../simulated/stored-snapshots";

/** More steps than this mean a livelock. */
const MAX_STEPS = 60_000;
/** Steps between comparisons of the live state with the fold of the log. */
const CHECKPOINT = 400;
/**
 * Faults strike more often this long before a cancel, and this many calls before the last one of a
 * round.
 */
const NEAR_MS = 3_000;
const NEAR_CALLS = 6;
/**
 * Conversation length in tokens from which a compaction is near, in runs with long results and
 * small windows.
 */
const FILLING_TOKENS = 5_000;
/** The number of last rounds that count as near, in runs that use up all rounds. */
const LAST_ROUNDS = 2;

/** Changes the disk while no process runs. */
export type DiskChange = (disk: Platform["disk"]) => void;

/**
 * Runs the session of a situation to its end, in this process, without access to the real world.
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
    time.dropTimers(); // left by a run that threw
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
  #folded: { seq: number; state: SessionState } = { seq: 0, state: emptySession };
  #steps = 0;
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
        return self.#platform?.whereIs(null).head ?? 0;
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
      for (const client of this.#clients) client.disconnected();
      changeDisk(this.#platform.disk);
    };
    this.#platform.onBoot = (session) => this.#compare(session, "after a restart");
  }

  async play(): Promise<RunRecord> {
    const startedAt = this.#time.now;
    this.#watch();
    this.#disturb();
    this.#user.ask(1);
    const stuck = await this.#toTheEnd();
    const stored = await readStoredSnapshots(
      this.#platform.bucket.seen,
      sessionPrefix("simulated", SESSION),
    );
    return this.#record(startedAt, stuck, stored);
  }

  async #toTheEnd(): Promise<string | null> {
    for (;;) {
      await this.#time.settle();
      if (this.#isOver()) return null;
      this.#steps += 1;
      if (this.#steps > MAX_STEPS) return `still running after ${MAX_STEPS} steps`;
      if (this.#time.timeline.nextAt() === null) {
        // No request and no alarm is pending, so no work may be left. A client's next request
        // revives the object.
        if (!this.#platform.isAway || this.#hasWork()) return "no event is scheduled";
        this.#time.timeline.advanceTo(this.#platform.backAt);
        this.#platform.object();
        continue;
      }
      try {
        this.#time.timeline.runNext();
      } catch (error) {
        this.#platform.threw(error);
      }
      const { head } = this.#platform.whereIs(null);
      if (head > this.#head) this.#grew.push({ at: this.#time.now, head });
      this.#head = Math.max(head, this.#head);
      if (this.#steps % CHECKPOINT === 0) this.#checkpoint();
    }
  }

  /** Clients watch the turn or the session; some without deltas. */
  #watch(): void {
    if (this.#situation.habits.includes("unwatched")) return;
    const world = { platform: this.#platform, time: this.#time, faults: this.#faults };
    const many = this.#chance.int(1, 3);
    for (let nth = 0; nth < many; nth += 1) {
      const subscription = {
        turn: nth === 1 ? null : this.#chance.int(1, this.#user.turns),
        deltas: nth !== 2,
      };
      this.#clients.push(
        new Client(subscription, new Chance(this.#situation.seed ^ (nth + 77)), world),
      );
    }
  }

  /** Faults from outside, independent of the session's work. */
  #disturb(): void {
    const { timeline } = this.#time;
    const beat = (): void => {
      if (this.#platform.live && this.#faults.strikes("crash_at_random")) this.#platform.kill();
      if (this.#faults.strikes("clock_forward"))
        this.#time.setClock(this.#faults.chance("clock_forward").latency(10, 3_600_000));
      if (this.#faults.strikes("clock_back"))
        this.#time.setClock(-this.#faults.chance("clock_back").latency(1, 3_600_000));
      if (this.#time.now < this.#faults.calmAt)
        timeline.schedule(this.#time.now + this.#chance.latency(50, 8_000), beat);
    };
    timeline.schedule(this.#time.now + this.#chance.latency(50, 5_000), beat);
  }

  /**
   * Whether the event that the run aims at may be next: a restart, the user's cancel, an agent out
   * of rounds or calls, or a full conversation.
   */
  #isNear(): boolean {
    const { habits } = this.#situation;
    if (this.#user?.cancelsAt - this.#time.now < NEAR_MS) return true;
    const live = this.#platform?.live;
    const attempt = live && runningTurn(live.coordinator.state)?.attempt;
    if (!attempt) return false;
    if (habits.includes("strict_judges") && attempt.settled) return true;
    const most = (of: (agent: AgentState) => number): number => Math.max(...attempt.agents.map(of));
    if (
      habits.includes("prolific") &&
      most(({ rounds }) => rounds) > LIMITS.roundsPerAgent - LAST_ROUNDS
    )
      return true;
    if (
      habits.includes("long_results") &&
      most(({ round }) => round?.contextTokens ?? 0) > FILLING_TOKENS
    )
      return true;
    const calls = live.coordinator.state.rules?.max_calls_per_round ?? LIMITS.callsPerRound;
    return (
      habits.includes("endless_tools") &&
      most(({ round }) => round?.calls ?? 0) >= calls - NEAR_CALLS
    );
  }

  #hasWork(): boolean {
    return (
      this.#count("outbox") > 0 ||
      this.#count("file_duties") > 0 ||
      this.#count("turns WHERE last_seq IS NULL") > 0
    );
  }

  #isOver(): boolean {
    const { disk } = this.#platform;
    if (this.#platform.isAway) return false;
    if (this.#user.acknowledged.length < this.#user.turns) return false;
    const { head, place } = this.#platform.whereIs(this.#user.turns);
    if (place?.lastSeq == null || disk.isDirty) return false;
    if (this.#clients.some((client) => !client.isDone && client.lastId < this.#due(client, head)))
      return false;
    return this.#count("outbox") === 0 && this.#count("file_duties") === 0;
  }

  /** The last id that a client will receive. */
  #due({ subscription }: Client, head: number): number {
    return subscription.turn === null
      ? head
      : (this.#platform.whereIs(subscription.turn).place?.lastSeq ?? head);
  }

  #count(
    table: "outbox" | "file_duties" | "resume_points" | "turns WHERE last_seq IS NULL",
  ): number {
    return (
      this.#platform.disk.read<{ rows: number }>(`SELECT count(*) AS rows FROM ${table}`)[0]
        ?.rows ?? 0
    );
  }

  /** All snapshots, with the files that the API would return. */
  #frozen(): StoredSnapshots["trees"] {
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
   * The fold of the log from the start. Durable events are folded once. Deltas are most of the log
   * and do not change the state.
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

  /** I19: the live state equals the fold of the log from the start. */
  #compare({ coordinator }: LiveSession, when: string): void {
    const folded = this.#fold();
    const live = coordinator.state;
    const same = runningTurn(live)
      ? isSame(folded, live)
      : folded.turns === live.turns &&
        folded.lastAt === live.lastAt &&
        runningTurn(folded) === null;
    if (!same)
      this.#folds.push(
        `the live state differs from the fold of the log, ${when} at ${this.#time.now}`,
      );
  }

  #record(startedAt: number, stuck: string | null, stored: StoredSnapshots): RunRecord {
    const session = this.#platform.live;
    if (session) this.#compare(session, "at the end");
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
      folds: this.#folds,
      stuck,
      stored,
      frozen: this.#frozen(),
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
 * Compares by content, ignoring the order of keys. Equal JSON text, the usual case, is checked
 * first.
 */
function isSame(one: SessionState, other: SessionState): boolean {
  const [left, right] = [JSON.stringify(one), JSON.stringify(other)];
  return left === right || isDeepStrictEqual(JSON.parse(left), JSON.parse(right));
}
