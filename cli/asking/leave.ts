import type { Output } from "../terminal/output";

export type LeaveOptions = {
  notices: Output;
  /** The command that watches the run again. */
  attachWith: string;
  /** Stops drawing; the watching continues. */
  stopDrawing: () => void;
  /** Stops watching. */
  detach: () => void;
  /** Asks the service to cancel the run. */
  cancel: () => Promise<void>;
  windowMs?: number;
  confirmMs?: number;
};

const WINDOW_MS = 2_000;
/** How long a cancelled run may take to say so. */
const CONFIRM_MS = 10_000;

/**
 * What Ctrl+C means: the first leaves the run alone and, after a moment for second thoughts, ends
 * the program; the second within that moment cancels the run and waits for what it leaves; the
 * third ends the program at once.
 */
export class Leave {
  #pressed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly options: LeaveOptions) {}

  readonly pressed = (): void => {
    this.#pressed += 1;
    if (this.#pressed === 1) this.#first();
    else if (this.#pressed === 2) this.#second();
    else this.options.detach();
  };

  /** The watching is over; nothing is left to wait for. */
  done(): void {
    clearTimeout(this.#timer);
  }

  #first(): void {
    const { notices, attachWith, stopDrawing, detach, windowMs = WINDOW_MS } = this.options;
    stopDrawing();
    notices.write(
      `\nDetached: the run continues. To attach again:\n  ${attachWith}\nPress Ctrl+C again within ${windowMs / 1000} s to cancel the run.\n`,
    );
    this.#timer = setTimeout(detach, windowMs);
  }

  #second(): void {
    const { notices, detach, cancel, confirmMs = CONFIRM_MS } = this.options;
    clearTimeout(this.#timer);
    notices.write("Cancelling the run …\n");
    this.#timer = setTimeout(() => {
      notices.write("The service has not confirmed the cancellation yet.\n");
      detach();
    }, confirmMs);
    cancel().catch((error: unknown) => {
      notices.write(
        `Cannot cancel the run: ${error instanceof Error ? error.message : String(error)}\n`,
      );
      detach();
    });
  }
}
