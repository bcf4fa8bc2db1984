/** A table in Markdown; an empty cell becomes a dash, so that nobody takes it for forgotten. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(toCell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

const toCell = (text: string): string =>
  text === "" ? "–" : text.replaceAll("|", "\\|").replaceAll("\n", " ");

export const code = (text: string): string => `\`${text}\``;

/** Words as a list of code. */
export const codes = (texts: readonly string[], between = ", "): string =>
  texts.map(code).join(between);

/** A number as people read it, whatever their machine speaks. */
export const grouped = (number: number): string =>
  number.toLocaleString("en-US", { maximumFractionDigits: 6 });

/** US dollars, with all the digits there are. */
export const usd = (number: number): string => `$${grouped(number)}`;
