import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { redactShapes } from "../src/redaction/redact";

export type LogLine = { isProblem: boolean; text: string };

/** Lines for the runtime's own developers. */
const INTERNAL = /^NOSENTRY\b/;
const PROBLEM = /^(warn|error)$/;

/** Calls `onLine` for each log message of the runtime, with keys removed. */
export function readRuntimeLog(stream: Readable, onLine: (line: LogLine) => void): void {
  createInterface({ input: stream }).on("line", (written) => {
    const line = parseLine(written);
    if (line.text.trim() !== "" && !INTERNAL.test(line.text))
      onLine({ ...line, text: redactShapes(line.text) });
  });
}

/**
 * The runtime writes JSON with `level` and `message`, or plain text if it fails before reading its
 * configuration.
 */
function parseLine(written: string): LogLine {
  if (!written.startsWith("{")) return { isProblem: true, text: written };
  try {
    const entry: unknown = JSON.parse(written);
    if (typeof entry !== "object" || entry === null || !("message" in entry))
      return { isProblem: true, text: written };
    const level = "level" in entry ? String(entry.level) : "";
    return { isProblem: PROBLEM.test(level), text: String(entry.message) };
  } catch {
    return { isProblem: true, text: written };
  }
}
