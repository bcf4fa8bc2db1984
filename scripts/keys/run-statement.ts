import * as z from "zod";
import { wranglerOutput } from "../../local/bundle/wrangler";

const ResultSchema = z.array(
  z.looseObject({ results: z.array(z.record(z.string(), z.unknown())).optional() }),
);

/**
 * Runs one SQL statement in the service's local or deployed database and returns its rows. Throws
 * wrangler's error.
 */
export const runStatement = async (
  sql: string,
  remote: boolean,
): Promise<Record<string, unknown>[]> => rowsIn(await wranglerOutput(statementArgs(sql, remote)));

/** Wrangler's arguments for one SQL statement. */
export const statementArgs = (sql: string, remote: boolean): string[] => [
  ...["d1", "execute", "DB", remote ? "--remote" : "--local"],
  ...["--json", "--yes", "--command", sql],
];

/** The rows in the output of such a command. */
export function rowsIn(output: string): Record<string, unknown>[] {
  const start = output.indexOf("[");
  const result = ResultSchema.parse(JSON.parse(start < 0 ? "[]" : output.slice(start)));
  return result.flatMap(({ results }) => results ?? []);
}
