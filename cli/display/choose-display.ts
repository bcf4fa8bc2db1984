import { turnOf } from "../../src/protocol/view";
import type { OutputOptions } from "../asking/answer-output";
import type { Io } from "../io";
import { canRedraw, type Output, paint } from "../terminal/output";
import { escapeJson } from "../terminal/sanitize";
import { automationDisplay } from "./automation";
import { liveDisplay } from "./live-display";
import { eventLine, type TurnDisplay } from "./turn-lines";

type Sinks = Pick<Io, "stdout" | "stderr" | "env">;

/** The display that fits the output. */
export function displayFor(jsonStream: boolean, { stdout, stderr, env }: Sinks): TurnDisplay {
  if (jsonStream) return jsonDisplay(stdout, stderr);
  return canRedraw(stderr, env) ? liveDisplay(stderr, { env }) : plainDisplay(stderr);
}

/** Whether to show progress: at a terminal, or with --verbose. */
export const showsProgress = (
  { form, verbose }: OutputOptions,
  { stderr }: Pick<Io, "stderr">,
): boolean => verbose || (stderr.isTTY === true && form !== "automation");

/** The display for these options. Without a terminal, only the answer is shown. */
export function displayUnder(output: OutputOptions, io: Sinks): TurnDisplay {
  if (output.form === "json-stream") return jsonDisplay(io.stdout, io.stderr);
  const below = showsProgress(output, io) ? displayFor(false, io) : SILENT;
  return output.form === "automation" ? automationDisplay(io.stdout, below) : below;
}

const SILENT: TurnDisplay = {
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
    // a line feed outside of strings is white space
    output.write(`${escapeJson(raw).replaceAll("\n", " ")}\n`);
  },
  notice(text) {
    notices.write(`${text}\n`);
  },
  close() {},
});

/** Prints one line per event, for files and pipes. */
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
