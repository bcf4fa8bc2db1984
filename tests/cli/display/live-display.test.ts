import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { liveDisplay } from "../../../cli/display/live-display";
import { widthOf } from "../../../cli/terminal/text-width";
import { apply, emptyView } from "../../../src/protocol/view";
import * as b from "../../protocol/builders";

const base = [b.created("anna", "ben"), b.turnStarted("anna", "ben"), b.attemptStarted()];
const NOW = b.START + 65_100;

const ESC = "\x1b";
const COLOR = new RegExp(`${ESC}\\[\\d+m`, "g");
const MOVE_UP_AND_ERASE = new RegExp(`^${ESC}\\[(\\d+)A\\r${ESC}\\[J`);

/**
 * A terminal that does only what the live display uses: it prints lines, moves the cursor up, and
 * erases everything below the cursor.
 */
class FakeTerminal {
  isTTY = true;
  columns = 100;
  rows = 24;
  writes = 0;
  lines: string[] = [];
  write(text: string): void {
    this.writes += 1;
    const up = MOVE_UP_AND_ERASE.exec(text);
    if (up) this.lines.splice(this.lines.length - Number(up[1]));
    const rest = up ? text.slice(up[0].length) : text;
    if (rest !== "") this.lines.push(...rest.replace(/\n$/, "").split("\n"));
  }
}

describe("the live display", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const play = (terminal: FakeTerminal, bodies: b.Body[], env = {}) => {
    const display = liveDisplay(terminal, { env });
    const view = emptyView();
    for (const event of b.log(bodies)) display.update({ event, raw: "" }, apply(view, event));
    return display;
  };

  it("prints events above and redraws one block below in place", () => {
    const terminal = new FakeTerminal();
    const display = play(terminal, b.story.slice(0, 13), { NO_COLOR: "1" });
    vi.advanceTimersByTime(5_000);
    display.close();
    expect(terminal.lines.filter((line) => line.startsWith("initial_answer"))).toHaveLength(1);
    expect(terminal.lines).toContain("00:01  anna answers: agent1.1 (15 characters)");
    expect(terminal.lines.at(-1)).toMatch(/^ben +streaming/);
  });

  it("draws at most ten times a second", () => {
    const terminal = new FakeTerminal();
    const display = liveDisplay(terminal, { env: {} });
    const view = emptyView();
    for (const event of b.log(b.story)) {
      display.update({ event, raw: "" }, apply(view, event));
      vi.advanceTimersByTime(10);
    }
    expect(terminal.writes).toBeLessThanOrEqual(4); // 31 events in 310 ms
    display.close();
  });

  it("updates the clock when no event arrives", () => {
    const terminal = new FakeTerminal();
    const display = play(terminal, base);
    vi.advanceTimersByTime(3_500);
    expect(terminal.lines.some((line) => line.includes("01:08"))).toBe(true);
    display.close();
  });

  it("redraws wrapped lines after the terminal became narrower", () => {
    const terminal = new FakeTerminal();
    terminal.columns = 200;
    const display = play(terminal, b.story.slice(0, 24));
    vi.advanceTimersByTime(200);
    const block = terminal.lines.slice(-3);
    terminal.columns = 40;
    const rows = block.reduce(
      (sum, line) => sum + Math.ceil(widthOf(line.replace(COLOR, "")) / 40),
      0,
    );
    const write = vi.spyOn(terminal, "write");
    vi.advanceTimersByTime(1_200);
    expect(write.mock.calls[0]?.[0]).toContain(`\x1b[${rows}A`);
    expect(rows).toBeGreaterThan(3);
    display.close();
  });

  it("assumes the default size for a terminal without a known size", () => {
    const terminal = new FakeTerminal();
    [terminal.columns, terminal.rows] = [0, 0];
    const display = play(terminal, b.story.slice(0, 24));
    const write = vi.spyOn(terminal, "write");
    vi.advanceTimersByTime(1_200);
    display.close();
    expect(write.mock.calls.join("")).toContain(`${ESC}[3A`);
    expect(write.mock.calls.join("")).toMatch(/anna {2}.*\n.*ben {2}.*\n$/);
    const widths = terminal.lines.map((line) => widthOf(line.replaceAll(COLOR, "")));
    expect([Math.max(...widths) > 40, Math.max(...widths) < 80]).toEqual([true, true]);
  });

  it.each([
    { name: "uses colours", env: {}, colored: true },
    { name: "uses no colours if NO_COLOR is set", env: { NO_COLOR: "1" }, colored: false },
  ])("$name", ({ env, colored }) => {
    const terminal = new FakeTerminal();
    play(terminal, b.story, env).close();
    expect(terminal.lines.join("").includes(`${ESC}[`)).toBe(colored);
  });

  it("draws nothing after it is closed", () => {
    const terminal = new FakeTerminal();
    const display = play(terminal, base);
    display.close();
    const { writes } = terminal;
    display.notice("late");
    display.close();
    vi.advanceTimersByTime(5_000);
    expect(terminal.writes).toBe(writes);
  });
});
