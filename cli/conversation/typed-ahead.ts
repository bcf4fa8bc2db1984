import type { Typing, TypingScreen } from "../asking/typing";
import { queueSummary } from "../queue/queue-lines";
import type { QueueFacts } from "../service/schema";
import { CliError } from "../exit-codes";
import type { Input } from "../io";
import { type Line, segment } from "../terminal/output";
import { KeyStream } from "../terminal/paste";
import { toLine } from "../terminal/sanitize";
import { TypingLine } from "../terminal/typing-line";

/** The entry is a command that can run only when no turn runs. */
export const LATER = Symbol("later");

/**
 * What to do with an entry that the user finishes while a turn runs. Returns a message for the
 * user, or `null`. Throws CliError if the entry was not accepted.
 */
export type SubmitEntry = (text: string, session: string) => Promise<string | null | typeof LATER>;

type Options = { input: Input; submit: SubmitEntry };

/**
 * What the user types while a turn runs. Questions are sent at once. Commands that need the prompt
 * are kept, and run in order when it returns. Text that was not sent, and questions that were
 * refused, are kept for the next prompt.
 */
export class TypedAhead implements Typing {
  readonly #options: Options;
  readonly #line = new TypingLine();
  /** Entries that are being sent. */
  readonly #sending = new Set<string>();
  /** Entries that were not accepted, in order. */
  #refused: string[] = [];
  /** Commands that run when no turn runs, in order. */
  readonly #commands: string[] = [];
  #queue: QueueFacts | null = null;
  #works: Promise<void>[] = [];
  #screen: TypingScreen | null = null;

  constructor(options: Options) {
    this.#options = options;
  }

  /** See `Typing`. */
  begin(screen: TypingScreen): () => void {
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

  /** Returns the next command that waits for the prompt; `null` if none waits. */
  async takeCommand(): Promise<string | null> {
    await this.settled();
    return this.#commands.shift() ?? null;
  }

  /** Returns the text for the next prompt. */
  async takeText(): Promise<string> {
    await this.settled();
    this.#queue = null;
    const text = [...this.#refused, this.#line.text].filter((one) => one !== "").join("\n");
    this.#refused = [];
    this.#line.set("");
    return text;
  }

  #onKeys(text: string, screen: TypingScreen): void {
    for (const typed of this.#line.press(text))
      if (typed.kind === "interrupt") screen.onInterrupt();
      else this.#works.push(this.#submit(typed.text, screen));
    screen.redraw();
  }

  async #submit(text: string, screen: TypingScreen): Promise<void> {
    this.#sending.add(text);
    try {
      const message = await this.#options.submit(text, screen.session);
      if (message === LATER) {
        this.#commands.push(text);
        screen.notice(`${toLine(text)} runs when the turns have ended.`);
      } else if (message !== null) screen.notice(message);
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
      this.#line.render(width),
    ];
  }
}
