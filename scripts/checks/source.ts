import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { type ParseResult, parseSync } from "rolldown/utils";

/** A parsed TypeScript file. `path` is relative to the root, with forward slashes. */
export type Source = { path: string; text: string; ast: ParseResult };

/** A violation, printed as `path:line message`. */
export type Problem = { path: string; line: number; message: string };

const FOLDERS = [
  "src",
  "durable-objects",
  "d1",
  "r2-layout",
  "cli",
  "web",
  "client",
  "checker",
  "local",
  "simulated",
  "scripts",
  "tests",
  "proof",
];
const CODE = /\.(ts|tsx|mts)$/;
const NOT_OURS = /(^|\/)(node_modules|dist|fixtures)(\/|$)/;

/** All TypeScript files of the repository, sorted. */
export async function readSources(root: string): Promise<Source[]> {
  const found = FOLDERS.filter((folder) => existsSync(path.join(root, folder))).map(
    async (folder) => {
      const entries = await readdir(path.join(root, folder), {
        recursive: true,
        withFileTypes: true,
      });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
    },
  );
  const names = (await Promise.all(found)).flat().map((name) => name.replaceAll(path.sep, "/"));
  const ours = names.filter((name) => CODE.test(name) && !NOT_OURS.test(name)).sort();
  return Promise.all(
    ours.map(async (name) => parseSource(name, await readFile(path.join(root, name), "utf8"))),
  );
}

export function parseSource(name: string, text: string): Source {
  return {
    path: name,
    text,
    ast: parseSync(name, text, { lang: name.endsWith("x") ? "tsx" : "ts" }),
  };
}

/** The line of the character at `offset`, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
