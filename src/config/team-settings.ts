import { flag, integer, oneOf, read, type Section, text } from "./fields";
import { MAX_TEXT_CHARS, MAX_TIMEOUT_SECONDS, MAX_URL_CHARS } from "./config-limits";
import { setting } from "./setting";

export const SENSITIVITIES = oneOf(["lenient", "balanced", "strict"]);

/** MassGen's other voting sensitivities: they use checklists of criteria for an answer. */
const CHECKLISTS = /^(checklist|roi|sequential|adversarial|consistency|diversity|reflective)(_|$)/;

/** Reads the voting sensitivity. Refuses an unsupported sensitivity of MassGen. */
export function readSensitivity<F>(section: Section, fallback: F): Sensitivity | F {
  const { key } = ORCHESTRATOR.sensitivity;
  const value = section.values.get(key);
  if (typeof value !== "string" || !CHECKLISTS.test(value))
    return read(section, key, SENSITIVITIES, fallback);
  const place = {
    path: [...section.path, key],
    target: "value",
    subject: `\`${key}: ${value}\``,
  } as const;
  section.findings.refuse({ need: "checklists", ...place });
  return fallback;
}
type Sensitivity = "lenient" | "balanced" | "strict";

/** The highest value of a count. No team needs more; other limits of the coordination are lower. */
const MAX_COUNT = 1000;
const COUNT = integer(1, MAX_COUNT);
const SECONDS = integer(1, MAX_TIMEOUT_SECONDS);
const LONG_TEXT = text(MAX_TEXT_CHARS);

export const ORCHESTRATOR = {
  snapshots: setting(
    "snapshot_storage",
    text(MAX_URL_CHARS),
    null,
    "Enables all agents' workspaces if no agent enables its own. The path itself is ignored.",
  ),
  temporary: setting(
    "agent_temporary_workspace",
    text(MAX_URL_CHARS),
    null,
    "Same as `snapshot_storage`.",
  ),
  sensitivity: setting(
    "voting_sensitivity",
    SENSITIVITIES,
    "lenient",
    "How good an answer must be. `lenient`: good enough. `balanced`: complete and hard to improve. `strict`: reference quality.",
  ),
  answersPerAgent: setting(
    "max_new_answers_per_agent",
    COUNT,
    5,
    "Maximum answers of one agent in an attempt. Then it can only vote.",
  ),
  answersGlobal: setting(
    "max_new_answers_global",
    COUNT,
    null,
    "Maximum answers of the whole team in an attempt. First answers are never refused.",
  ),
  fair: setting(
    "fairness_enabled",
    flag,
    true,
    "Whether `fairness_lead_cap_answers` limits the lead of an agent over agents that still work.",
  ),
  lead: setting(
    "fairness_lead_cap_answers",
    integer(0, MAX_COUNT),
    2,
    "Maximum lead of an agent in answers.",
  ),
  novelty: setting(
    "answer_novelty_requirement",
    SENSITIVITIES,
    "lenient",
    "How different an answer must be from the answers that its author saw.",
  ),
  injections: setting(
    "max_midstream_injections_per_round",
    integer(0, MAX_COUNT),
    2,
    "How often per round an agent gets newer answers with a tool result. Further answers wait for the end of a reply.",
  ),
  callsPerRound: setting(
    "max_calls_per_round",
    COUNT,
    200,
    "Maximum model calls of one round. The agent gets a notice before the limit; after it, it can only answer or vote.",
  ),
  deferVoting: setting(
    "defer_voting_until_all_answered",
    flag,
    false,
    "Whether agents with an answer wait until every agent has one.",
  ),
  disableInjection: setting(
    "disable_injection",
    flag,
    false,
    "Whether agents see newer answers only if a vote needs them, not while they work.",
  ),
  skipPresentation: setting(
    "skip_final_presentation",
    flag,
    false,
    "Whether the winning answer becomes the final text unchanged, without another call.",
  ),
  skipVoting: setting(
    "skip_voting",
    flag,
    false,
    "For a single agent: whether its first answer is the final text.",
  ),
  skipRounds: setting(
    "skip_coordination_rounds",
    flag,
    false,
    "Whether the first agent presents immediately, without coordination.",
  ),
} as const;

export const COORDINATION = {
  restarts: setting(
    "max_orchestration_restarts",
    integer(0, 10),
    0,
    "How often the presenter may reject the final text and start another attempt.",
  ),
  planning: setting(
    "enable_planning_mode",
    flag,
    false,
    "Whether agents only plan calls of tools that act on the outside while they coordinate. The presenter can execute them.",
  ),
  tasks: setting(
    "enable_agent_task_planning",
    flag,
    false,
    "Whether agents keep to-do lists, with tools for them. Enables all agents' workspaces.",
  ),
  mostTasks: setting("max_tasks_per_plan", integer(1, 100), 10, "Maximum tasks in a to-do list."),
  tasksInFiles: setting(
    "task_planning_filesystem_mode",
    flag,
    null,
    "No effect: to-do lists are always stored in a file of the agent's workspace.",
  ),
  instruction: setting(
    "planning_mode_instruction",
    LONG_TEXT,
    null,
    "Instruction for agents in planning mode, in place of the built-in text.",
  ),
} as const;

export const PERSONAS = {
  enabled: setting(
    "enabled",
    flag,
    false,
    "Whether the first agent's model writes a persona for each agent.",
  ),
  diversity: setting(
    "diversity_mode",
    oneOf(["perspective", "implementation", "methodology"]),
    "perspective",
    "How the personas differ.",
  ),
  guidelines: setting(
    "persona_guidelines",
    LONG_TEXT,
    null,
    "Instructions for the model that writes the personas.",
  ),
  afterFirst: setting(
    "after_first_answer",
    oneOf(["drop", "soften", "keep"]),
    "drop",
    "Use of a persona after the first answer of its agent.",
  ),
} as const;

export const TIMEOUTS = {
  whole: setting(
    "orchestrator_timeout_seconds",
    SECONDS,
    1800,
    "Time limit of a turn in seconds, including its presentation.",
  ),
  firstRound: setting(
    "initial_round_timeout_seconds",
    SECONDS,
    null,
    "Time limit of an agent's first round in seconds. Omitted: only the turn's limit applies.",
  ),
  laterRounds: setting(
    "subsequent_round_timeout_seconds",
    SECONDS,
    null,
    "Time limit of each later round in seconds. Omitted: only the turn's limit applies.",
  ),
  grace: setting(
    "round_timeout_grace_seconds",
    integer(0, MAX_TIMEOUT_SECONDS),
    120,
    "Seconds after a round's time limit in which the agent may still use tools. Then it has 60 seconds to answer or vote.",
  ),
  failingMember: setting(
    "failing_member_grace_seconds",
    integer(0, MAX_TIMEOUT_SECONDS),
    5,
    "Seconds that the team waits for an agent whose calls fail, once all other agents have decided. Then this agent drops out.",
  ),
} as const;

export const UI = {
  full: setting(
    "use_orchestrator_for_single_agent",
    flag,
    false,
    "Whether a single agent coordinates as a team does: it answers, votes and presents. If not, it only presents.",
  ),
} as const;
