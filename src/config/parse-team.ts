import type { TeamRules } from "../protocol/team";
import { byteLength } from "../coordination";
import { type AgentAndRules, readAgents } from "./agents";
import type { ConfigContext } from "./context";
import { checkKeys } from "./check-keys";
import { asSection, subsection, type Section } from "./fields";
import { TOP_KEYS, UI_KEYS } from "./known-keys";
import { MAX_TEAM_BYTES } from "./config-limits";
import {
  type Coordination,
  readCoordination,
  readOrchestrator,
  readTimeouts,
} from "./orchestrator";
import { inReportForm, type ConfigProblem, Findings } from "./problems";
import { readSetting } from "./setting";
import { ORCHESTRATOR, readSensitivity, UI } from "./team-settings";
import { readSource } from "./source";
import type { Team } from "./team";
import { readTeamFiles } from "./workspace";

export type { ConfigContext } from "./context";
export type { ConfigProblem, ProblemCode } from "./problems";

export type TeamResult =
  | { ok: true; team: Team; warnings: ConfigProblem[] }
  /** `errors` also contains refusals; `need` is the missing feature of a refusal. */
  | { ok: false; errors: ConfigProblem[]; warnings: ConfigProblem[] };

/**
 * Parses a team from a MassGen config: YAML text, or the equivalent JSON object. Does not throw for
 * invalid input. Reports all problems at once; problems in YAML text have a line and a column.
 * Pure.
 */
export function parseTeam(source: unknown, context: ConfigContext): TeamResult {
  const parsed = readSource(source);
  if (!parsed.ok) return { ok: false, errors: inReportForm(parsed.errors), warnings: [] };
  const findings = new Findings(parsed.locate, context.served, context.attached);
  const root = asRoot(parsed.root, findings);
  const team = root && readTeam(root, context);
  if (team) checkSize(team, findings);
  const warnings = inReportForm(findings.warnings);
  const errors = inReportForm([...findings.errors, ...findings.refusals]);
  if (!team || errors.length > 0) return { ok: false, errors, warnings };
  return { ok: true, team, warnings };
}

/**
 * The result of a check that starts no run. `errors` are mistakes; `refusals` are valid settings
 * that the service does not support.
 */
type TeamCheck = {
  runnable: boolean;
  errors: ConfigProblem[];
  refusals: ConfigProblem[];
  warnings: ConfigProblem[];
  /** Omitted if the team cannot run. */
  agents?: ListedAgent[];
};

/** An agent in a list. `type`: of its backend. */
export type ListedAgent = { id: string; type: string; provider: string; model: string };

/** The agents of a team, for lists. */
export const listAgents = ({ agents }: Team): ListedAgent[] =>
  agents.map(({ id, backend: { type, host, model } }) => ({ id, type, provider: host, model }));

/** Like `parseTeam`, with errors and refusals separated. Pure; never throws. */
export function checkTeam(source: unknown, context: ConfigContext): TeamCheck {
  const result = parseTeam(source, context);
  const problems = result.ok ? [] : result.errors;
  return {
    runnable: result.ok,
    errors: problems.filter(({ need }) => need === undefined),
    refusals: problems.filter(({ need }) => need !== undefined),
    warnings: result.warnings,
    ...(result.ok && { agents: listAgents(result.team) }),
  };
}

/**
 * Reports a team that is too large. A short config can become a large team: aliases repeat texts.
 */
function checkSize(team: Team, findings: Findings): void {
  const size = byteLength(JSON.stringify(team));
  if (size <= MAX_TEAM_BYTES) return;
  const detail = `The team has ${size} bytes with expanded aliases; the limit is ${MAX_TEAM_BYTES}. Shorten its texts.`;
  findings.error("too_large", [], detail);
}

/** The root section. An empty document becomes an empty section; then agents are missing. */
function asRoot(value: unknown, findings: Findings): Section | null {
  if (value instanceof Map || value === null || value === undefined)
    return asSection(value, [], findings);
  findings.error(
    "wrong_type",
    [],
    "A config must be a mapping with `agents`, `orchestrator` and so on.",
  );
  return null;
}

function readTeam(root: Section, context: ConfigContext): Team {
  checkKeys(root, TOP_KEYS);
  const orchestrator = subsection(root, "orchestrator");
  const { skipRounds, skipVoting, ...answerRules } = readOrchestrator(orchestrator);
  const coordination = readCoordination(orchestrator);
  const sensitivity = readSensitivity(orchestrator, ORCHESTRATOR.sensitivity.fallback);
  const singleAgentVotes = readUi(subsection(root, "ui"));
  const skipsCoordination = (agentCount: number) =>
    skipRounds || (agentCount === 1 && (skipVoting || !singleAgentVotes));
  const files = readTeamFiles(orchestrator, context);
  const hasVotes = (agentCount: number) => !skipsCoordination(agentCount);
  const agents = readAgents(root, { sensitivity, hasVotes, files }, context);
  if (skipVoting && agents.length > 1 && !skipRounds) refuseNoVotes(orchestrator);
  if (answerRules.reuse_winning_answer) refuseLostWork(orchestrator, coordination, agents);
  return assemble(agents, coordination, {
    ...answerRules,
    ...readTimeouts(subsection(root, "timeout_settings")),
    skip_coordination: skipsCoordination(agents.length),
  });
}

function refuseNoVotes({ path, findings }: Section): void {
  const { key } = ORCHESTRATOR.skipVoting;
  findings.refuse({ need: "no_votes", path: [...path, key], subject: `\`${key}\`` });
}

/**
 * Refuses to reuse the winning answer if only a presenter could execute the planned calls or write
 * into contexts.
 */
function refuseLostWork(
  { path, values, findings }: Section,
  { planningMode }: Coordination,
  agents: readonly AgentAndRules[],
): void {
  const canWriteContexts = agents.some(({ agent }) =>
    agent.workspace?.contexts.some(({ permission }) => permission === "write"),
  );
  const lostWork = planningMode
    ? "planned calls would never be made"
    : canWriteContexts
      ? "no agent would write into the contexts"
      : null;
  if (lostWork === null) return;
  const key =
    values.get(ORCHESTRATOR.skipPresentation.key) === true
      ? ORCHESTRATOR.skipPresentation.key
      : "final_answer_strategy";
  findings.error(
    "not_allowed",
    [...path, key],
    `Without a presentation ${lostWork}: remove \`${key}\`.`,
    "key",
  );
}

/** Whether a single agent answers, votes and presents. By default, it only presents. */
function readUi(section: Section): boolean {
  checkKeys(section, UI_KEYS);
  return readSetting(section, UI.full);
}

/** The rules that do not come from agents or from `orchestrator.coordination`. */
type OrchestratorRules = Omit<
  TeamRules,
  "agents" | "max_orchestration_restarts" | "planning_mode" | "personas"
>;

function assemble(
  agents: AgentAndRules[],
  coordination: Coordination,
  rules: OrchestratorRules,
): Team {
  return {
    rules: {
      ...rules,
      agents: agents.map((entry) => entry.rules),
      max_orchestration_restarts: coordination.maxRestarts,
      planning_mode: coordination.planningMode,
      personas: coordination.personas !== null,
    },
    agents: agents.map((entry) => entry.agent),
    planningInstruction: coordination.planningInstruction,
    personas: coordination.personas,
  };
}
