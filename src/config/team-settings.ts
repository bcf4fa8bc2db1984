import { flag, integer, oneOf, read, type Section, text } from "./fields";
import { MAX_TEXT_CHARS, MAX_TIMEOUT_SECONDS, MAX_URL_CHARS } from "./config-limits";
import { setting } from "./setting";

export const SENSITIVITIES = oneOf(["lenient", "balanced", "strict"]);

/** MassGen's other sensitivities: checklists of criteria for an answer. */
const CHECKLISTS = /^(checklist|roi|sequential|adversarial|consistency|diversity|reflective)(_|$)/;

/** The voting sensitivity. An unsupported one is refused by name. */
export function readSensitivity<F>(section: Section, fallback: F): Sensitivity | F {
  const { key } = ORCHESTRATOR.sensitivity;
  const written = section.values.get(key);
  if (typeof written !== "string" || !CHECKLISTS.test(written))
    return read(section, key, SENSITIVITIES, fallback);
  const place = {
    path: [...section.path, key],
    target: "value",
    subject: `\`${key}: ${written}\``,
  } as const;
  section.findings.refuse({ need: "checklists", ...place });
  return fallback;
}
type Sensitivity = "lenient" | "balanced" | "strict";

/** More than any team needs; the coordination's own limits apply earlier. */
const MAX_COUNT = 1000;
const COUNT = integer(1, MAX_COUNT);
const SECONDS = integer(1, MAX_TIMEOUT_SECONDS);
const LONG_TEXT = text(MAX_TEXT_CHARS);

export const ORCHESTRATOR = {
  snapshots: setting(
    "snapshot_storage",
    text(MAX_URL_CHARS),
    null,
    "Switches workspaces on where no agent asks for its own; the path itself means nothing here.",
  ),
  temporary: setting(
    "agent_temporary_workspace",
    text(MAX_URL_CHARS),
    null,
    "As `snapshot_storage`.",
  ),
  sensitivity: setting(
    "voting_sensitivity",
    SENSITIVITIES,
    "lenient",
    "How strictly agents judge: good enough; complete and hard to improve; reference quality.",
  ),
  answersPerAgent: setting(
    "max_new_answers_per_agent",
    COUNT,
    5,
    "Most answers one agent may give in an attempt; then it can only vote.",
  ),
  answersGlobal: setting(
    "max_new_answers_global",
    COUNT,
    null,
    "Most answers of the whole team in an attempt; first answers are never refused.",
  ),
  fair: setting(
    "fairness_enabled",
    flag,
    true,
    "Whether an agent may be only so many answers ahead of others who still work.",
  ),
  lead: setting(
    "fairness_lead_cap_answers",
    integer(0, MAX_COUNT),
    2,
    "How many answers it may be ahead.",
  ),
  novelty: setting(
    "answer_novelty_requirement",
    SENSITIVITIES,
    "lenient",
    "How different an answer must be from those its author was shown.",
  ),
  injections: setting(
    "max_midstream_injections_per_round",
    integer(0, MAX_COUNT),
    2,
    "How often newer answers come with a tool result in one round; the rest waits for the end of a reply.",
  ),
  callsPerRound: setting(
    "max_calls_per_round",
    COUNT,
    200,
    "Most model calls of one round. The agent is warned before; then it can only decide.",
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
    "Whether agents are shown newer answers only where a vote needs them, not while they work.",
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
    "For a single agent: its first answer is the final text.",
  ),
  skipRounds: setting(
    "skip_coordination_rounds",
    flag,
    false,
    "Straight to the presentation by the first agent.",
  ),
} as const;

export const COORDINATION = {
  restarts: setting(
    "max_orchestration_restarts",
    integer(0, 10),
    0,
    "How often the presenter may reject the final text and restart the team.",
  ),
  planning: setting(
    "enable_planning_mode",
    flag,
    false,
    "While agents coordinate, tools that act on the outside are planned, not executed.",
  ),
  tasks: setting(
    "enable_agent_task_planning",
    flag,
    false,
    "Whether agents keep to-do lists, with tools for them. Switches all agents' workspaces on.",
  ),
  mostTasks: setting("max_tasks_per_plan", integer(1, 100), 10, "Most tasks of such a list."),
  tasksInFiles: setting(
    "task_planning_filesystem_mode",
    flag,
    null,
    "To-do lists are always stored in a file of the agent's workspace.",
  ),
  instruction: setting(
    "planning_mode_instruction",
    LONG_TEXT,
    null,
    "What to say to agents in planning mode instead of the built-in text.",
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
    "In what the personas differ.",
  ),
  guidelines: setting("persona_guidelines", LONG_TEXT, null, "Instructions for writing them."),
  afterFirst: setting(
    "after_first_answer",
    oneOf(["drop", "soften", "keep"]),
    "drop",
    "Use of a persona after its agent's first answer.",
  ),
} as const;

export const TIMEOUTS = {
  whole: setting(
    "orchestrator_timeout_seconds",
    SECONDS,
    1800,
    "Seconds a turn may take, with its presentation.",
  ),
  firstRound: setting(
    "initial_round_timeout_seconds",
    SECONDS,
    null,
    "Seconds an agent may take for its first answer; without it there is no limit but the turn's.",
  ),
  laterRounds: setting(
    "subsequent_round_timeout_seconds",
    SECONDS,
    null,
    "Seconds an agent may take for each later round; without it there is no limit but the turn's.",
  ),
  grace: setting(
    "round_timeout_grace_seconds",
    integer(0, MAX_TIMEOUT_SECONDS),
    120,
    "Seconds an agent may still use its tools after either of the two. Then it can only decide, within 60 seconds.",
  ),
} as const;

export const UI = {
  full: setting(
    "use_orchestrator_for_single_agent",
    flag,
    false,
    "Whether a single agent answers, judges itself and presents, instead of answering at once.",
  ),
} as const;
