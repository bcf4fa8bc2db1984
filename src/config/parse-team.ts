import type { TeamRules } from "../protocol/team";
import { byteLength } from "../coordination";
import { type AgentAndRules, readAgents } from "./agents";
import type { ConfigContext } from "./context";
import { checkKeys } from "./check-keys";
import { asSection, below, type Section } from "./fields";
import { TOP_KEYS, UI_KEYS } from "./known-keys";
import { MAX_TEAM_BYTES } from "./limits";
import {
  type Coordination,
  readCoordination,
  readOrchestrator,
  readTimeouts,
} from "./orchestrator";
import { asTold, type ConfigProblem, Findings } from "./problems";
import { readSetting } from "./setting";
import { ORCHESTRATOR, readSensitivity, UI } from "./team-settings";
import { readSource } from "./source";
import type { Team } from "./team";
import { readTeamFiles } from "./workspace";

export type { ConfigContext } from "./context";
export type { ConfigProblem, ProblemCode } from "./problems";

export type TeamResult =
  | { ok: true; team: Team; warnings: ConfigProblem[] }
  /** Mistakes and refusals; a refusal names its `need`. */
  | { ok: false; errors: ConfigProblem[]; warnings: ConfigProblem[] };

/**
 * A team from a MassGen config: YAML text, or the same as a JSON object. Never throws on what a client wrote; every problem is
 * named at once, with line and column where there is text. Pure.
 */
export function parseTeam(source: unknown, context: ConfigContext): TeamResult {
  const read = readSource(source);
  if (!read.ok) return { ok: false, errors: asTold(read.errors), warnings: [] };
  const findings = new Findings(read.locate, context.served, context.attached);
  const root = asRoot(read.root, findings);
  const team = root && readTeam(root, context);
  if (team) checkSize(team, findings);
  const warnings = asTold(findings.warnings);
  const errors = asTold([...findings.errors, ...findings.refusals]);
  if (!team || errors.length > 0) return { ok: false, errors, warnings };
  return { ok: true, team, warnings };
}

/** What is said of a config that nobody runs yet. `errors` are mistakes, `refusals` what is right and not served here. */
export type TeamCheck = {
  runnable: boolean;
  errors: ConfigProblem[];
  refusals: ConfigProblem[];
  warnings: ConfigProblem[];
};

/** The same as `parseTeam` says, told apart for whoever mends the config. Pure, never throws. */
export function checkTeam(source: unknown, context: ConfigContext): TeamCheck {
  const result = parseTeam(source, context);
  const problems = result.ok ? [] : result.errors;
  return {
    runnable: result.ok,
    errors: problems.filter(({ need }) => need === undefined),
    refusals: problems.filter(({ need }) => need !== undefined),
    warnings: result.warnings,
  };
}

/** Few characters may come to a large team: an alias repeats a text for the price of its name. */
function checkSize(team: Team, findings: Findings): void {
  const size = byteLength(JSON.stringify(team));
  if (size <= MAX_TEAM_BYTES) return;
  const detail = `The team may take ${MAX_TEAM_BYTES} bytes, with what its aliases repeat; this takes ${size}. Shorten its texts.`;
  findings.error("too_large", [], detail);
}

/** An empty document is a config without agents, and says so. */
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
  const orchestrator = below(root, "orchestrator");
  const { skipRounds, skipVoting, ...answers } = readOrchestrator(orchestrator);
  const coordination = readCoordination(orchestrator);
  const sensitivity = readSensitivity(orchestrator, ORCHESTRATOR.sensitivity.fallback);
  const fullForOne = readUi(below(root, "ui"));
  const skips = (agents: number) => skipRounds || (agents === 1 && (skipVoting || !fullForOne));
  const files = readTeamFiles(orchestrator, context);
  const agents = readAgents(root, { sensitivity, vote: (count) => !skips(count), files }, context);
  if (skipVoting && agents.length > 1 && !skipRounds) refuseNoVotes(orchestrator);
  if (answers.reuse_winning_answer) refuseLostWork(orchestrator, coordination, agents);
  return assemble(agents, coordination, {
    ...answers,
    ...readTimeouts(below(root, "timeout_settings")),
    skip_coordination: skips(agents.length),
  });
}

function refuseNoVotes({ path, findings }: Section): void {
  const { key } = ORCHESTRATOR.skipVoting;
  findings.refuse({ need: "no_votes", path: [...path, key], subject: `\`${key}\`` });
}

/** What only a presenter does would be left undone. */
function refuseLostWork(
  { path, values, findings }: Section,
  { planningMode }: Coordination,
  agents: readonly AgentAndRules[],
): void {
  const writes = agents.some(({ agent }) =>
    agent.workspace?.contexts.some(({ permission }) => permission === "write"),
  );
  const undone = planningMode
    ? "planned calls would never be made"
    : writes
      ? "nobody would write into the contexts"
      : null;
  if (undone === null) return;
  const key =
    values.get(ORCHESTRATOR.skipPresentation.key) === true
      ? ORCHESTRATOR.skipPresentation.key
      : "final_answer_strategy";
  findings.error(
    "not_allowed",
    [...path, key],
    `Without a presentation ${undone}: remove \`${key}\`.`,
    "key",
  );
}

/** Whether a single agent goes through the full protocol: only if that is written. */
function readUi(section: Section): boolean {
  checkKeys(section, UI_KEYS);
  return readSetting(section, UI.full);
}

type OwnRules = Omit<
  TeamRules,
  "agents" | "max_orchestration_restarts" | "planning_mode" | "personas"
>;

function assemble(agents: AgentAndRules[], coordination: Coordination, rules: OwnRules): Team {
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
