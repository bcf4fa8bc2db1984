import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";

export const SCRIPTS = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync("package.json", "utf8"))).scripts;

const IMPORT = /from "(\.[^"]+)"/g;
/** Folders that read options: the entry's and those of commands, never the service's. */
const OF_COMMANDS = /^(scripts|local|proof|cli)\//;

/**
 * The source of a script's entry and of its imported modules; empty if the script has no entry of
 * ours.
 */
export function sourceOf(script: string): string {
  const [, entry = ""] = /run\.mjs (\S+\.ts)/.exec(SCRIPTS[script] ?? "") ?? [];
  const seen = new Set<string>();
  const waiting = entry === "" ? [] : [entry];
  for (const file of waiting) {
    if (seen.has(file) || !OF_COMMANDS.test(file) || !existsSync(file)) continue;
    seen.add(file);
    for (const [, to = ""] of readFileSync(file, "utf8").matchAll(IMPORT)) {
      const base = path.join(path.dirname(file), to);
      waiting.push(`${base}.ts`, `${base}/index.ts`);
    }
  }
  return [...seen].map((file) => readFileSync(file, "utf8")).join("\n");
}

/** Whether a script's source reads an option: as `--seeds`, or as a key of `parseArgs`. */
export function takesOption(source: string, option: string): boolean {
  const name = option.replace(/^--/, "");
  return new RegExp(`${option}\\b|"${name}"|\\b${name}:`).test(source);
}
