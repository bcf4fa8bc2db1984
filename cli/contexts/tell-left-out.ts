import type { Io } from "../io";
import { toLine } from "../terminal/sanitize";
import { isRunUnasked, type LeftOut } from "./left-out";

const MOST_NAMES = 20;

/** Says what stays where it is: a line for each reason, with the first names of each. */
export function tellLeftOut(leftOut: readonly LeftOut[], { stderr }: Pick<Io, "stderr">): void {
  for (const reason of new Set(leftOut.map((entry) => entry.reason))) {
    const paths = [
      ...new Set(leftOut.filter((entry) => entry.reason === reason).map((entry) => entry.path)),
    ];
    stderr.write(`left out, ${reason}: ${firstOf(paths)}\n`);
  }
}

/** Warns of what comes into a folder and acts there although its user starts nothing: one line, or none. */
export function tellRunUnasked(paths: readonly string[], { stderr }: Pick<Io, "stderr">): void {
  const named = paths.filter(isRunUnasked);
  if (named.length > 0)
    stderr.write(
      `warning: programs read or run these unasked, look at them first: ${firstOf(named)}\n`,
    );
}

function firstOf(paths: readonly string[]): string {
  const more = paths.length > MOST_NAMES ? `, and ${paths.length - MOST_NAMES} more` : "";
  return `${paths.slice(0, MOST_NAMES).map(toLine).join(", ")}${more}`;
}
