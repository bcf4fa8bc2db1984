import { redact } from "./redact";

/** The only access to the logs. Removes keys from all text. */

const toText = (part: unknown): string => {
  if (part instanceof Error) return redact(part.stack ?? part.message, []);
  return redact(typeof part === "string" ? part : String(part), []);
};

export const logInfo = (...parts: readonly unknown[]): void => console.log(...parts.map(toText));

/** Logs errors with their stack. */
export const logError = (...parts: readonly unknown[]): void => console.error(...parts.map(toText));

/**
 * Suppresses a library's own warnings that start with this text, because they quote untrusted text.
 */
export function silence(beginning: string): void {
  const warn = console.warn.bind(console);
  console.warn = (...parts: readonly unknown[]): void => {
    if (typeof parts[0] !== "string" || !parts[0].startsWith(beginning)) warn(...parts);
  };
}
