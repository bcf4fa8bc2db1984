import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** A mutant: one small change of a file. Lines and columns count from 1. */
export type Mutant = {
  /** The mutant's id in the instrumented code. */
  id: string;
  /** The file's path, relative to the repository. */
  file: string;
  line: number;
  column: number;
  /** The source line in which the changed code begins, trimmed. */
  text: string;
  original: string;
  replacement: string;
};

/**
 * The code of a folder in which each mutant is behind a switch. `sources`: the files' new contents
 * by absolute path.
 */
export type InstrumentedCode = { mutants: Mutant[]; sources: ReadonlyMap<string, string> };

/**
 * Puts all mutants of a folder's TypeScript files into the code at once, so that all mutants share
 * one bundle.
 */
export async function instrument(folder: string): Promise<InstrumentedCode> {
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".ts"))
    .sort();
  const files = await Promise.all(
    names.map(async (name) => {
      const file = path.resolve(folder, name);
      return { name: file, mutate: true, content: await readFile(file, "utf8") };
    }),
  );
  const contents = new Map(files.map(({ name, content }) => [name, content]));
  const { Instrumenter } = await loadInstrumenter();
  const made = await new Instrumenter(SILENT).instrument(files, {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
  });
  const mutants = made.mutants.map(
    ({ id, fileName, location: { start, end }, replacement }): Mutant => {
      const lines = (contents.get(fileName) ?? "").split("\n");
      return {
        id,
        file: path.relative(".", fileName),
        line: start.line + 1,
        column: start.column + 1,
        text: (lines[start.line] ?? "").trim(),
        original: textBetween(lines, start, end),
        replacement,
      };
    },
  );
  return { mutants, sources: new Map(made.files.map(({ name, content }) => [name, content])) };
}

type Place = { line: number; column: number };

/** The text from `start` up to `end`. These lines and columns count from 0. */
function textBetween(lines: readonly string[], start: Place, end: Place): string {
  const whole = lines.slice(start.line, end.line + 1);
  const last = whole.length - 1;
  whole[last] = (whole[last] ?? "").slice(0, end.column);
  whole[0] = (whole[0] ?? "").slice(start.column);
  return whole.join("\n");
}

const no = (): boolean => false;
const nothing = (): void => {};
/** A logger for the instrumenter that logs nothing. */
const SILENT = {
  isTraceEnabled: no,
  isDebugEnabled: no,
  isInfoEnabled: no,
  isWarnEnabled: no,
  isErrorEnabled: no,
  isFatalEnabled: no,
  trace: nothing,
  debug: nothing,
  info: nothing,
  warn: nothing,
  error: nothing,
  fatal: nothing,
};

const FOLDER = path.resolve("proof/mutation");
const ENTRY = path.join(FOLDER, "node_modules/@stryker-mutator/instrumenter/dist/src/index.js");

/**
 * Loads Stryker's instrumenter. The repository's package.json does not list it, because only this
 * campaign needs it. The first call installs the version of `proof/mutation/package-lock.json`,
 * from npm's cache if possible.
 */
async function loadInstrumenter(): Promise<typeof import("@stryker-mutator/instrumenter")> {
  if (!existsSync(ENTRY)) {
    execFileSync("npm", ["ci", "--prefer-offline", "--no-progress"], {
      cwd: FOLDER,
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
  }
  return import(pathToFileURL(ENTRY).href);
}
