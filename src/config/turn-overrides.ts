import { overridesRefusal, type OverridesRefusal } from "../coordination";
import type { AgentRules } from "../protocol/team";
import { type Overrides, rulesOfTurn } from "../protocol/turn-team";
import { hostById } from "../providers/hosts";
import { BACKEND_TYPES, type ServedType } from "../providers/registry";
import { type RateLimits, usualRates } from "../providers/rate-limits";
import { BACKEND } from "./backend-settings";
import { HOSTED_KEYS, type RequestedTool } from "./hosted-tools";
import { readModelRules } from "./model-rules";
import { type ConfigProblem, Findings, inReportForm, shortQuote, toPointer } from "./problems";
import type { Backend, Team, TeamAgent } from "./team";

/** A problem of overrides, with the fields of `FaultSchema`. `pointer`: into the request. */
export type OverridesProblem = { code: string; pointer: string; detail: string };

/** `overriddenAgents`: the rules of the agents that another model, or the coordination, changes. */
export type OverriddenTeam =
  | { ok: true; team: Team; overriddenAgents: AgentRules[]; warnings: OverridesProblem[] }
  | { ok: false; problems: OverridesProblem[] };

/**
 * The team as a turn with these overrides uses it. Agents keep their backends, addresses and keys.
 * The team may have sealed keys. Pure.
 */
export function withOverrides(team: Team, overrides: Overrides): OverriddenTeam {
  const refusal = overridesRefusal(team.rules, overrides);
  if (refusal) return { ok: false, problems: problemsOf(refusal, team, overrides) };
  const models = new Map(Object.entries(overrides.models ?? {}));
  const coordinates = !rulesOfTurn(team.rules, { overrides }).skip_coordination;
  const findings = new Findings(() => null);
  const changed = team.agents.map((agent, index) => {
    const rules = team.rules.agents[index];
    const model = models.get(agent.id);
    const needsFunctions = team.rules.skip_coordination && coordinates;
    const isChanged =
      model !== undefined || (needsFunctions && agent.backend.hostedTools.length > 0);
    return rules && isChanged
      ? withModel({ agent, rules }, { model: model ?? agent.backend.model, coordinates, findings })
      : { agent, rules: null };
  });
  const problems = [...findings.errors, ...findings.refusals];
  if (problems.length > 0) return { ok: false, problems: inReportForm(problems).map(toProblem) };
  const takesPart = ({ id }: TeamAgent) => overrides.agents?.includes(id) ?? true;
  const overriddenAgents = changed.flatMap(({ agent, rules }) =>
    rules && takesPart(agent) ? [rules] : [],
  );
  const leftOut = protecting(team.agents.filter((agent) => !takesPart(agent)));
  return {
    ok: true,
    team: {
      ...team,
      rules: rulesOfTurn(team.rules, { overrides, overridden_agents: overriddenAgents }),
      agents: changed.map(({ agent }) => agent).filter(takesPart),
      ...(leftOut.length > 0 && { leftOut }),
    },
    overriddenAgents,
    warnings: inReportForm(findings.warnings.filter(({ code }) => SHOWN.has(code))).map(toProblem),
  };
}

/** Warnings about another model. Others concern settings of the config, which stay the same. */
const SHOWN: ReadonlySet<string> = new Set(["price_unknown", "model_unknown", "research_calls"]);

const toProblem = ({ code, pointer, detail }: ConfigProblem): OverridesProblem => ({
  code,
  // The settings of a backend are not part of the request.
  pointer: pointer.split("/").slice(0, 4).join("/"),
  detail,
});

/** The contexts of agents that protect paths of them. */
const protecting = (agents: readonly TeamAgent[]): NonNullable<Team["leftOut"]> =>
  agents.flatMap(({ workspace }) => {
    const contexts = (workspace?.contexts ?? []).filter(
      ({ protectedPaths, teamProtectedPaths = [] }) =>
        protectedPaths.length + teamProtectedPaths.length > 0,
    );
    return contexts.length > 0 ? [{ workspace: { contexts } }] : [];
  });

type Member = { agent: TeamAgent; rules: AgentRules };
/** `coordinates`: whether the agent answers and votes by calling functions. */
type Choice = { model: string; coordinates: boolean; findings: Findings };

/** The agent with this model. Reports to `findings` why its backend cannot use the model. */
function withModel({ agent, rules }: Member, { model, coordinates, findings }: Choice): Member {
  const { backend } = agent;
  const path = ["overrides", "models", agent.id];
  if (!BACKEND.model.kind.accepts(model) || model.trim() !== model || model === "") {
    const detail = `The model of ${agent.id} must be ${BACKEND.model.kind.expected}; it is \`${shortQuote(model)}\`.`;
    findings.error("out_of_range", path, detail);
    return { agent, rules };
  }
  const maxUses = backend.hostedTools[0]?.maxUses;
  const section = {
    ...{ path, findings },
    values: new Map(maxUses === undefined ? [] : [[BACKEND.maxUses.key, maxUses]]),
  };
  const read = readModelRules(section, {
    ...{ type: typeOf(backend), host: hostById(backend.host), format: backend.format },
    ...{ baseUrl: backend.baseUrl, model, params: backend.params },
    cap: backend.capsOutput ? rules.max_output_tokens : null,
    requestedTools: backend.hostedTools.map(requested),
    offersFunctions: coordinates,
  });
  const { hosted_tools: _, hosted_alone: __, ...kept } = rules;
  const { rates: ___, ...unlimited } = backend;
  const rates = ratesWith(backend, model);
  return {
    agent: {
      ...agent,
      backend: { ...unlimited, model, hostedTools: read.hostedTools, ...(rates && { rates }) },
    },
    rules: { ...kept, ...read.rules },
  };
}

/** The type of a stored backend. A later version of the service may lack the type. */
function typeOf({ type: name, host, format, baseUrl }: Backend): ServedType {
  const type = Object.hasOwn(BACKEND_TYPES, name) ? BACKEND_TYPES[name] : undefined;
  return type?.served ? type : { served: true, name, host, format, baseUrl, model: null };
}

const requested = ({ name }: Backend["hostedTools"][number]): RequestedTool => ({
  name,
  key: HOSTED_KEYS.find(([, tool]) => tool === name)?.[0] ?? name,
});

/** The rate limits with another model. Default limits of the old model become those of the new. */
function ratesWith({ host, model: before, rates }: Backend, model: string): RateLimits | undefined {
  const usual = new Map(Object.entries(usualRates(host, before) ?? {}));
  const entries = Object.entries(rates ?? {});
  const own = entries.filter(([name, limit]) => usual.get(name) !== limit);
  if (own.length === entries.length) return rates;
  return { ...usualRates(host, model), ...Object.fromEntries(own) };
}

/** The most problems of one kind that a refusal lists. */
const MAX_PROBLEMS = 20;
/** The most agents that a message names. */
const MAX_NAMED = 16;

function namesOf(agents: Team["agents"]): string {
  const names = agents.slice(0, MAX_NAMED).map(({ id }) => id);
  const others = agents.length - names.length;
  return others > 0 ? `${names.join(", ")} and ${others} more` : names.join(", ");
}

/** What is wrong with refused overrides, at each place of the request. */
function problemsOf(
  refusal: OverridesRefusal,
  { agents }: Team,
  overrides: Overrides,
): OverridesProblem[] {
  const problem = (path: (string | number)[], detail: string): OverridesProblem => ({
    code: refusal.code,
    pointer: toPointer(["overrides", ...path]),
    detail,
  });
  const ids = namesOf(agents);
  switch (refusal.code) {
    case "quick_and_max_answers":
      return [
        problem(
          ["max_new_answers_per_agent"],
          "With `quick` each agent answers once: leave out `max_new_answers_per_agent` or `quick`.",
        ),
      ];
    case "no_agents":
      return [
        problem(["agents"], `No agent takes part: name one of ${ids}, or leave out \`agents\`.`),
      ];
    case "unknown_agents":
      return refusal.agents.slice(0, MAX_PROBLEMS).map((id) => {
        const index = overrides.agents?.indexOf(id) ?? -1;
        const detail = `The team has no agent \`${shortQuote(id)}\`. Its agents: ${ids}.`;
        return problem(index < 0 ? ["models", id] : ["agents", index], detail);
      });
    case "left_out_agents":
      return refusal.agents.map((id) =>
        problem(
          ["models", id],
          `${id} gets another model, but takes no part: add it to \`agents\`, or leave out its model.`,
        ),
      );
  }
}
