/**
 * Reads the doc comments of TypeScript sources, by the name that follows each comment. Reference
 * pages show these comments, so that the meaning of a limit is written only once, beside the code.
 */

/**
 * A doc comment and the name that follows it. A comment with a blank line after it does not match,
 * because it describes the file.
 */
const COMMENT = /\/\*\*((?:[^*]|\*(?!\/))*)\*\/ *\n? *(?:export const )?([A-Za-z_]\w*)\b/g;

/**
 * The source text of a constant or type; the whole source if `name` is `null`. So comments of other
 * declarations whose members have the same names are excluded.
 */
export function declarationOf(source: string, name: string | null): string {
  if (name === null) return source;
  const [text = ""] =
    new RegExp(`^export (?:const|type) ${name}\\b[\\s\\S]*?^\\}`, "m").exec(source) ?? [];
  if (text === "") throw new Error(`The source has no declaration ${name}.`);
  return text;
}

/**
 * The comment before each name. If a name occurs twice with a comment, the first comment is used.
 */
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
