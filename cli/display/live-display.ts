import { turnOf, type TurnView } from "../../src/protocol/view";
import { type Line, type Output, paint, segment, wantsColor } from "../terminal/output";
import { widthOf } from "../terminal/text-width";
import { eventLine, type TurnDisplay, turnLines } from "./turn-lines";

const REDRAW_MS = 100;
/** The clock in the first line is redrawn also while no events arrive. */
const TICK_MS = 1_000;

export type LiveOptions = { env: Readonly<Record<string, string | undefined>>; now?: () => number };

/**
 * A terminal: what happened scrolls by above, the state of the team stays below and is drawn over
 * in place, at most ten times a second. Lines never wrap; the terminal may change its size.
 */
export function liveDisplay(output: Output, { env, now = Date.now }: LiveOptions): TurnDisplay {
  const screen = new Screen(output, wantsColor(output, env));
  let turn: TurnView | undefined;
  let scheduled: NodeJS.Timeout | undefined;
  let closed = false;

  const draw = () => {
    clearTimeout(scheduled);
    scheduled = undefined;
    screen.draw(
      turn ? turnLines(turn, { width: screen.width, height: screen.height, now: now() }) : [],
    );
  };
  const schedule = () => {
    if (!closed) scheduled ??= setTimeout(draw, REDRAW_MS);
  };
  const ticker = setInterval(schedule, TICK_MS);
  ticker.unref();

  return {
    update({ event }, view) {
      if (closed || !event) return;
      turn = turnOf(view, event.turn);
      const line = turn && eventLine(event, turn);
      if (line) screen.scroll(line);
      schedule();
    },
    notice(text) {
      if (closed) return;
      screen.scroll([segment(text, "busy")]);
      schedule();
    },
    close() {
      if (closed) return;
      closed = true;
      clearInterval(ticker);
      draw();
    },
  };
}

/** Lines that scroll by, and a block below them that is replaced as a whole. */
class Screen {
  #pending: string[] = [];
  /** The block at the bottom of the screen: columns of each line. */
  #block: number[] = [];

  constructor(
    readonly output: Output,
    readonly color: boolean,
  ) {}

  /** One column less than there is: a full line would make some terminals wrap. */
  get width(): number {
    return Math.max(20, this.#columns - 1);
  }
  get height(): number {
    return Math.max(4, (this.output.rows || 24) - 1);
  }
  /** A terminal that does not know its size, as on some serial lines and in containers, says 0. */
  get #columns(): number {
    return this.output.columns || 80;
  }

  scroll(line: Line): void {
    this.#pending.push(paint(line, this));
  }

  draw(block: Line[]): void {
    const lines = block.map((line) => paint(line, this));
    const text = [...this.#pending, ...lines].map((line) => `${line}\n`).join("");
    this.output.write(`${this.#erase()}${text}`);
    this.#pending = [];
    this.#block = block.map((line) => widthOf(paint(line, { width: this.width, color: false })));
  }

  /** Back to the first row of the block. A terminal made narrower has wrapped its lines. */
  #erase(): string {
    const rows = this.#block.reduce(
      (sum, width) => sum + Math.max(1, Math.ceil(width / this.#columns)),
      0,
    );
    return rows > 0 ? `\x1b[${rows}A\r\x1b[J` : "";
  }
}
