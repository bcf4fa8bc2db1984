import { LIMITS } from "../coordination";
import type { TeamRules } from "../protocol/team";
import { checkKeys } from "./check-keys";
import { subsection, type Section } from "./fields";
import { COORDINATION_KEYS, ORCHESTRATOR_KEYS, PERSONA_KEYS, TIMEOUT_KEYS } from "./known-keys";
import { readSetting } from "./setting";
import { COORDINATION, ORCHESTRATOR, PERSONAS, TIMEOUTS } from "./team-settings";
import type { PersonaSettings } from "./team";

type AnswerRules = Pick<
  TeamRules,
  | "max_new_answers_per_agent"
  | "max_new_answers_global"
  | "fairness_lead_cap_answers"
  | "answer_novelty_requirement"
  | "max_midstream_injections_per_round"
  | "max_calls_per_round"
  | "defer_voting_until_all_answered"
  | "paced_grace_agents"
  | "disable_injection"
  | "reuse_winning_answer"
>;

/** Reads the coordination rules of an `orchestrator` section. A missing key has its default. */
export function readOrchestrator(
  section: Section,
): AnswerRules & { skipRounds: boolean; skipVoting: boolean } {
  checkKeys(section, ORCHESTRATOR_KEYS);
  const isFair = readSetting(section, ORCHESTRATOR.fair);
  const maxLead = readSetting(section, ORCHESTRATOR.lead);
  const reusesAnswer =
    readSetting(section, ORCHESTRATOR.skipPresentation) ||
    section.values.get("final_answer_strategy") === "winner_reuse";
  return {
    ...(readSetting(section, ORCHESTRATOR.disableInjection) && { disable_injection: true }),
    ...(reusesAnswer && { reuse_winning_answer: true }),
    max_new_answers_per_agent: readSetting(section, ORCHESTRATOR.answersPerAgent),
    max_new_answers_global: readSetting(section, ORCHESTRATOR.answersGlobal),
    fairness_lead_cap_answers: isFair ? maxLead : null,
    answer_novelty_requirement: readSetting(section, ORCHESTRATOR.novelty),
    max_midstream_injections_per_round: readSetting(section, ORCHESTRATOR.injections),
    max_calls_per_round: readSetting(section, ORCHESTRATOR.callsPerRound),
    defer_voting_until_all_answered: readSetting(section, ORCHESTRATOR.deferVoting),
    paced_grace_agents: LIMITS.pacedGraceAgents,
    skipRounds: readSetting(section, ORCHESTRATOR.skipRounds),
    skipVoting: readSetting(section, ORCHESTRATOR.skipVoting),
  };
}

/** Settings of `orchestrator.coordination`. `maxRestarts`: attempts after the first one. */
export type Coordination = {
  maxRestarts: number;
  planningMode: boolean;
  planningInstruction: string | null;
  personas: PersonaSettings | null;
};

export function readCoordination(orchestrator: Section): Coordination {
  const section = subsection(orchestrator, "coordination");
  checkKeys(section, COORDINATION_KEYS);
  const planningMode = readSetting(section, COORDINATION.planning);
  const instruction = readSetting(section, COORDINATION.instruction);
  return {
    maxRestarts: readSetting(section, COORDINATION.restarts),
    planningMode,
    planningInstruction: planningMode ? instruction : null,
    personas: readPersonas(subsection(section, "persona_generator")),
  };
}

function readPersonas(section: Section): PersonaSettings | null {
  checkKeys(section, PERSONA_KEYS);
  const settings: PersonaSettings = {
    diversityMode: readSetting(section, PERSONAS.diversity),
    guidelines: readSetting(section, PERSONAS.guidelines),
    afterFirstAnswer: readSetting(section, PERSONAS.afterFirst),
  };
  return readSetting(section, PERSONAS.enabled) ? settings : null;
}

type Timeouts = Pick<
  TeamRules,
  | "orchestrator_timeout_ms"
  | "initial_round_timeout_ms"
  | "subsequent_round_timeout_ms"
  | "round_timeout_grace_ms"
  | "failing_member_grace_ms"
>;

/** Reads the time limits of `timeout_settings`. */
export function readTimeouts(section: Section): Timeouts {
  checkKeys(section, TIMEOUT_KEYS);
  return {
    orchestrator_timeout_ms: readSetting(section, TIMEOUTS.whole) * 1000,
    initial_round_timeout_ms: toMs(readSetting(section, TIMEOUTS.firstRound)),
    subsequent_round_timeout_ms: toMs(readSetting(section, TIMEOUTS.laterRounds)),
    round_timeout_grace_ms: readSetting(section, TIMEOUTS.grace) * 1000,
    failing_member_grace_ms: readSetting(section, TIMEOUTS.failingMember) * 1000,
  };
}

const toMs = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000);
