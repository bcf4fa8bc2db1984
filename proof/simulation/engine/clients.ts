import type { NextSegment } from "../../../durable-objects/session/streams/runtime-stream";
import type { Chance } from "../../../simulated/chance";
import type { Faults } from "./faults";
import type { LiveSession, Platform } from "./platform";
import type { VirtualTime } from "./virtual-time";

const decoder = new TextDecoder();

/** What the client reads. `turn`: `null` for the whole session. */
type Subscription = { turn: number | null; deltas: boolean };

/**
 * A client that watches a session. It stores the received text, reconnects with the id of the last
 * complete frame, and may read slowly. It has no access to the log.
 */
export class Client {
  readonly subscription: Subscription;
  /** Complete frames as received, over all connections. */
  received = "";
  /** Number of connections so far. */
  connections = 0;
  isDone = false;
  readonly problems: string[] = [];
  readonly #chance: Chance;
  readonly #world: { platform: Platform; time: VirtualTime; faults: Faults };
  #reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  /** The received part of an incomplete frame. */
  #incompleteFrame = "";
  #isReconnecting = false;
  /** Incremented with every connection. Data from an older connection is discarded. */
  #connection = 0;

  constructor(
    subscription: Subscription,
    chance: Chance,
    world: { platform: Platform; time: VirtualTime; faults: Faults },
  ) {
    this.subscription = subscription;
    this.#chance = chance;
    this.#world = world;
    this.#reconnectLater(1, 400);
  }

  /** Must be called when the connection is lost. Keeps complete frames and reconnects later. */
  onDisconnect(): void {
    this.#reader = null;
    this.#connection += 1;
    this.#incompleteFrame = "";
    this.#reconnectLater(20, 3_000);
  }

  /** The id that the client sends when it reconnects. */
  get lastId(): number {
    const at = this.received.lastIndexOf("\nid: ");
    return at < 0
      ? 0
      : Number.parseInt(this.received.slice(at + 5, this.received.indexOf("\n", at + 5)), 10);
  }

  /** Schedules a reconnect, unless one is already scheduled. */
  #reconnectLater(soonestMs: number, latestMs: number): void {
    if (this.isDone || this.#isReconnecting) return;
    this.#isReconnecting = true;
    this.#after(this.#chance.latency(soonestMs, latestMs), () => {
      this.#isReconnecting = false;
      this.#connect();
    });
  }

  #after(ms: number, run: () => void): void {
    const { time } = this.#world;
    time.timeline.schedule(time.now + ms, run);
  }

  #connect(): void {
    if (this.isDone || this.#reader) return;
    const session = this.#world.platform.object();
    const next = session && this.#open(session);
    if (this.isDone) return;
    if (!next) return this.#reconnectLater(200, 4_000);
    this.connections += 1;
    this.#connection += 1;
    this.#readSegment(next);
  }

  /** Reads the next segment of the connection's stream; without one, the stream has ended. */
  #readSegment(next: NextSegment): void {
    const segment = next();
    if (segment === null) return this.onDisconnect();
    this.#reader = segment.getReader();
    this.#read(this.#connection, next);
  }

  /** Opens the stream as the object's `fetch` does; `null` if there is nothing to read yet. */
  #open({ streams }: LiveSession): NextSegment | null {
    const { turn, deltas } = this.subscription;
    const after = this.lastId;
    const { head, place } = this.#world.platform.positionOf(turn);
    if (turn !== null && !place) return null;
    if (place?.lastSeq != null && after >= place.lastSeq) {
      this.isDone = true;
      return null;
    }
    if (after > head) {
      this.problems.push(`I1: the client received id ${after}, but the log ends at ${head}`);
      this.isDone = true;
      return null;
    }
    return streams.open({ after, turn, deltas });
  }

  #read(connection: number, next: NextSegment): void {
    void this.#reader?.read().then(
      ({ done, value }) => {
        if (connection !== this.#connection) return;
        if (value) this.#receive(decoder.decode(value, { stream: false }));
        if (done) return this.#readSegment(next);
        this.#continueReading(connection, next);
      },
      () => {
        if (connection === this.#connection) this.onDisconnect();
      },
    );
  }

  #continueReading(connection: number, next: NextSegment): void {
    const { faults } = this.#world;
    if (faults.strikes("client_vanishes")) {
      void this.#reader?.cancel().catch(() => {});
      return this.onDisconnect();
    }
    const isSlow = faults.strikes("client_slow", 20_000);
    this.#after(isSlow ? this.#chance.latency(500, 20_000) : 1, () => {
      if (connection === this.#connection) this.#read(connection, next);
    });
  }

  #receive(text: string): void {
    const all = this.#incompleteFrame + text;
    const end = all.lastIndexOf("\n\n") + 2;
    const complete = end < 2 ? "" : all.slice(0, end);
    this.#incompleteFrame = end < 2 ? all : all.slice(end);
    for (const frame of complete.split(/(?<=\n\n)/)) {
      if (frame.startsWith("event: queue.changed\n")) this.#receiveQueue(frame);
      else if (frame.startsWith("event: ")) this.received += frame;
    }
  }

  /** The queue is not in the log, so its frame must not change where the client resumes. */
  #receiveQueue(frame: string): void {
    if (/^id:/m.test(frame)) this.problems.push(`I1: the queue has an id: ${frame}`);
  }
}
