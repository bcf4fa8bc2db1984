import type { Chance } from "../../../simulated/chance";
import { sizesOf } from "../../../src/agents/history";
import type { HistoryFacts } from "../../../src/coordination";
import type { PinnedContext } from "../../../src/protocol/events";
import type { LiveSession, Platform } from "./platform";
import { PROJECT_TURNS, ProjectUser } from "./project-user";
import { QueueUser } from "./queue-user";
import type { SessionSetup, EngineSituation } from "./engine-situation";
import { TeamUser } from "./team-user";
import { TREE_TURNS, treeQuestion, TreeUser } from "./tree-user";
import type { VirtualTime } from "./virtual-time";

/** What the user needs of the run. */
type World = {
  situation: EngineSituation;
  setup: SessionSetup;
  time: VirtualTime;
  platform: Platform;
  /** The run's random generator. The order of its draws determines what a seed plays. */
  chance: Chance;
};

/**
 * The user of a simulated session. Requests the turns, and in some runs cancels the last turn.
 * Repeats each request until it is confirmed.
 */
export class User {
  /** Number of turns that the user requests. */
  readonly turns: number;
  /** Turns whose start was confirmed. */
  readonly acknowledged: number[] = [];
  /** Confirmed cancels, with the turn's status at that time. */
  readonly cancels: { at: number; head: number; turn: number; status: string }[] = [];
  /** Head of the log at each cancel request, confirmed or not. */
  readonly cancelsAsked: number[] = [];
  /** Time of the first cancel request; infinite if the user does not cancel. */
  cancelsAt = Number.POSITIVE_INFINITY;
  /** When the user first requested each turn. */
  readonly requestedAt = new Map<number, number>();
  /** Moves of the head; `null` if the session has no branches. */
  readonly tree: TreeUser | null;
  /** The teams of turns; `null` if all turns ask the same team. */
  readonly teams: TeamUser | null;
  /** Questions during turns; `null` if the session has no queue. */
  readonly queue: QueueUser | null;
  /** Pushes and pulls of a project; `null` if the session has no project. */
  readonly project: ProjectUser | null;
  readonly #situation: EngineSituation;
  readonly #setup: SessionSetup;
  readonly #time: VirtualTime;
  readonly #platform: Platform;
  readonly #chance: Chance;

  constructor({ situation, setup, time, platform, chance }: World) {
    const isProject = situation.habits.includes("projects");
    const isTree = situation.habits.includes("branches");
    const isQueue = situation.habits.includes("queue");
    const usualTurns = situation.habits.includes("second_turn") && !isQueue ? 2 : 1;
    this.turns = isTree ? TREE_TURNS : isProject ? PROJECT_TURNS : usualTurns;
    this.project = isProject ? new ProjectUser(situation, platform.contexts) : null;
    this.tree = isTree ? new TreeUser({ seed: situation.seed, time, platform }) : null;
    const hasTeams = isTree && situation.habits.includes("teams");
    this.teams = hasTeams ? new TeamUser(situation.seed, setup.team) : null;
    this.queue = isQueue
      ? new QueueUser({
          ...{ seed: situation.seed, time, platform },
          onCancel: () => void this.cancelsAsked.push(platform.positionOf(null).head),
        })
      : null;
    this.#situation = situation;
    this.#setup = setup;
    this.#time = time;
    this.#platform = platform;
    this.#chance = chance;
  }

  /** Requests a turn. Repeats the request until the start is confirmed. */
  requestTurn(turn: number): void {
    if (!this.requestedAt.has(turn)) this.requestedAt.set(turn, this.#time.now);
    const again = (): void =>
      void this.#time.timeline.schedule(this.#time.now + 500, () => this.requestTurn(turn));
    const session = this.#platform.object();
    if (!session) return again();
    const deaths = this.#platform.deaths.length;
    const isStarted = session.coordinator.state.turns >= turn;
    if (this.project && !isStarted) return void this.#startProject(session, turn, again);
    if (!isStarted) this.#start(session, turn);
    if (this.#platform.deaths.length > deaths) return again();
    this.#awaitConfirmation(turn);
  }

  #awaitConfirmation(turn: number): void {
    let confirmed = false;
    void this.#platform.disk.whenDurable().then(() => {
      confirmed = true;
      this.#onConfirmed(turn);
    });
    this.#time.timeline.schedule(this.#time.now + 5_000, () => {
      if (!confirmed) this.requestTurn(turn);
    });
  }

  /** Starts a turn of a project. If the process crashes meanwhile, the request is repeated. */
  async #startProject(session: LiveSession, turn: number, again: () => void): Promise<void> {
    const isGone = (): boolean => this.#platform.live !== session;
    try {
      const parent = this.#parentFor(session, turn);
      await this.project?.start(session, { turn, parent }, (contexts, start) => {
        if (isGone()) return;
        session.workspaces.contextStates.begin(turn, start);
        this.#start(session, turn, contexts);
      });
    } catch (error) {
      this.#platform.onError(error);
    }
    if (isGone() || session.coordinator.state.turns < turn) return again();
    this.#awaitConfirmation(turn);
  }

  #onConfirmed(turn: number): void {
    if (this.acknowledged.includes(turn)) return;
    this.acknowledged.push(turn);
    const isLast = turn === this.turns;
    const { habits } = this.#situation;
    this.queue?.begin();
    if (isLast && habits.includes("cancel") && !this.queue) {
      // Small delays are more likely. In runs with tools all delays are equally likely, because
      // tool calls occur later.
      const afterMs = habits.includes("tools")
        ? this.#chance.int(1, 15_000)
        : this.#chance.latency(1, 90_000);
      this.cancelsAt = this.#time.now + afterMs;
      this.#time.timeline.schedule(this.cancelsAt, () => this.#cancel(2));
    }
    this.tree?.onStarted(turn);
    const cancelAfterMs = this.tree?.planOf(turn).cancelAfterMs ?? null;
    if (cancelAfterMs !== null)
      this.#time.timeline.schedule(this.#time.now + cancelAfterMs, () => this.#cancel(1));
    if (!isLast) this.#awaitTurn(turn);
  }

  /** Requests the next turn some time after this one has ended. */
  #awaitTurn(turn: number): void {
    this.#time.timeline.schedule(this.#time.now + 1_000, () => {
      const isRunning = this.#platform.object() !== null;
      const hasEnded = isRunning && this.#platform.positionOf(turn).place?.lastSeq != null;
      // The user cannot see an end that is not on disk. If the process crashes first, the turn
      // continues.
      if (!hasEnded || this.#platform.disk.isDirty) this.#awaitTurn(turn);
      else if (this.tree) this.tree.moveBefore(turn + 1, () => this.requestTurn(turn + 1));
      else this.requestTurn(turn + 1);
    });
  }

  #start(session: LiveSession, turn: number, contexts: PinnedContext[] = []): void {
    const { team, budget, timeoutMs } = this.#setup;
    const isLong = this.#situation.habits.includes("summaries");
    try {
      const parentTurn = this.#parentFor(session, turn);
      session.coordinator.handle({
        type: "turn_requested",
        rules: turn === 1 ? team.rules : null,
        ...this.teams?.begin(session.teams, { turn, parent: parentTurn }),
        question: this.tree ? treeQuestion(turn, isLong) : "Which way leads through the hills?",
        parentTurn,
        history: historyOf(session, parentTurn),
        budget,
        timeoutMs: this.tree?.planOf(turn).timeoutMs ?? timeoutMs,
        ...(contexts.length > 0 && { contexts }),
      });
    } catch (error) {
      this.#platform.onError(error);
    }
  }

  #parentFor(session: LiveSession, turn: number): number | null {
    if (this.tree) return this.tree.parentFor(session, turn);
    return turn === 1 ? null : turn - 1;
  }

  /** Cancels `times` times. Repeats each request until it is confirmed. */
  #cancel(times: number): void {
    if (times === 0) return;
    const again = (remainingTimes: number, ms: number): void =>
      void this.#time.timeline.schedule(this.#time.now + ms, () => this.#cancel(remainingTimes));
    const session = this.#platform.object();
    if (!session) return again(times, 500);
    const { coordinator, queries } = session;
    const { head } = this.#platform.positionOf(null);
    const at = this.#time.now;
    const turn = coordinator.state.turns;
    const deaths = this.#platform.deaths.length;
    this.cancelsAsked.push(head);
    try {
      coordinator.handle({ type: "cancel_requested" });
    } catch (error) {
      this.#platform.onError(error);
    }
    if (this.#platform.deaths.length > deaths) return again(times, 500);
    const status = queries.turn(turn)?.status ?? "none";
    let confirmed = false;
    void this.#platform.disk.whenDurable().then(() => {
      confirmed = true;
      this.cancels.push({ at, head, turn, status });
      this.#cancel(times - 1);
    });
    this.#time.timeline.schedule(this.#time.now + 5_000, () => {
      if (!confirmed) this.#cancel(times);
    });
  }
}

/** The sizes of the turns that a turn continues, as the service measures them. */
function historyOf({ queries }: LiveSession, parent: number | null): HistoryFacts | null {
  const entries = queries.history(parent);
  return entries.length === 0 ? null : { ...sizesOf(entries), requestBytes: [], attachedTokens: 0 };
}
