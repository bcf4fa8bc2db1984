import type { Output } from "../terminal/output";

export type InterruptOptions = {
  notices: Output;
  /** The command that attaches to the run again. */
  attachWith: string;
  /** Stops the display and continues to follow the run. */
  stopDrawing: () => void;
  /** Stops following the run. */
  detach: () => void;
  /** Asks the service to cancel the run. */
  cancel: () => Promise<void>;
  windowMs?: number;
  confirmMs?: number;
};

const WINDOW_MS = 2_000;
/** Longest wait for the confirmation of a cancellation. */
const CONFIRM_MS = 10_000;

/**
 * Handles Ctrl+C. The first press detaches from the run and ends the program after `windowMs`. A
 * second press within that time cancels the run and waits for its end. The third press ends the
 * program at once.
 */
export class InterruptHandler {
  #pressed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly options: InterruptOptions) {}

  readonly pressed = (): void => {
    this.#pressed += 1;
    if (this.#pressed === 1) this.#first();
    else if (this.#pressed === 2) this.#second();
    else this.options.detach();
  };

  /** Clears the timer once the run is no longer followed. */
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
