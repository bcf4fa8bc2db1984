import { redact } from "./redact";

/** All logs of the service are written by this file, which removes keys from the text. */

const toText = (part: unknown): string => {
  if (part instanceof Error) return redact(part.stack ?? part.message, []);
  return redact(typeof part === "string" ? part : String(part), []);
};

export const logInfo = (...parts: readonly unknown[]): void => console.log(...parts.map(toText));

/** Logs errors with their stack. */
export const logError = (...parts: readonly unknown[]): void => console.error(...parts.map(toText));

/**
 * Suppresses warnings of a library that start with `beginning`. Use it for warnings that quote
 * untrusted text.
 */
export function silence(beginning: string): void {
  const warn = console.warn.bind(console);
  console.warn = (...parts: readonly unknown[]): void => {
    if (typeof parts[0] !== "string" || !parts[0].startsWith(beginning)) warn(...parts);
  };
}
