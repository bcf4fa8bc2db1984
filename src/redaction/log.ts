import { redact } from "./redact";

/** The only way to the logs: whatever is written there has no keys in it. */

const toText = (part: unknown): string => {
  if (part instanceof Error) return redact(part.stack ?? part.message, []);
  return redact(typeof part === "string" ? part : String(part), []);
};

export const logInfo = (...parts: readonly unknown[]): void => console.log(...parts.map(toText));

/** Errors are written with their stack. */
export const logError = (...parts: readonly unknown[]): void => console.error(...parts.map(toText));

/** From now on what a library warns of by itself, in lines that begin with this, is written nowhere: it quotes what strangers say. */
export function silence(beginning: string): void {
  const warn = console.warn.bind(console);
  console.warn = (...parts: readonly unknown[]): void => {
    if (typeof parts[0] !== "string" || !parts[0].startsWith(beginning)) warn(...parts);
  };
}
