import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { redactShapes } from "../src/redaction/redact";

export type LogLine = { isProblem: boolean; text: string };

/** Lines that are meant only for the developers of the runtime. */
const INTERNAL_LINE = /^NOSENTRY\b/;
const PROBLEM_LEVEL = /^(warn|error)$/;

/** Calls `onLine` for each log message of the runtime, with keys removed. */
export function readRuntimeLog(stream: Readable, onLine: (line: LogLine) => void): void {
  createInterface({ input: stream }).on("line", (text) => {
    const line = parseLine(text);
    if (line.text.trim() !== "" && !INTERNAL_LINE.test(line.text))
      onLine({ ...line, text: redactShapes(line.text) });
  });
}

/**
 * The runtime writes JSON with `level` and `message`, or plain text if it fails before reading its
 * configuration.
 */
function parseLine(text: string): LogLine {
  if (!text.startsWith("{")) return { isProblem: true, text };
  try {
    const entry: unknown = JSON.parse(text);
    if (typeof entry !== "object" || entry === null || !("message" in entry))
      return { isProblem: true, text };
    const level = "level" in entry ? String(entry.level) : "";
    return { isProblem: PROBLEM_LEVEL.test(level), text: String(entry.message) };
  } catch {
    return { isProblem: true, text };
  }
}
