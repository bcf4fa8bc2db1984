/**
 * Doc comments of TypeScript sources, by the name they precede. Reference pages show them, so that
 * the meaning of a limit is written once, beside the code.
 */

const COMMENT = /\/\*\*((?:[^*]|\*(?!\/))*)\*\/\s*(?:export const )?([A-Za-z_]\w*)\b/g;

/** The comment in front of each name. A name with two comments has the first. */
export function commentsOf(source: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, comment = "", name = ""] of source.matchAll(COMMENT)) {
    if (!found.has(name)) found.set(name, textOf(comment));
  }
  return found;
}

const textOf = (comment: string): string =>
  comment
    .split("\n")
    .map((line) => line.replace(/^\s*\*? ?/, ""))
    .join(" ")
    .replaceAll(/\s+/g, " ")
    .trim();
