import type { ConfigContext, ConfigProblem } from "../config/parse-team";
import { parseTeam } from "../config/parse-team";
import type { Team } from "../config/team";
import { unpricedAgents } from "../protocol/team";
import type { Suite } from "./schema";

/** All data of a run. It is fixed at the start: a change of the suite affects only the next run. */
type RunPlan = { suite: Suite; team: Team };

type PlanResult =
  | { ok: true; plan: RunPlan }
  | {
      ok: false;
      code: "unknown_team" | "config_invalid" | "price_unknown";
      detail: string;
      errors: ConfigProblem[];
    };

/**
 * `teams`: the configs of the included teams, by name. `config`: the settings of the deployment.
 */
type Offer = { teams: Readonly<Record<string, string>>; config: ConfigContext };

/**
 * The suite with its resolved team, or why it cannot run. Positions in `errors` refer to the team's
 * config. Pure.
 */
export function planRun(suite: Suite, { teams, config }: Offer): PlanResult {
  const source = typeof suite.team === "string" ? namedTeam(teams, suite.team) : suite.team;
  if (source === undefined) {
    return {
      ok: false,
      code: "unknown_team",
      detail: `There is no included team \`${suite.team}\`.`,
      errors: [],
    };
  }
  const parsed = parseTeam(source, config);
  if (!parsed.ok) {
    const detail = `The team of \`${suite.name}\` cannot run here: ${parsed.errors[0]?.detail}`;
    return { ok: false, code: "config_invalid", detail, errors: parsed.errors };
  }
  const unpriced = suite.budget.max_cost_usd === undefined ? [] : unpricedAgents(parsed.team.rules);
  if (unpriced.length === 0) return { ok: true, plan: { suite, team: parsed.team } };
  const detail = `The price of ${unpriced.join(", ")} is unknown, so max_cost_usd cannot limit the cases. Use max_tokens.`;
  return { ok: false, code: "price_unknown", detail, errors: [] };
}

const namedTeam = (teams: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(teams, name) ? teams[name] : undefined;
