import type { TeamRules } from "../../protocol/team";
import type { Overrides, TurnTeam } from "../../protocol/turn-team";
import type { InputBody } from "../inputs";

type TurnRequestInput = Extract<InputBody, { type: "turn_requested" }>;

/** The team of a turn as `turn.started` stores it: only what differs from the session's team. */
export function turnTeam(
  session: TeamRules,
  { rules, overrides = {}, overriddenAgents = [] }: TurnRequestInput,
): TurnTeam {
  const differs = rules !== null && JSON.stringify(rules) !== JSON.stringify(session);
  return {
    ...(differs && { rules }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(overriddenAgents.length > 0 && { overridden_agents: [...overriddenAgents] }),
  };
}

/** Why overrides cannot apply to a team. */
export type OverridesRefusal =
  /** `quick` sets the number of answers itself. */
  | { ok: false; code: "quick_and_max_answers" }
  /** No agent takes part. */
  | { ok: false; code: "no_agents" }
  /** The team does not have these agents. */
  | { ok: false; code: "unknown_agents"; agents: readonly string[] }
  /** These agents get another model although they do not take part. */
  | { ok: false; code: "left_out_agents"; agents: readonly string[] };

/** Why these overrides cannot apply to a team; `null` if they can. */
export function overridesRefusal(team: TeamRules, overrides: Overrides): OverridesRefusal | null {
  const { agents, models = {}, quick, max_new_answers_per_agent: maxAnswers } = overrides;
  if (quick && maxAnswers !== undefined) return { ok: false, code: "quick_and_max_answers" };
  const ids = new Set(team.agents.map(({ id }) => id));
  const named = new Set([...(agents ?? []), ...Object.keys(models)]);
  const unknown = [...named.difference(ids)];
  if (unknown.length > 0) return { ok: false, code: "unknown_agents", agents: unknown };
  if (agents?.length === 0) return { ok: false, code: "no_agents" };
  const leftOut = Object.keys(models).filter((id) => agents && !agents.includes(id));
  return leftOut.length > 0 ? { ok: false, code: "left_out_agents", agents: leftOut } : null;
}
