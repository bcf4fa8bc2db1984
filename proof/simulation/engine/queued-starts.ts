import { Mutex } from "../../../src/async/mutex";
import type { TurnTeams } from "../../../durable-objects/session/turn-teams";
import type { SessionParts } from "../../../durable-objects/session/compose";
import type { Engine } from "../../../src/engine/engine";
import { failQueuedTurn } from "../../../durable-objects/session/admission/refused-turn";
import type { QueuedStarts } from "../../../durable-objects/session/queue/queue-worker";
import type {
  StartedTurn,
  StartRefusal,
  StartTurn,
} from "../../../durable-objects/session/session-api";
import { mayStart, parentOfNext, turnRefusal } from "../../../src/coordination";
import { Chance } from "../../../simulated/chance";
import type { VirtualTime } from "./virtual-time";

/** The key of requests that may not start before another key has resumed the queue. */
export const REVOKED_KEY = "revoked";
/** Questions that end like this are refused at their start. */
export const REFUSED_MARK = "with a context that does not exist?";

type LiveSession = SessionParts & { teams: TurnTeams; engine: Engine };

type Options = {
  seed: number;
  time: VirtualTime;
  /** The running session; `null` if the process has crashed. */
  live: () => LiveSession | null;
  /** Resolves when all earlier writes are on disk. */
  gate: () => Promise<void>;
  /** Called when the service is answered that the key of a request is revoked. */
  onRevokedKey: () => void;
};

const NEVER = new Promise<never>(() => undefined);

/**
 * Admits turns as the session's object does, with a simulated tenant that takes its time, and that
 * sometimes has no place or cannot be reached.
 */
export class SimulatedAdmission {
  readonly #options: Options;
  readonly #chance: Chance;
  readonly #mutex = new Mutex();

  constructor(options: Options) {
    this.#options = options;
    this.#chance = new Chance(options.seed ^ 0x3c6ef372);
  }

  /** The starts of the queue. */
  queuedStarts(): QueuedStarts {
    const { live, onRevokedKey } = this.#options;
    return {
      isAllowed: async ({ keyId }) => {
        await this.#wait();
        const isRevoked = keyId === REVOKED_KEY;
        if (isRevoked) onRevokedKey();
        return !isRevoked;
      },
      start: ({ turn, id }) => {
        const session = live();
        return session ? this.startTurn(session, { ...turn, queueId: id }) : NEVER;
      },
      fail: async ({ turn, id }, refusal) => {
        const session = live();
        const store = { put: () => this.#wait() };
        if (session) await failQueuedTurn(session, { ...turn, queueId: id }, refusal, store);
      },
      finish: () => this.#wait(),
    };
  }

  /** Starts a turn. */
  async startTurn(session: LiveSession, turn: StartTurn): Promise<StartedTurn | StartRefusal> {
    const release = await this.#mutex.acquire();
    try {
      return await this.#admit(session, turn);
    } finally {
      release();
    }
  }

  async #admit(session: LiveSession, turn: StartTurn): Promise<StartedTurn | StartRefusal> {
    const { coordinator, teams, queueStore, platform } = session;
    const known = turn.startId === undefined ? null : queueStore.startedAs(turn.startId);
    if (known !== null) return { ok: true, turn: known };
    const named = { parentTurn: turn.parentTurn ?? null };
    const refusal = turnRefusal(coordinator.state, named);
    if (refusal) return refusal;
    if (turn.question.endsWith(REFUSED_MARK))
      return { ok: false, code: "context_missing", names: ["nothing"] };
    await this.#wait();
    if (this.#chance.is(0.1)) throw new Error("Network connection lost.");
    if (this.#chance.is(0.2)) return { ok: false, code: "quota_exceeded", limit: 1, running: 1 };
    const { turns } = coordinator.state;
    if (turn.queueId !== undefined && !mayStart(queueStore.queue(), turn.queueId))
      return { ok: false, code: "turn_running", turn: turns };
    const { question, budget, timeoutMs, queueId } = turn;
    const parentTurn = parentOfNext(coordinator.state, turn.parentTurn);
    teams.begin(turns + 1, { base: teams.base(parentTurn), overridden: null });
    coordinator.handle({
      ...{ type: "turn_requested", rules: null, question, parentTurn, budget, timeoutMs },
      ...(queueId !== undefined && { queueId }),
    });
    if (turn.startId !== undefined)
      platform.storage.sql.exec(
        "INSERT INTO starts (id, turn) VALUES (?, ?)",
        ...[turn.startId, turns + 1],
      );
    return { ok: true, turn: turns + 1 };
  }

  /** The time that a request to another object takes. Never resolves if the process crashes. */
  async #wait(): Promise<void> {
    const { time, live, gate } = this.#options;
    const session = live();
    await gate();
    await new Promise<void>(
      (resolve) => void time.timeline.schedule(time.now + this.#chance.latency(1, 3_000), resolve),
    );
    if (live() !== session) await NEVER;
  }
}

type Process = {
  readonly live: LiveSession | null;
  readonly disk: { whenDurable(): Promise<void> };
  readonly deaths: readonly unknown[];
  readonly onRevokedKey: () => void;
};

/** The admission of a new process. */
export const admissionOf = (
  process: Process,
  { situation, time }: { situation: { seed: number }; time: VirtualTime },
): SimulatedAdmission =>
  new SimulatedAdmission({
    ...{ seed: situation.seed ^ process.deaths.length, time },
    live: () => process.live,
    gate: () => process.disk.whenDurable(),
    onRevokedKey: () => process.onRevokedKey(),
  });
