import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Target } from "./target";

const FILE = ".first-deploy.toml";

/** A wrangler configuration, what it deploys, and its environment; `env` is `null` for none. */
export type ConfigSource = { config: string; target: Target; env: string | null };

/**
 * Runs `use`, which may write the configuration with names. The file is beside the original, so
 * that relative paths stay valid, and is removed at the end. A killed run does not remove its file:
 * the next run replaces the file before wrangler reads it, and always removes it.
 */
export async function withNamedConfig<Result>(
  { config, target, env }: ConfigSource,
  use: (write: () => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const file = path.join(path.dirname(config), FILE);
  try {
    return await use(async () => {
      await writeFile(file, withNames(await readFile(config, "utf8"), target, env));
      return file;
    });
  } finally {
    await rm(file, { force: true });
  }
}

const HEADER = /^\[\[?\s*([\w.-]+)\s*\]\]?/;

/**
 * The wrangler configuration with the names of database and bucket. A first upload needs the names:
 * without them wrangler creates both, and fails if an interrupted run has created one before.
 * `wrangler.toml` itself stays without names, because local storage is found by the bindings.
 * Throws if the configuration does not have the two tables.
 */
export function withNames(toml: string, target: Target, environment: string | null): string {
  const table = environment === null ? "" : `env.${environment}.`;
  const lines = toml.split("\n");
  const insert = (kind: string, line: string, binding: string) => {
    const at = lines.findIndex(
      (_, index) =>
        HEADER.exec(lines[index] ?? "")?.[1] === `${table}${kind}` &&
        entryAt(lines, index).some((each) => isBinding(each, binding)),
    );
    if (at < 0)
      throw new Error(
        `The wrangler configuration has no [[${table}${kind}]] with binding = "${binding}". Add it, with ${line}`,
      );
    lines.splice(at + 1, 0, line);
  };
  const { database, bucket } = target;
  if (!database.isNamed)
    insert("d1_databases", `database_name = "${database.name}"`, database.binding);
  if (!bucket.isNamed) insert("r2_buckets", `bucket_name = "${bucket.name}"`, bucket.binding);
  return lines.join("\n");
}

/** Lines of the table whose header is at `index`. */
function entryAt(lines: readonly string[], index: number): string[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => HEADER.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

const isBinding = (line: string, binding: string): boolean =>
  /^\s*binding\s*=\s*["']([^"']+)["']/.exec(line)?.[1] === binding;
