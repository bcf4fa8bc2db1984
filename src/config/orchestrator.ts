import type { TeamRules } from "../protocol/team";
import { checkKeys } from "./check-keys";
import { below, flag, integer, oneOf, read, type Section, text } from "./fields";
import { COORDINATION_KEYS, ORCHESTRATOR_KEYS, PERSONA_KEYS, TIMEOUT_KEYS } from "./known-keys";
import { MAX_TEXT_CHARS, MAX_TIMEOUT_SECONDS } from "./limits";
import type { PersonaSettings } from "./team";

export const SENSITIVITIES = oneOf(["lenient", "balanced", "strict"]);

/** More than any team needs; the coordination's own caps end it long before. */
const MAX_COUNT = 1000;
const COUNT = integer(1, MAX_COUNT);

type Answers = Pick<
  TeamRules,
  | "max_new_answers_per_agent"
  | "max_new_answers_global"
  | "fairness_lead_cap_answers"
  | "answer_novelty_requirement"
  | "max_midstream_injections_per_round"
  | "defer_voting_until_all_answered"
>;

/** The rules an `orchestrator` section sets, by MassGen's names; an absent key keeps its default. */
export function readOrchestrator(section: Section): Answers & { skipRounds: boolean } {
  checkKeys(section, ORCHESTRATOR_KEYS);
  const fair = read(section, "fairness_enabled", flag, true);
  const lead = read(section, "fairness_lead_cap_answers", COUNT, 2);
  return {
    max_new_answers_per_agent: read(section, "max_new_answers_per_agent", COUNT, 5),
    max_new_answers_global: read(section, "max_new_answers_global", COUNT, null),
    fairness_lead_cap_answers: fair ? lead : null,
    answer_novelty_requirement: read(section, "answer_novelty_requirement", SENSITIVITIES, "lenient"),
    max_midstream_injections_per_round: read(section, "max_midstream_injections_per_round", integer(0, MAX_COUNT), 2),
    defer_voting_until_all_answered: read(section, "defer_voting_until_all_answered", flag, false),
    skipRounds: read(section, "skip_coordination_rounds", flag, false),
  };
}

/** What `orchestrator.coordination` asks for. */
export type Coordination = {
  maxRestarts: number;
  planningMode: boolean;
  planningInstruction: string | null;
  personas: PersonaSettings | null;
};

export function readCoordination(orchestrator: Section): Coordination {
  const section = below(orchestrator, "coordination");
  checkKeys(section, COORDINATION_KEYS);
  const planningMode = read(section, "enable_planning_mode", flag, false);
  const instruction = read(section, "planning_mode_instruction", text(MAX_TEXT_CHARS), null);
  return {
    maxRestarts: read(section, "max_orchestration_restarts", integer(0, 10), 0),
    planningMode,
    planningInstruction: planningMode ? instruction : null,
    personas: readPersonas(below(section, "persona_generator")),
  };
}

function readPersonas(section: Section): PersonaSettings | null {
  checkKeys(section, PERSONA_KEYS);
  const settings: PersonaSettings = {
    diversityMode: read(section, "diversity_mode", oneOf(["perspective", "implementation", "methodology"]), "perspective"),
    guidelines: read(section, "persona_guidelines", text(MAX_TEXT_CHARS), null),
    afterFirstAnswer: read(section, "after_first_answer", oneOf(["drop", "soften", "keep"]), "drop"),
  };
  return read(section, "enabled", flag, false) ? settings : null;
}

/** The two time limits. The first round cannot outlast the whole. */
export function readTimeouts(section: Section): Pick<TeamRules, "orchestrator_timeout_ms" | "initial_round_timeout_ms"> {
  checkKeys(section, TIMEOUT_KEYS);
  const seconds = integer(1, MAX_TIMEOUT_SECONDS);
  const whole = read(section, "orchestrator_timeout_seconds", seconds, 1800);
  const firstRound = read(section, "initial_round_timeout_seconds", seconds, 600);
  return { orchestrator_timeout_ms: whole * 1000, initial_round_timeout_ms: Math.min(firstRound, whole) * 1000 };
}
