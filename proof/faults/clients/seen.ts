import type { WireEvent } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";

/** The events that all clients of one session received: by number, and as bytes. */
export class Seen {
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
        this.problems.push(`I2: event ${number} came where ${after + 1 + nth} was due`);
      if (!known.equals(frame))
        this.problems.push(`I1: event ${number} is ${cut(frame)} here and ${cut(known)} there`);
    }
    return after + frames.length;
  }

  /** I1: every received event equals the log's event, byte for byte. */
  unlike(log: readonly Buffer[]): string[] {
    return [...this.#frames].flatMap(([number, given]) => {
      const kept = log[number - 1];
      return kept?.equals(given)
        ? []
        : [`I1: event ${number} was given as ${cut(given)} and is ${cut(kept ?? "nowhere")}`];
    });
  }
}

/** The stream frame of an event from a page: the same JSON in one line. */
export const toFrame = (event: WireEvent): Buffer =>
  Buffer.from(
    `event: ${event.type}\nid: ${event.sequence_number}\ndata: ${JSON.stringify(event)}\n\n`,
  );

const cut = (text: Buffer | string): string => text.toString().slice(0, 200);
