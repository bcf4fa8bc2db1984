import { turnOf } from "../../src/protocol/view";
import type { OutputOptions } from "../asking/answer-output";
import type { Io } from "../io";
import { canRedraw, type Output, paint } from "../terminal/output";
import { escapeJson } from "../terminal/sanitize";
import { automationDisplay } from "./automation";
import { liveDisplay } from "./live-display";
import { eventLine, type TurnDisplay } from "./turn-lines";

type Sinks = Pick<Io, "stdout" | "stderr" | "env">;

/** Returns the display for a form of output, and for the kind of terminal. */
export function displayFor(jsonStream: boolean, { stdout, stderr, env }: Sinks): TurnDisplay {
  if (jsonStream) return jsonDisplay(stdout, stderr);
  return canRedraw(stderr, env) ? liveDisplay(stderr, { env }) : plainDisplay(stderr);
}

/** Whether progress is shown: at a terminal, or with --verbose. */
export const showsProgress = (
  { form, verbose }: OutputOptions,
  { stderr }: Pick<Io, "stderr">,
): boolean => verbose || (stderr.isTTY === true && form !== "automation");

/** Returns the display for these options. Without a terminal, only the answer is shown. */
export function displayForOptions(output: OutputOptions, io: Sinks): TurnDisplay {
  if (output.form === "json-stream") return jsonDisplay(io.stdout, io.stderr);
  const inner = showsProgress(output, io) ? displayFor(false, io) : SILENT_DISPLAY;
  return output.form === "automation" ? automationDisplay(io.stdout, inner) : inner;
}

const SILENT_DISPLAY: TurnDisplay = {
  update: () => undefined,
  notice: () => undefined,
  close: () => undefined,
};

/**
 * Writes every event as one line of JSON to `output`, also events of unknown types. Notices are
 * written to `notices`.
 */
export const jsonDisplay = (output: Output, notices: Output): TurnDisplay => ({
  update({ raw }) {
    // A line feed in JSON text is white space: strings contain it only as an escape.
    output.write(`${escapeJson(raw).replaceAll("\n", " ")}\n`);
  },
  notice(text) {
    notices.write(`${text}\n`);
  },
  close() {},
});

/** A display for files and pipes: prints one line per event. */
export function plainDisplay(output: Output): TurnDisplay {
  let closed = false;
  const print = (text: string) => {
    if (!closed) output.write(`${text}\n`);
  };
  return {
    update({ event }, view) {
      const turn = event && turnOf(view, event.turn);
      const line = event && turn && eventLine(event, turn);
      if (line) print(paint(line, { width: Number.POSITIVE_INFINITY, color: false }));
    },
    notice: print,
    close() {
      closed = true;
    },
  };
}
