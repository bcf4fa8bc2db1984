import type { QueueFacts } from "../service/schema";
import type { Line } from "../terminal/output";

/** The screen of a running turn, for what the user types below it. */
export type TypingScreen = {
  session: string;
  /** Shows these lines below the state of the turn, from now on. */
  showBelow: (lines: (width: number) => Line[]) => void;
  /** Draws the lines again, after they have changed. */
  redraw: () => void;
  /** Shows a message above the state of the turn. */
  notice: (text: string) => void;
  /** To be called at Ctrl+C: the terminal does not send a signal while keys are read. */
  onInterrupt: () => void;
};

/** Lets the user type while a turn runs. */
export type Typing = {
  /** Begins to read keys. The returned function ends it. */
  begin(screen: TypingScreen): () => void;
  /** The queue of the session has changed. */
  onQueue(queue: QueueFacts): void;
};
