import type { WireEvent } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";

/** The events that all clients of one session received: by number, and as bytes. */
export class ReceivedEvents {
  readonly events = new Map<number, WireEvent>();
  /** Received events that violate I1 or I2, in sentences. */
  readonly problems: string[] = [];
  readonly #frames = new Map<number, Buffer>();

  /**
   * Adds the frames of a client that asked for the events after a number. Returns the number of the
   * last.
   */
  add(frames: readonly Buffer[], after: number): number {
    for (const [nth, frame] of frames.entries()) {
      const event = toEvent(frame);
      const { sequence_number: number } = event;
      const known = this.#frames.get(number) ?? frame;
      this.#frames.set(number, known);
      this.events.set(number, event);
      if (number !== after + 1 + nth)
        this.problems.push(`I2: received event ${number} instead of ${after + 1 + nth}`);
      if (!known.equals(frame))
        this.problems.push(`I1: event ${number} has two versions: ${cut(frame)} and ${cut(known)}`);
    }
    return after + frames.length;
  }

  /** I1: every received event equals the log's event, byte for byte. */
  differencesFrom(log: readonly Buffer[]): string[] {
    return [...this.#frames].flatMap(([number, given]) => {
      const kept = log[number - 1];
      return kept?.equals(given)
        ? []
        : [
            `I1: event ${number} was received as ${cut(given)}, the log has ${cut(kept ?? "nothing")}`,
          ];
    });
  }
}

/** The stream frame of an event from a page: the same JSON in one line. */
export const toFrame = (event: WireEvent): Buffer =>
  Buffer.from(
    `event: ${event.type}\nid: ${event.sequence_number}\ndata: ${JSON.stringify(event)}\n\n`,
  );

const cut = (text: Buffer | string): string => text.toString().slice(0, 200);
