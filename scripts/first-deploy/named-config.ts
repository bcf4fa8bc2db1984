import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Target } from "./target";

const NAMED_CONFIG_FILE = ".first-deploy.toml";

/** A wrangler configuration, what it deploys, and its environment; `env` is `null` for none. */
export type ConfigSource = { config: string; target: Target; env: string | null };

/**
 * Runs `work`, which may write the configuration with names. The file is beside the original, so
 * that relative paths stay valid, and is removed at the end. A killed run does not remove its file.
 * So the next run replaces the file before wrangler reads it, and removes it in any case.
 */
export async function withNamedConfig<Result>(
  { config, target, env }: ConfigSource,
  work: (write: () => Promise<string>) => Promise<Result>,
): Promise<Result> {
  const file = path.join(path.dirname(config), NAMED_CONFIG_FILE);
  try {
    return await work(async () => {
      await writeFile(file, withNames(await readFile(config, "utf8"), target, env));
      return file;
    });
  } finally {
    await rm(file, { force: true });
  }
}

const TABLE_HEADER = /^\[\[?\s*([\w.-]+)\s*\]\]?/;

/**
 * Adds the names of database and bucket to a wrangler configuration. A first upload needs the
 * names. Without them, wrangler creates both resources, and fails if an interrupted run has created
 * a resource before. `wrangler.toml` itself has no names, because local storage is found by the
 * bindings. Throws if the configuration does not have the two tables.
 */
export function withNames(toml: string, target: Target, environment: string | null): string {
  const table = environment === null ? "" : `env.${environment}.`;
  const lines = toml.split("\n");
  const insert = (kind: string, line: string, binding: string) => {
    const headerIndex = lines.findIndex(
      (_, index) =>
        TABLE_HEADER.exec(lines[index] ?? "")?.[1] === `${table}${kind}` &&
        tableLines(lines, index).some((tableLine) => isBinding(tableLine, binding)),
    );
    if (headerIndex < 0)
      throw new Error(
        `The wrangler configuration has no [[${table}${kind}]] with binding = "${binding}". Add it, with ${line}`,
      );
    lines.splice(headerIndex + 1, 0, line);
  };
  const { database, bucket } = target;
  if (!database.isNamed)
    insert("d1_databases", `database_name = "${database.name}"`, database.binding);
  if (!bucket.isNamed) insert("r2_buckets", `bucket_name = "${bucket.name}"`, bucket.binding);
  return lines.join("\n");
}

/** The lines of the table whose header is at `index`. */
function tableLines(lines: readonly string[], index: number): string[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => TABLE_HEADER.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

const isBinding = (line: string, binding: string): boolean =>
  /^\s*binding\s*=\s*["']([^"']+)["']/.exec(line)?.[1] === binding;
