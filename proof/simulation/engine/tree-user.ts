import type { TurnPage } from "../../../durable-objects/session/session-api";
import { type HeadRefusal, headRefusal, parentOfNext } from "../../../src/coordination";
import { Chance } from "../../../simulated/chance";
import { hash } from "./faults";
import type { LiveSession, Platform } from "./platform";
import type { VirtualTime } from "./virtual-time";

/** Number of turns of a session with branches. */
export const TREE_TURNS = 6;
/** A turn that never exists in a simulated session. */
const NO_TURN = TREE_TURNS + 7;
const AGAIN_MS = 500;
const UNCONFIRMED_MS = 5_000;

/** What the user does before and during a turn. */
type TurnPlan = {
  /** The turns to which the user moves the head before the turn, in this order. */
  moves: readonly number[];
  /** How long the user waits before the turn, after the moves. The process may crash meanwhile. */
  pauseMs: number;
  /** The parent that the request names; `null` for none. `undefined`: the service decides. */
  named: number | null | undefined;
  /** A time limit so short that the turn usually fails; `null` if the turn has the usual one. */
  timeoutMs: number | null;
  /** When the user cancels the turn, after its start; `null` if the user does not. */
  cancelAfterMs: number | null;
  /** When the user tries to move the head while the turn runs, after its start. */
  triesAfterMs: readonly number[];
};

type World = { seed: number; time: VirtualTime; platform: Platform };

/**
 * The user of a session with branches: moves the head between turns, tries to move it during turns,
 * and asks from the head or from a named turn. Knows by its own actions where the head is.
 */
export class TreeUser {
  /** The parent of each turn, as the user expects it. */
  readonly parents = new Map<number, number | null>();
  /** The confirmed moves that changed the head, in order. */
  readonly moves: number[] = [];
  /** Answers of the service to requests that it must refuse, if they were other than expected. */
  readonly problems: string[] = [];
  /** Number of moves that were refused because a turn was running. */
  refused = 0;
  /** The head, as the user knows it. */
  head: number | null = null;
  /** The tree as the service returns it at the end; `null` if it was not read. */
  shown: TurnPage | null = null;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  planOf(turn: number): TurnPlan {
    const chance = new Chance(this.#world.seed ^ hash(`tree ${turn}`));
    const drawEarlier = (): number => chance.int(1, Math.max(1, turn - 1));
    const moves = turn === 1 ? [] : Array.from({ length: chance.int(0, 2) }, drawEarlier);
    const ends = chance.weighted({ itself: 14, cancelled: 4, failed: 3 });
    return {
      moves,
      pauseMs: chance.latency(1, 20_000),
      named: turn > 1 && chance.is(0.3) ? (chance.is(0.2) ? null : drawEarlier()) : undefined,
      timeoutMs: ends === "failed" ? chance.latency(1, 400) : null,
      cancelAfterMs: ends === "cancelled" && turn < TREE_TURNS ? chance.int(50, 20_000) : null,
      triesAfterMs: Array.from({ length: chance.int(1, 3) }, () => chance.latency(1, 20_000)),
    };
  }

  /** The parent of the turn's request, as the service chooses it. */
  parentFor({ coordinator }: LiveSession, turn: number): number | null {
    const { named } = this.planOf(turn);
    this.parents.set(turn, named === undefined ? this.head : named);
    return parentOfNext(coordinator.state, named);
  }

  /** Must be called when the start of a turn was confirmed. */
  onStarted(turn: number): void {
    const { time } = this.#world;
    this.head = turn;
    for (const afterMs of this.planOf(turn).triesAfterMs)
      time.timeline.schedule(time.now + afterMs, () => this.#tryMove(turn));
  }

  /** Moves the head as planned before `turn`, then calls `then`. Repeats unconfirmed requests. */
  moveBefore(turn: number, then: () => void): void {
    const { time } = this.#world;
    const { moves, pauseMs } = this.planOf(turn);
    this.#probeUnknownTurn();
    this.#moveTo(moves, () => void time.timeline.schedule(time.now + pauseMs, then));
  }

  #moveTo([target, ...rest]: readonly number[], then: () => void): void {
    if (target === undefined) return then();
    const { time, platform } = this.#world;
    const again = (): void => this.#moveTo([target, ...rest], then);
    const session = platform.object();
    if (!session) return void time.timeline.schedule(time.now + AGAIN_MS, again);
    const deaths = platform.deaths.length;
    const refusal = this.#request(session, target);
    if (refusal) this.problems.push(`a move to turn ${target} was refused: ${refusal.code}`);
    if (platform.deaths.length > deaths)
      return void time.timeline.schedule(time.now + AGAIN_MS, again);
    let isConfirmed = false;
    void platform.disk.whenDurable().then(() => {
      isConfirmed = true;
      if (this.head !== target) this.moves.push(target);
      this.head = target;
      this.#moveTo(rest, then);
    });
    time.timeline.schedule(time.now + UNCONFIRMED_MS, () => {
      if (!isConfirmed) again();
    });
  }

  /** Tries to move the head during a turn. Does nothing if no turn is running any more. */
  #tryMove(target: number): void {
    const session = this.#world.platform.object();
    if (!session) return;
    const latest = session.coordinator.state.turns;
    const place = session.log.turn(latest);
    if (place?.lastSeq !== null) return;
    const refusal = this.#request(session, Math.max(1, target - 1));
    if (refusal?.code === "turn_running" && refusal.turn === latest) this.refused += 1;
    else
      this.problems.push(
        `a move while turn ${latest} runs was answered with ${JSON.stringify(refusal)}`,
      );
  }

  #probeUnknownTurn(): void {
    const session = this.#world.platform.object();
    const refusal = session && this.#request(session, NO_TURN);
    if (session && refusal?.code !== "turn_not_found")
      this.problems.push(
        `a move to turn ${NO_TURN}, which does not exist, was answered with ${JSON.stringify(refusal)}`,
      );
  }

  /** Requests a move as the session's object does. */
  #request({ coordinator }: LiveSession, turn: number): HeadRefusal | null {
    const refusal = headRefusal(coordinator.state, turn);
    if (refusal) return refusal;
    try {
      coordinator.handle({ type: "head_requested", turn });
    } catch (error) {
      this.#world.platform.onError(error);
    }
    return null;
  }
}

/** The question of a turn. It contains a mark by which the checks find it in later prompts. */
export const treeQuestion = (turn: number, isLong = false): string =>
  `Which way leads through the hills? hq${turn}hq${isLong ? LONG : ""}`;
/** Text that makes a question so long that two turns need a summary. */
const LONG = " over the long ridge".repeat(500);
/** A mark of a question. The number is the turn. */
export const QUESTION_MARK = /hq(\d+)hq/g;
