import { sanitize } from "../terminal/sanitize";
import { widthOf } from "../terminal/text-width";

export type Place = { line: number; column?: number | null | undefined };

/** Columns of a line that are shown. */
const MAX_COLUMNS = 100;
/**
 * Values that must not appear in a terminal's history or in a log. A `${NAME}` is no secret, so it
 * stays.
 */
const NAMED =
  /((?:api_?key|authorization|token|secret|password)["']?\s*:\s*)(\$\{\w+\}|"[^"]*"|'[^']*'|[^,}\]#]+)/gi;
/** Text that begins like a key, anywhere in a line. */
const KEYLIKE = /\b(?:sk-|sk_|xai-|gsk_|AIza|mge_)[\w-]{6,}/g;

/**
 * The line of `text` at `place`, with its number and a caret below the column; empty if there is
 * no such line.
 */
export function excerpt(text: string, { line, column }: Place): string[] {
  const source = text.split(/\r\n|\n|\r/)[line - 1];
  if (source === undefined) return [];
  const hidden = hideSecrets(source);
  const at = column ? Math.min(Math.max(0, column - 1), hidden.length) : null;
  const from = at !== null && at > MAX_COLUMNS - 20 ? at - MAX_COLUMNS / 2 : 0;
  const shown = plain(hidden.slice(from, from + MAX_COLUMNS));
  const gutter = String(line).padStart(5);
  const lines = [
    `${gutter} | ${from > 0 ? "…" : ""}${shown}${hidden.length > from + MAX_COLUMNS ? "…" : ""}`,
  ];
  if (at === null) return lines;
  const before = widthOf(plain(hidden.slice(from, at))) + (from > 0 ? 1 : 0);
  return [...lines, `${" ".repeat(gutter.length)} | ${" ".repeat(before)}^`];
}

/** Control sequences out, a tab as wide as it is meant. */
const plain = (text: string): string => sanitize(text).replaceAll("\t", "  ");

/** As many columns as before, so that the caret still points at the right place. */
const hideSecrets = (line: string): string =>
  line
    .replace(
      NAMED,
      (_, name: string, value: string) =>
        name + (/^["']?\$\{\w+\}["']?$/.test(value) ? value : stars(value)),
    )
    .replace(KEYLIKE, stars);

const stars = (text: string): string => text.replace(/\S/g, "*");
