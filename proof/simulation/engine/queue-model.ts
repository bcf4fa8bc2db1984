import type { SessionEvent } from "../../../src/protocol/events";
import { toWire } from "../../../durable-objects/session/streams/frames";
import { SESSION } from "./engine-situation";
import type { LiveSession, Platform } from "./platform";

type Entry = { id: string; interrupts: boolean };
/** Whether a request was sent with a revoked key. `id`: its id, in the queue or its own. */
export const hasRevokedKey = (id = ""): boolean => id.endsWith("7");

/** An action that the service has confirmed. */
type Confirmation = { type: string; id?: string };

/**
 * The queue of a session, as it follows from the user's actions and the events of the log. It is a
 * second implementation of the rules. A crash may lose the latest action, so the model takes the
 * stored queue over then; confirmed requests must still be in it, or have started.
 */
export class QueueModel {
  /** What the service did otherwise than expected. */
  readonly problems: string[] = [];
  readonly #platform: Platform;
  readonly #asked = new Set<string>();
  readonly #removed = new Set<string>();
  #entries: Entry[] = [];
  #isHeld = false;
  #seen = 0;
  #deaths = -1;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  has(id: string): boolean {
    return this.#entries.some((entry) => entry.id === id);
  }

  add(id: string, interrupts: boolean): void {
    const entry = { id, interrupts };
    if (interrupts) this.#entries.unshift(entry);
    else this.#entries.push(entry);
  }

  remove(id: string): void {
    this.#entries = this.#entries.filter((entry) => entry.id !== id);
    if (this.#entries.length === 0) this.#isHeld = false;
  }

  hold(): void {
    for (const entry of this.#entries) entry.interrupts = false;
    this.#isHeld = this.#entries.length > 0;
  }

  resume(): void {
    this.#isHeld = false;
  }

  /** To be called when an action is confirmed. */
  confirm({ type, id }: Confirmation): void {
    if (id === undefined) return;
    if (type === "ask") this.#asked.add(id);
    if (type === "remove") this.#removed.add(`queued_${id}`);
  }

  /** Takes the stored queue over. */
  follow(): void {
    const session = this.#platform.live;
    if (!session) return;
    const { requests, hold } = session.queueStore.queue();
    this.#entries = requests.map(({ id, interrupts }) => ({ id, interrupts }));
    this.#isHeld = hold !== null;
    this.#seen = session.log.head;
  }

  /** Applies the new events of the log, and compares the model with the stored queue. */
  observe(): void {
    const session = this.#platform.live;
    if (!session) return;
    if (this.#deaths !== this.#platform.deaths.length) {
      this.#deaths = this.#platform.deaths.length;
      this.follow();
      return this.#requireConfirmed(session);
    }
    const { head } = session.log;
    if (head > this.#seen)
      for (const row of session.log.read({ after: this.#seen, upTo: head, deltas: false }))
        this.#apply(toWire(row, SESSION));
    this.#seen = head;
    this.#compare(session);
  }

  /** All confirmed requests that have neither started nor were removed. To be called at the end. */
  lost(log: readonly SessionEvent[], startedDirectly: ReadonlySet<string>): string[] {
    const started = new Set(
      log.flatMap((event) => (event.type === "turn.started" ? [event.queue_id ?? ""] : [])),
    );
    return [...this.#asked].flatMap((id) => {
      const queueId = `queued_${id}`;
      const isRemoved = this.#removed.has(queueId);
      const isStarted = started.has(queueId) || startedDirectly.has(id);
      if (isRemoved && started.has(queueId)) return [`${queueId} ran although it was removed`];
      return isRemoved || isStarted ? [] : [`${queueId} never ran`];
    });
  }

  #apply(event: SessionEvent): void {
    if (event.type === "turn.started" && event.queue_id !== undefined) {
      const [first] = this.#entries;
      if (first?.id !== event.queue_id)
        this.problems.push(`${event.queue_id} starts before ${first?.id ?? "it was queued"}`);
      if (this.#isHeld && !first?.interrupts)
        this.problems.push(`${event.queue_id} starts although the queue is held`);
      this.remove(event.queue_id);
    }
    const isStopped = event.type === "turn.failed" || event.type === "turn.cancelled";
    if (isStopped && !this.#entries[0]?.interrupts) this.hold();
  }

  #compare(session: LiveSession): void {
    const { requests, hold } = session.queueStore.queue();
    const found = [...requests.map(({ id }) => id), hold === null ? "" : "held"].join(" ");
    const expected = [...this.#entries.map(({ id }) => id), this.#isHeld ? "held" : ""].join(" ");
    if (found === expected) return;
    this.problems.push(`the queue is "${found}", expected "${expected}"`);
    this.follow();
  }

  #requireConfirmed({ queueStore }: LiveSession): void {
    for (const id of this.#asked) {
      const queueId = `queued_${id}`;
      const isKnown =
        this.has(queueId) ||
        this.#removed.has(queueId) ||
        queueStore.startedAs(queueId) !== null ||
        queueStore.startedAs(id) !== null;
      if (!isKnown) this.problems.push(`${queueId} was lost in a crash`);
    }
  }
}
