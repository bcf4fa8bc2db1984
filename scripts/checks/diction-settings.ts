import type { Passage } from "./diction-texts";

/** Files with comments that are neither TypeScript nor JavaScript: settings, SQL, scripts. */
const SETTINGS = /(\.(toml|sql|ya?ml)|(^|\/)(Dockerfile|\.dev\.vars\.example|\.ci\/run))$/;
const COMMENT = /^\s*(?:#|--) ?(.*)$/;
/** The text of a setting that is commented out, such as `# OPENAI_API_KEY=""`. */
const COMMENTED_OUT = /^(\[|[A-Za-z_]+ ?=)|^yaml-language-server:/;
/** Lines with values that GitHub shows in its forms. */
const GITHUB_FORM_VALUE = /^\s*(?:name|description|label|about):\s*(.*)$/;

export const isSettings = (path: string): boolean => SETTINGS.test(path);

/**
 * The comments of such a file, and the texts of GitHub's forms. Comments on neighbouring lines are
 * one passage.
 */
export function settingsTextsOf(path: string, text: string): Passage[] {
  const passages: Passage[] = [];
  const formValue = path.startsWith(".github/") ? GITHUB_FORM_VALUE : null;
  let current: Passage | null = null;
  text.split("\n").forEach((raw, index) => {
    const comment = COMMENT.exec(raw)?.[1];
    const value = comment ?? formValue?.exec(raw)?.[1];
    if (value === undefined || value === "" || COMMENTED_OUT.test(value)) {
      current = null;
    } else if (current && comment !== undefined) {
      current.text += `\n${value}`;
    } else {
      current = { path, line: index + 1, text: value };
      passages.push(current);
    }
  });
  return passages.map((passage) => ({
    ...passage,
    text: passage.text.replace(/`[^`\n]+`/g, "code"),
  }));
}

/**
 * The lines of comments that are wider than `columns`, including settings that are commented out.
 */
export function wideSettingsOf(path: string, text: string, columns: number): Passage[] {
  return text
    .split("\n")
    .map((line, index) => ({ path, line: index + 1, text: line }))
    .filter((line) => COMMENT.test(line.text) && line.text.length > columns);
}
