import type { WireEvent } from "../../../src/protocol/events";
import { toEvent } from "../../../tests/e2e/support/verdict";

/** All events that the clients of one session received, and their bytes, by event number. */
export class ReceivedEvents {
  readonly events = new Map<number, WireEvent>();
  /** Received events that violate I1 or I2, in sentences. */
  readonly problems: string[] = [];
  readonly #frames = new Map<number, Buffer>();

  /**
   * Adds the frames that a client received after it asked for the events after number `after`.
   * Returns the number of its last event.
   */
  add(frames: readonly Buffer[], after: number): number {
    for (const [nth, frame] of frames.entries()) {
      const event = toEvent(frame);
      const { sequence_number: number } = event;
      const firstFrame = this.#frames.get(number) ?? frame;
      this.#frames.set(number, firstFrame);
      this.events.set(number, event);
      if (number !== after + 1 + nth)
        this.problems.push(`I2: received event ${number} instead of ${after + 1 + nth}`);
      if (!firstFrame.equals(frame))
        this.problems.push(
          `I1: event ${number} has two versions: ${shorten(frame)} and ${shorten(firstFrame)}`,
        );
    }
    return after + frames.length;
  }

  /** I1: every received event equals the log's event, byte for byte. */
  differencesFrom(log: readonly Buffer[]): string[] {
    return [...this.#frames].flatMap(([number, received]) => {
      const logged = log[number - 1];
      return logged?.equals(received)
        ? []
        : [
            `I1: event ${number} was received as ${shorten(received)}, the log has ${shorten(logged ?? "nothing")}`,
          ];
    });
  }
}

/** The frame that the stream sends for this event. Its JSON equals the JSON of a page. */
export const toFrame = (event: WireEvent): Buffer =>
  Buffer.from(
    `event: ${event.type}\nid: ${event.sequence_number}\ndata: ${JSON.stringify(event)}\n\n`,
  );

const shorten = (text: Buffer | string): string => text.toString().slice(0, 200);
