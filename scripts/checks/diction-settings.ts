import type { Passage } from "./diction-texts";

/** Files with comments that are not TypeScript or JavaScript: settings, SQL, scripts. */
const SETTINGS = /(\.(toml|sql|ya?ml)|(^|\/)(Dockerfile|\.dev\.vars\.example|\.ci\/run))$/;
const COMMENT = /^\s*(?:#|--) ?(.*)$/;
/** A line that is switched off, such as `# OPENAI_API_KEY=""`. */
const SWITCHED_OFF = /^(\[|[A-Za-z_]+ ?=)|^yaml-language-server:/;
/** Values that GitHub shows in its forms. */
const SHOWN = /^\s*(?:name|description|label|about):\s*(.*)$/;

export const isSettings = (path: string): boolean => SETTINGS.test(path);

/** Comments of such a file; neighbouring lines are one passage. Texts of GitHub's forms too. */
export function settingsTextsOf(path: string, text: string): Passage[] {
  const passages: Passage[] = [];
  const shown = path.startsWith(".github/") ? SHOWN : null;
  let open: Passage | null = null;
  text.split("\n").forEach((raw, index) => {
    const comment = COMMENT.exec(raw)?.[1];
    const value = comment ?? shown?.exec(raw)?.[1];
    if (value === undefined || value === "" || SWITCHED_OFF.test(value)) {
      open = null;
    } else if (open && comment !== undefined) {
      open.text += `\n${value}`;
    } else {
      open = { path, line: index + 1, text: value };
      passages.push(open);
    }
  });
  return passages.map((passage) => ({
    ...passage,
    text: passage.text.replace(/`[^`\n]+`/g, "code"),
  }));
}

/** Lines of comments wider than `columns`. Switched-off lines are values, and count too. */
export function wideSettingsOf(path: string, text: string, columns: number): Passage[] {
  return text
    .split("\n")
    .map((line, index) => ({ path, line: index + 1, text: line }))
    .filter((line) => COMMENT.test(line.text) && line.text.length > columns);
}
