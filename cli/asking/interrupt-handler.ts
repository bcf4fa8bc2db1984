import type { Output } from "../terminal/output";

export type InterruptOptions = {
  /** Receives the messages for the user. */
  notices: Output;
  /** The command that attaches to the run again. */
  commandToAttach: string;
  /** Stops the live display. The run is still followed. */
  stopDrawing: () => void;
  /** Stops following the run. */
  detach: () => void;
  /** Asks the service to cancel the run. */
  cancel: () => Promise<void>;
  /** Time after the first press in which a second press cancels the run. */
  windowMs?: number;
  /** Longest wait for the end of a cancelled run. */
  confirmMs?: number;
};

const WINDOW_MS = 2_000;

const CONFIRM_MS = 10_000;

/**
 * Handles Ctrl+C. The first press detaches from the run and ends the program after `windowMs`. A
 * second press within that time cancels the run and waits for its end. The third press ends the
 * program at once.
 */
export class InterruptHandler {
  #presses = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(readonly options: InterruptOptions) {}

  readonly onPress = (): void => {
    this.#presses += 1;
    if (this.#presses === 1) this.#detachLater();
    else if (this.#presses === 2) this.#cancel();
    else this.options.detach();
  };

  /** Clears the timer once the run is no longer followed. */
  dispose(): void {
    clearTimeout(this.#timer);
  }

  #detachLater(): void {
    const { notices, commandToAttach, stopDrawing, detach, windowMs = WINDOW_MS } = this.options;
    stopDrawing();
    notices.write(
      `\nDetached: the run continues. To attach again:\n  ${commandToAttach}\nPress Ctrl+C again within ${windowMs / 1000} s to cancel the run.\n`,
    );
    this.#timer = setTimeout(detach, windowMs);
  }

  #cancel(): void {
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
