import { parseTeam } from "../../config/parse-team";
import type { Team } from "../../config/team";
import type { RunRequest } from "../../protocol/api";
import type { Call } from "../api-env";
import { ApiError, type Fault } from "../errors";
import { configContextFor } from "./config-context";
import { teamSource } from "./teams";

type ParsedTeam = { team: Team; warnings: readonly Fault[] };

/**
 * The team of the request, which is a name, an object or YAML. Throws an error that lists every
 * problem of the config.
 */
export async function readTeam(
  context: Call,
  request: Pick<RunRequest, "config" | "config_yaml">,
  attached: string[],
): Promise<ParsedTeam> {
  const { name, source } = teamSource(context.env.teams, request);
  const result = parseTeam(source, { ...(await configContextFor(context, source)), attached });
  if (result.ok) return { team: result.team, warnings: result.warnings };
  const [first] = result.errors;
  const team = name === null ? "" : `The team "${name}" cannot run here: `;
  const place = team || (first?.line ? `line ${first.line}: ` : "");
  const rest = result.errors.length > 1 ? ` (and ${result.errors.length - 1} more)` : "";
  throw new ApiError("config_invalid", `${place}${first?.detail}${rest}`, {
    errors: result.errors,
  });
}
