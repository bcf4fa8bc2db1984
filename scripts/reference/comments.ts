/**
 * Doc comments of TypeScript sources, by the name they precede. Reference pages show them, so that
 * the meaning of a limit is written once, beside the code.
 */

/** A blank line between a comment and a name separates them: the comment is that of the file. */
const COMMENT = /\/\*\*((?:[^*]|\*(?!\/))*)\*\/ *\n? *(?:export const )?([A-Za-z_]\w*)\b/g;

/**
 * The members of a constant or type as source text; the whole source if it is `null`. Comments of
 * other declarations with the same names are thus excluded.
 */
export function declarationOf(source: string, name: string | null): string {
  if (name === null) return source;
  const [text = ""] =
    new RegExp(`^export (?:const|type) ${name}\\b[\\s\\S]*?^\\}`, "m").exec(source) ?? [];
  if (text === "") throw new Error(`The source has no declaration ${name}.`);
  return text;
}

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
