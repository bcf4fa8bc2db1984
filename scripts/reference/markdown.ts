/** Writes a Markdown table. An empty cell becomes a dash, so that it does not look forgotten. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(toCell).join(" | ")} |`;
  return [line(header), `|${header.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const toCell = (text: string): string =>
  text === "" ? "–" : text.replaceAll("|", "\\|").replaceAll("\n", " ");

export const code = (text: string): string => `\`${text}\``;

/** Writes a list of words in code style. */
export const codes = (texts: readonly string[], separator = ", "): string =>
  texts.map(code).join(separator);

/** Writes a number with commas between groups of digits, in every locale. */
export const grouped = (number: number): string =>
  number.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** Writes US dollars with all digits. */
export const usd = (number: number): string => `$${grouped(number)}`;

/**
 * The first word of a sentence, unless it is the name of the program, which stays in lower case.
 */
const FIRST_WORD = /^(?!massgen-edge\b)[a-z]+(?=[ ,:;.!?-]|$)/;

/** Makes a text a sentence: it starts with a capital letter and ends with a full stop. */
export function sentence(text: string): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  if (flat === "") return "";
  const capitalized = FIRST_WORD.test(flat) ? flat.slice(0, 1).toUpperCase() + flat.slice(1) : flat;
  return /[.!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

/** Writes a page from its blocks: headings, paragraphs and tables. */
export const page = (...blocks: readonly string[]): string => `${blocks.join("\n\n")}\n`;
