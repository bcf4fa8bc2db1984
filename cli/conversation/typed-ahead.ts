import type { Typing, TypingScreen } from "../asking/typing";
import { queueSummary } from "../queue/queue-lines";
import type { QueueFacts } from "../service/schema";
import { CliError } from "../exit-codes";
import type { Input } from "../io";
import { type Line, segment } from "../terminal/output";
import { KeyStream } from "../terminal/paste";
import { toLine } from "../terminal/sanitize";
import { TypingLine } from "../terminal/typing-line";
import { isQuestion, waits } from "./typed-order";

/**
 * Handles an entry that the user finishes while a turn runs, and that does not wait. Returns a
 * message for the user, or `null`. Throws CliError if the entry was not accepted.
 */
export type SubmitEntry = (text: string, session: string) => Promise<string | null>;

type Options = { input: Input; submit: SubmitEntry };

/** Most waiting entries that are shown below a running turn. */
const MOST_SHOWN = 3;

/**
 * What the user types while a turn runs. Entries that wait for the prompt are kept, and run in
 * order when it returns. All others are sent at once. Text that was not sent, and questions that
 * were refused, are kept for the next prompt.
 */
export class TypedAhead implements Typing {
  readonly #options: Options;
  readonly #line = new TypingLine();
  /** Entries that are being sent. */
  readonly #sending = new Set<string>();
  /** Entries that were not accepted, in order. */
  #refused: string[] = [];
  /** Entries that wait until no turn runs, in order. */
  #waiting: string[] = [];
  #queue: QueueFacts | null = null;
  #works: Promise<void>[] = [];
  #screen: TypingScreen | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** See `Typing`. */
  begin(screen: TypingScreen): () => void {
    // The stream of the turn sends the queue if there is one.
    this.#queue = null;
    const keys = new KeyStream(this.#options.input, (text) => {
      this.#line.paste(text);
      screen.redraw();
    });
    const onKeys = (text: string) => this.#onKeys(text, screen);
    keys.on("data", onKeys);
    keys.setRawMode(true);
    keys.resume();
    screen.showBelow((width) => this.#lines(width));
    this.#screen = screen;
    return () => {
      this.#screen = null;
      keys.off("data", onKeys);
      keys.release();
      keys.setRawMode(false);
      keys.pause();
    };
  }

  /** See `Typing`. */
  onQueue(queue: QueueFacts): void {
    this.#queue = queue;
    this.#screen?.redraw();
  }

  /** Waits until all entries are sent or refused. */
  async settled(): Promise<void> {
    await Promise.all(this.#works.splice(0));
  }

  /** Returns the next entry that waits for the prompt; `null` if none waits. */
  async takeEntry(): Promise<string | null> {
    await this.settled();
    return this.#waiting.shift() ?? null;
  }

  /**
   * Puts the questions that wait into the next prompt. To be called if an entry before them has
   * failed: the user may not want to ask them without it.
   */
  returnQuestions(): void {
    this.#refused.push(...this.#waiting.filter(isQuestion));
    this.#waiting = this.#waiting.filter((text) => !isQuestion(text));
  }

  /**
   * Returns the text for the next prompt: a refused entry, or what is left in the line. Each is an
   * entry of its own, so that two of them never become one question.
   */
  async takeText(): Promise<string> {
    await this.settled();
    const refused = this.#refused.shift();
    if (refused !== undefined) return refused;
    const { text } = this.#line;
    this.#line.set("");
    return text;
  }

  #onKeys(text: string, screen: TypingScreen): void {
    for (const typed of this.#line.press(text))
      if (typed.kind === "interrupt") screen.onInterrupt();
      else if (waits(typed.text, this.#waiting)) this.#wait(typed.text, screen);
      else this.#works.push(this.#submit(typed.text, screen));
    screen.redraw();
  }

  #wait(text: string, screen: TypingScreen): void {
    this.#waiting.push(text);
    const what = isQuestion(text) ? "is asked" : "runs";
    screen.notice(`${toLine(text)} ${what} when the turns have ended.`);
  }

  async #submit(text: string, screen: TypingScreen): Promise<void> {
    this.#sending.add(text);
    try {
      const message = await this.#options.submit(text, screen.session);
      if (message !== null) screen.notice(message);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      screen.notice(error.message);
      this.#refused.push(text);
    } finally {
      this.#sending.delete(text);
      screen.redraw();
    }
  }

  #lines(width: number): Line[] {
    return [
      ...(this.#queue ? queueSummary(this.#queue) : []),
      ...[...this.#sending].map(
        (text): Line => [segment("sending    ", "busy"), segment(toLine(text), "dim")],
      ),
      ...this.#waitingLines(),
      this.#line.render(width),
    ];
  }

  #waitingLines(): Line[] {
    const hidden = this.#waiting.length > MOST_SHOWN ? this.#waiting.length - (MOST_SHOWN - 1) : 0;
    const shown = this.#waiting.slice(0, this.#waiting.length - hidden);
    return [
      ...shown.map((text): Line => [segment("then       "), segment(toLine(text), "dim")]),
      ...(hidden > 0 ? [[segment(`           and ${hidden} more`, "dim" as const)]] : []),
    ];
  }
}
