import type { Io } from "../io";
import { toLine } from "../sanitize";
import type { LeftOut } from "./left-out";

const MOST_NAMES = 20;

/** Says what stays where it is: a line for each reason, with the first names of each. */
export function tellLeftOut(leftOut: readonly LeftOut[], { stderr }: Pick<Io, "stderr">): void {
  for (const reason of new Set(leftOut.map((entry) => entry.reason))) {
    const paths = [...new Set(leftOut.filter((entry) => entry.reason === reason).map((entry) => entry.path))];
    const shown = paths.slice(0, MOST_NAMES).map(toLine);
    const more = paths.length > MOST_NAMES ? `, and ${paths.length - MOST_NAMES} more` : "";
    stderr.write(`left out, ${reason}: ${shown.join(", ")}${more}\n`);
  }
}
