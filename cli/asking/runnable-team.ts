import { verdictLines } from "../commands/config";
import type { Connection } from "../credentials/connection";
import { CliError, EXIT } from "../exit-codes";
import { checkTeam } from "../service/listings";
import type { Verdict } from "../service/schema";
import type { TeamChoice } from "./team-choice";

/**
 * `refused`: the first line of the error, which says what was not done. `pushes`: folders that the
 * config names will be pushed, so they count as pushed.
 */
type CheckOptions = { refused: string; pushes: boolean };

/**
 * Returns the service's verdict about a team. Throws CliError if the service refuses its config, so
 * that nothing is pushed for a question that cannot be asked.
 */
export async function requireRunnable(
  { request, source }: TeamChoice,
  { refused, pushes }: CheckOptions,
  connection: Connection,
): Promise<Verdict> {
  const { data } = await checkTeam(request, { ...connection, config: source });
  const refusals = data.refusals.filter(({ need }) => !pushes || need !== "host_context_path");
  if (data.errors.length + refusals.length === 0) return data;
  const lines = verdictLines({ ...data, runnable: false, refusals, warnings: [] }, source);
  throw new CliError(EXIT.config, [refused, ...lines].join("\n"));
}
