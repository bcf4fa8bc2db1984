import type { Contents } from "./marks";

/** Files by path. */
export type Files = Readonly<Record<string, string>>;

export const GITIGNORE = ".gitignore";
/** The file with exclusion rules that git does not share. */
export const EXCLUDE_FILE = ".git/info/exclude";

/** Whether one path is a folder of the other, so that a tree cannot have a file at both. */
export const collide = (one: string, other: string): boolean =>
  one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/** The command that excludes a file: only `pull` excludes settings of package managers. */
type Direction = "push" | "pull";

/** All ignore rules that apply to a folder. `excludeRules`: those that only this folder has. */
export const ignoreRulesOf = ({
  files,
  excludeRules,
}: {
  files: Files;
  excludeRules: Contents;
}): string => [files[GITIGNORE] ?? "", excludeRules ?? ""].join("\n");

/**
 * Whether `push` or `pull` leaves a file out. The model knows five kinds of exclusions: a secret, a
 * setting of a package manager, an ignored folder, an ignored pattern and an ignored file.
 * `ignoreRules`: the ignore rules of the folder. `included`: the file that `--include` names.
 */
export function isLeftOut(
  path: string,
  {
    direction,
    ignoreRules,
    included,
  }: { direction: Direction; ignoreRules: string; included?: string | undefined },
): boolean {
  if (path === included) return false;
  if (path === ".env" || (path === ".npmrc" && direction === "pull")) return true;
  const rules = ignoreRules.split("\n");
  return (
    (path.startsWith("dist/") && rules.includes("dist/")) ||
    (path.endsWith(".log") && rules.includes("*.log")) ||
    rules.includes(path)
  );
}

/** The files after an edit. A new file replaces files whose paths collide with it. */
export function edited(files: Files, path: string, contents: Contents): Files {
  const others = Object.entries(files).filter(
    ([other]) => other !== path && (contents === null || !collide(path, other)),
  );
  return Object.fromEntries(contents === null ? others : [...others, [path, contents]]);
}

/** The files sorted by path, so that equal files have equal texts. */
export const sorted = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).toSorted(([one], [other]) => (one < other ? -1 : 1)));

export const sameFiles = (one: Files, other: Files): boolean =>
  JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
