import { TurnRequests } from "../../../durable-objects/session/queue/turn-requests";
import { runningTurn } from "../../../src/coordination";
import { Chance } from "../../../simulated/chance";
import { hash } from "./faults";
import type { LiveSession, Platform } from "./platform";
import { hasRevokedKey, QueueModel } from "./queue-model";
import { REFUSED_MARK, REVOKED_KEY } from "./queued-starts";
import type { VirtualTime } from "./virtual-time";

/** Number of actions of the user of a queue. */
const ACTIONS = 12;
const AGAIN_MS = 500;
const UNCONFIRMED_MS = 8_000;
/** How often the user looks whether the queue is held, after the last action. */
const PATIENCE_MS = 5_000;
/** A time limit so short that the turn usually fails. */
const SHORT_MS = 400;

type Action =
  | { type: "ask"; id: string; interrupts: boolean; ends: "itself" | "failed" | "refused" }
  | { type: "remove"; id: string }
  | { type: "cancel" }
  | { type: "resume" };

/** `onCancel`: called before each request that cancels the running turn. */
type World = { seed: number; time: VirtualTime; platform: Platform; onCancel: () => void };

/**
 * The user of a session with a queue: asks while turns run, interrupts them, removes requests,
 * cancels turns, and resumes the queue. Repeats each request until it is confirmed.
 */
export class QueueUser {
  /** What the queue must contain, by the user's own actions and the events of the log. */
  readonly model: QueueModel;
  readonly #world: World;
  readonly #requests: TurnRequests<LiveSession>;
  readonly #actions: Action[];
  #isDone = false;

  constructor(world: World) {
    const { seed, platform } = world;
    this.#world = world;
    this.model = new QueueModel(platform);
    // The queue is then held until the user resumes it. The log has no event of this.
    platform.onRevokedKey = () => this.model.hold();
    this.#actions = drawActions(new Chance(seed ^ hash("queue")));
    this.#requests = new TurnRequests({
      startTurn: (session, turn) => platform.admission.startTurn(session, turn),
      attachmentsOf: () => NO_ATTACHMENTS,
      isErased: () => false,
    });
  }

  /** Whether all actions are confirmed, and no request waits or runs. */
  get isDone(): boolean {
    const { live } = this.#world.platform;
    return (
      this.#isDone &&
      live !== null &&
      runningTurn(live.coordinator.state) === null &&
      live.queueStore.queue().requests.length === 0
    );
  }

  /** To be called once the first turn of the session has started. */
  begin(): void {
    this.#next();
  }

  #next(): void {
    const { time, seed } = this.#world;
    const [action] = this.#actions;
    if (!action) {
      this.#isDone = true;
      return this.#resumeHeld();
    }
    const chance = new Chance(seed ^ hash(`queue ${this.#actions.length}`));
    time.timeline.schedule(time.now + chance.latency(1, 40_000), () => this.#perform(action));
  }

  /** Performs an action, and repeats it until it is confirmed. */
  #perform(action: Action): void {
    const { time, platform } = this.#world;
    const again = (): void => this.#perform(action);
    const session = platform.object();
    if (!session) return void time.timeline.schedule(time.now + AGAIN_MS, again);
    let isConfirmed = false;
    this.#send(session, action).then(
      (isAccepted) =>
        void platform.disk.whenDurable().then(() => {
          if (platform.live !== session || isConfirmed) return;
          isConfirmed = true;
          if (isAccepted) this.model.confirm(action);
          this.#actions.shift();
          this.#next();
        }),
      () => undefined, // the request is repeated
    );
    time.timeline.schedule(time.now + UNCONFIRMED_MS, () => {
      if (!isConfirmed) again();
    });
  }

  /** Sends a request as the session's object does. Returns whether it was accepted. */
  async #send(session: LiveSession, action: Action): Promise<boolean> {
    this.model.observe();
    switch (action.type) {
      case "ask":
        return this.#ask(session, action);
      case "remove": {
        const id = `queued_${action.id}`;
        const isThere = session.queueStore.request(id) !== null;
        const removing = this.#requests.remove(session, id);
        removing.catch(() => undefined); // as in `#ask`
        if (isThere) this.model.remove(id);
        const removed = await removing;
        // An unconfirmed request may have removed it already.
        return removed.ok || removed.code === "queued_not_found";
      }
      case "cancel":
        this.#world.onCancel();
        session.queueStore.hold("cancelled");
        this.model.hold();
        session.coordinator.handle({ type: "cancel_requested" });
        this.model.observe();
        return true;
      case "resume":
        this.#requests.resume(session, null);
        this.model.resume();
        return true;
    }
  }

  async #ask(
    session: LiveSession,
    { id, interrupts, ends }: Extract<Action, { type: "ask" }>,
  ): Promise<boolean> {
    const mark = ends === "refused" ? REFUSED_MARK : "";
    const caller = hasRevokedKey(id) ? REVOKED_KEY : null;
    const onBusy = interrupts ? "interrupt" : "queue";
    if (interrupts) this.#world.onCancel();
    const wasQueued = this.model.has(`queued_${id}`);
    const turn = {
      ...{ question: `What about ${id}? ${mark}`.trim(), startId: id },
      ...{ budget: {}, timeoutMs: ends === "failed" ? SHORT_MS : null },
    };
    const answered = this.#requests.request(session, { turn, onBusy, caller });
    answered.catch(() => undefined); // If the process crashes now, nobody awaits the answer.
    const queued = session.queueStore.queue().requests.some((one) => one.id === `queued_${id}`);
    if (queued && !wasQueued) this.model.add(`queued_${id}`, interrupts);
    this.model.observe();
    const result = await answered;
    // The request may have found a running turn only after it had waited for the tenant.
    if (result.ok && "queued" in result && !this.model.has(result.queued.id)) this.model.follow();
    return result.ok;
  }

  /** Resumes the queue whenever it is held, so that all requests run at the end. */
  #resumeHeld(): void {
    const { time, platform } = this.#world;
    const session = platform.object();
    if (session && session.queueStore.queue().hold !== null) {
      this.model.observe();
      this.#requests.resume(session, null);
      this.model.resume();
    }
    if (!this.isDone) time.timeline.schedule(time.now + PATIENCE_MS, () => this.#resumeHeld());
  }
}

const NO_ATTACHMENTS = { putQueued: async () => [], removeQueued: async () => undefined };

function drawActions(chance: Chance): Action[] {
  const ids: string[] = [];
  return Array.from({ length: ACTIONS }, (_, nth): Action => {
    const type = chance.weighted({ ask: 10, remove: 2, cancel: 2, resume: 3 });
    if (type === "cancel" || type === "resume") return { type };
    if (type === "remove" && ids.length > 0) return { type, id: chance.pick(ids) };
    const id = `q${nth}${chance.int(0, 9)}`;
    ids.push(id);
    const ends = chance.weighted({ itself: 10, failed: 2, refused: 2 });
    return { type: "ask", id, interrupts: chance.is(0.25), ends };
  });
}
