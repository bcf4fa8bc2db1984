import { z } from "zod";
import { wranglerOutput } from "../../local/bundle/wrangler";

const ResultSchema = z.array(
  z.looseObject({ results: z.array(z.record(z.string(), z.unknown())).optional() }),
);

/**
 * Runs one SQL statement in the service's local or deployed database and returns its rows. Throws
 * wrangler's error.
 */
export async function runStatement(
  sql: string,
  remote: boolean,
): Promise<Record<string, unknown>[]> {
  const place = remote ? "--remote" : "--local";
  const printed = await wranglerOutput([
    "d1",
    "execute",
    "DB",
    place,
    "--json",
    "--yes",
    "--command",
    sql,
  ]);
  const from = printed.indexOf("[");
  const result = ResultSchema.parse(JSON.parse(from < 0 ? "[]" : printed.slice(from)));
  return result.flatMap(({ results }) => results ?? []);
}
