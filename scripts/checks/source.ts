import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type ParseResult, parseSync } from "rolldown/utils";

/** A parsed TypeScript or JavaScript file. `path` is relative to the root, with forward slashes. */
export type Source = { path: string; text: string; ast: ParseResult };

/** A violation of a check. It is printed as `path:line message`. */
export type Problem = { path: string; line: number; message: string };

/** Hidden folders of the root that contain files of this project. */
const HIDDEN_FOLDERS = new Set([".ci", ".github"]);
const CODE_FILE = /\.(ts|tsx|mts|mjs)$/;
/** Folders with files that are installed, generated or recorded. */
const EXCLUDED = /(^|\/)(node_modules|dist|coverage|fixtures)(\/|$)/;

/** All files of the repository, sorted. Paths are relative to the root. */
export async function listFiles(root: string): Promise<string[]> {
  const top = await readdir(root, { withFileTypes: true });
  const folders = top.filter(
    (entry) =>
      entry.isDirectory() &&
      !EXCLUDED.test(entry.name) &&
      (!entry.name.startsWith(".") || HIDDEN_FOLDERS.has(entry.name)),
  );
  const inFolders = folders.map(async ({ name }) => {
    const entries = await readdir(path.join(root, name), { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
  });
  const inRoot = top.filter((entry) => entry.isFile()).map(({ name }) => name);
  return [...inRoot, ...(await Promise.all(inFolders)).flat()]
    .map((name) => name.replaceAll(path.sep, "/"))
    .filter((name) => !EXCLUDED.test(name))
    .sort();
}

/** All TypeScript and JavaScript files of the repository, sorted. */
export async function readSources(root: string): Promise<Source[]> {
  const names = (await listFiles(root)).filter((name) => CODE_FILE.test(name));
  return Promise.all(
    names.map(async (name) => parseSource(name, await readFile(path.join(root, name), "utf8"))),
  );
}

export function parseSource(name: string, text: string): Source {
  return {
    path: name,
    text,
    ast: parseSync(name, text, { lang: languageOf(name) }),
  };
}

function languageOf(name: string): "ts" | "tsx" | "js" {
  if (name.endsWith(".mjs")) return "js";
  return name.endsWith("x") ? "tsx" : "ts";
}

/** The line of the character at `offset`, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
