import { turnOf, type TurnView } from "../../src/protocol/view";
import { type Line, type Output, paint, segment, wantsColor } from "../terminal/output";
import { widthOf } from "../terminal/text-width";
import { eventLine, type TurnDisplay, turnLines } from "./turn-lines";

const REDRAW_MS = 100;
/** Longest time between redraws: the clock in the first line also moves while no events arrive. */
const TICK_MS = 1_000;

type LiveOptions = { env: Readonly<Record<string, string | undefined>>; now?: () => number };

/**
 * The display for a terminal. Events scroll at the top. The state of the team stays at the bottom
 * and is redrawn in place, at most ten times a second. Lines never wrap; the terminal may be
 * resized.
 */
export function liveDisplay(output: Output, { env, now = Date.now }: LiveOptions): TurnDisplay {
  const screen = new Screen(output, wantsColor(output, env));
  let turn: TurnView | undefined;
  let scheduled: NodeJS.Timeout | undefined;
  let closed = false;
  let below: (width: number) => Line[] = () => [];

  const draw = () => {
    clearTimeout(scheduled);
    scheduled = undefined;
    const { width } = screen;
    const lines = closed ? [] : below(width);
    const height = Math.max(2, screen.height - lines.length);
    screen.draw([...(turn ? turnLines(turn, { width, height, now: now() }) : []), ...lines]);
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
      for (const line of text.split("\n")) screen.scroll([segment(line, "busy")]);
      schedule();
    },
    showBelow(lines) {
      below = lines;
      schedule();
      return () => {
        if (!closed) draw();
      };
    },
    close() {
      if (closed) return;
      closed = true;
      clearInterval(ticker);
      draw();
    },
  };
}

/**
 * A terminal with scrolling lines, and with a block of lines below them that is redrawn as a whole.
 */
class Screen {
  #pending: string[] = [];
  /** Width of each line of the block at the bottom, in columns. */
  #block: number[] = [];

  constructor(
    readonly output: Output,
    readonly color: boolean,
  ) {}

  /** One column less than the terminal has, because some terminals wrap a full line. */
  get width(): number {
    return Math.max(20, this.#columns - 1);
  }
  get height(): number {
    return Math.max(4, (this.output.rows || 24) - 1);
  }
  /** Some serial lines and containers report a size of 0. */
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

  /**
   * Returns the sequence that erases the block. A terminal that became narrower has wrapped the
   * lines of the block, so the rows are counted with the current width.
   */
  #erase(): string {
    const rows = this.#block.reduce(
      (sum, width) => sum + Math.max(1, Math.ceil(width / this.#columns)),
      0,
    );
    return rows > 0 ? `\x1b[${rows}A\r\x1b[J` : "";
  }
}
