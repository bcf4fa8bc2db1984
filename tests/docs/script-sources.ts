import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import * as z from "zod";

export const SCRIPTS = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("package.json", "utf8"))).scripts;

const IMPORT = /from "(\.[^"]+)"/g;
/** The folders of commands. Only they read options of the command line. */
const COMMAND_FILES = /^(scripts|local|proof|cli)\//;

/**
 * The source of a script's entry file and of all modules that it imports; empty if the script runs
 * no file of this repository.
 */
export function sourceOf(script: string): string {
  const [, entry = ""] = /run\.mjs (\S+\.ts)/.exec(SCRIPTS[script] ?? "") ?? [];
  const visited = new Set<string>();
  const queue = entry === "" ? [] : [entry];
  for (const file of queue) {
    if (visited.has(file) || !COMMAND_FILES.test(file) || !existsSync(file)) continue;
    visited.add(file);
    for (const [, imported = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const base = path.join(path.dirname(file), imported);
      queue.push(`${base}.ts`, `${base}/index.ts`);
    }
  }
  return [...visited].map((file) => readFileSync(file, "utf8")).join("\n");
}

/** Whether a script's source contains an option, like `--seeds` or as a key of `parseArgs`. */
export function takesOption(source: string, option: string): boolean {
  const name = option.replace(/^--/, "");
  return new RegExp(`${option}\\b|"${name}"|\\b${name}:`).test(source);
}
