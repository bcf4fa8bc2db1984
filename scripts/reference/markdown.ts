/** A Markdown table; an empty cell becomes a dash, so that it does not look forgotten. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(toCell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const toCell = (text: string): string =>
  text === "" ? "–" : text.replaceAll("|", "\\|").replaceAll("\n", " ");

export const code = (text: string): string => `\`${text}\``;

/** A list of words in code style. */
export const codes = (texts: readonly string[], between = ", "): string =>
  texts.map(code).join(between);

/** A number in English notation, in every locale. */
export const grouped = (number: number): string =>
  number.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** US dollars with all digits. */
export const usd = (number: number): string => `$${grouped(number)}`;

/** A word at the start of a sentence, unless it is the name of the program. */
const FIRST_WORD = /^(?!massgen-edge\b)[a-z]+(?=[ ,:;.!?-]|$)/;

/** A sentence: it starts with a capital letter and ends with a full stop. */
export function sentence(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  if (flat === "") return "";
  const first = FIRST_WORD.test(flat) ? flat.slice(0, 1).toUpperCase() + flat.slice(1) : flat;
  return /[.!?]$/.test(first) ? first : `${first}.`;
}

/** Headings, paragraphs and tables of a page, each a block. */
export const page = (...blocks: readonly string[]): string => `${blocks.join("\n\n")}\n`;
