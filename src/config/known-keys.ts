import type { NeedId } from "./needs";
import { keysOf } from "./setting";
import { COORDINATION, ORCHESTRATOR, PERSONAS, TIMEOUTS, UI } from "./team-settings";

/**
 * Every key of a MassGen config by section, and its treatment. Data for `check-keys.ts`. A key that
 * is in no list is an error. The keys of `backend` are in `backend-keys.ts`.
 */
export type KeyRules = {
  /** Used. */
  served: readonly string[];
  /** Accepted with a warning; the value is its text. A trailing `*` matches any ending. */
  ignored: Readonly<Record<string, string>>;
  /** Unsupported need → its keys. Refused unless the value switches the feature off. */
  later: Readonly<Partial<Record<NeedId, readonly string[]>>>;
  /**
   * For settings in `later`: the key, or `key: value`, that enables their feature. Without it they
   * are ignored.
   */
  only?: Readonly<Record<string, string>>;
  /** Keys whose value determines the need; `value-needs.ts` reads them. */
  byValue?: readonly string[];
  /** Keys of MassGen's first version, with their modern form. */
  old?: Readonly<Record<string, string>>;
  /** Keys that belong elsewhere, with the place. */
  misplaced?: Readonly<Record<string, string>>;
  /** Where an unrecognised key may belong. */
  elsewhere?: string;
  /**
   * Whether newer versions add unlisted keys: then only misspellings of known keys are reported.
   */
  grows?: true;
};

export const TERMINAL =
  "it configures MassGen's terminal; use the event streams of runs instead (GET /api/sessions/{id}/events)";
const NO_EFFECT = "no effect, also in MassGen";
const NO_DOCKER = "the service has no Docker";

const OLD_KEYWORDS = {
  models: "write `agents`, a list with one entry per model, each with a `backend`",
  model_configs: "write the settings into the `backend` of each entry of `agents`",
  num_agents: "write one entry in `agents` for each agent",
  max_rounds: "write `orchestrator.max_new_answers_per_agent`",
  consensus_threshold:
    "agents vote until all have voted; `orchestrator.voting_sensitivity` sets how strictly they judge",
  voting_enabled:
    "agents always vote; `orchestrator.skip_coordination_rounds: true` lets the first agent answer alone",
  enable_voting:
    "agents always vote; `orchestrator.skip_coordination_rounds: true` lets the first agent answer alone",
};

export const TOP_KEYS: KeyRules = {
  served: ["agents", "agent", "orchestrator", "timeout_settings", "ui"],
  ignored: {
    display: NO_EFFECT,
    session_id:
      "every run starts its own session; to continue a session, use POST /api/sessions/{id}/turns",
  },
  later: {
    filesystem_memory: ["filesystem_memory"],
    permissions: ["permissions"],
  },
  byValue: ["hooks", "memory"],
  old: OLD_KEYWORDS,
};

export const AGENT_KEYS: KeyRules = {
  served: ["id", "backend", "system_message", "voting_sensitivity"],
  ignored: { append_system_prompt: `${NO_EFFECT}; write it into \`system_message\`` },
  later: { subagents: ["subagent_agents"], checkpoints: ["main_agent"] },
  byValue: ["memory"],
};

export const ORCHESTRATOR_KEYS: KeyRules = {
  served: [...keysOf(ORCHESTRATOR), "coordination", "context_paths"],
  ignored: {
    session_storage: NO_EFFECT,
    timeout: `${NO_EFFECT}; write \`timeout_settings.orchestrator_timeout_seconds\``,
    debug_final_answer: "use the event log",
    docker: NO_DOCKER,
    interactive_mode: TERMINAL,
    max_turns: TERMINAL,
  },
  later: {
    prompt_optimisation: ["dspy"],
    checklists: [
      "voting_threshold",
      "checklist_first_answer",
      "max_checklist_calls_per_round",
      "checklist_require_gap_report",
      "gap_report_mode",
      "allow_midstream_peer_updates_before_checklist_submit",
    ],
    other_coordination: ["presenter_agent", "defer_peer_updates_until_restart"],
    media_generation: [
      "image_generation_backend",
      "audio_generation_backend",
      "video_generation_backend",
      "enable_multimodal_tools",
      "multimodal_config",
    ],
    message_processing: ["enable_nlip", "nlip_config"],
    skills: ["skills_directory"],
  },
  only: { nlip_config: "enable_nlip" },
  byValue: ["coordination_mode", "final_answer_strategy", "type"],
  old: OLD_KEYWORDS,
};

export const COORDINATION_KEYS: KeyRules = {
  served: [...keysOf(COORDINATION), "persona_generator"],
  ignored: {
    use_two_tier_workspace: NO_EFFECT,
    write_mode: "agents never write to the files of a host",
    web_review: TERMINAL,
  },
  later: {
    task_plans: ["plan_depth", "plan_target_steps", "plan_target_chunks", "task_decomposer"],
    filesystem_memory: [
      "enable_memory_filesystem_mode",
      "learning_capture_mode",
      "disable_final_only_round_capture_fallback",
    ],
    skills: ["use_skills", "massgen_skills", "skills_directory", "load_previous_session_skills"],
    broadcasts: ["broadcast*", "response_depth"],
    compaction: ["compression_target_ratio"],
    evaluation_criteria: [
      "evaluation_criteria_generator",
      "criteria_mode",
      "bootstrap_*",
      "evolving_criteria",
      "checklist_criteria_*",
    ],
    round_evaluation: [
      "round_evaluator_*",
      "enable_quality_rethink_on_iteration",
      "enable_evaluator_personas",
      "improvements",
    ],
    novelty: ["novelty_injection", "enable_novelty_on_iteration"],
    prompt_improvement: ["prompt_improver"],
    early_voting: ["pre_collab_voting_threshold"],
    change_documents: ["enable_changedoc", "drift_conflict_policy"],
    trace_analysis: ["enable_execution_trace_analyzer", "auto_trace_analysis"],
    checkpoints: ["checkpoint_*", "standalone_checkpoint", "resume_from_log"],
    subagents: ["enable_subagents", "subagent_*", "subagents"],
    fast_iteration: [
      "fast_iteration_mode",
      "max_verifications_per_round",
      "max_internal_fix_loops",
      "skip_redundant_scaffolding",
    ],
  },
  only: {
    massgen_skills: "use_skills",
    skills_directory: "use_skills",
  },
};

export const PERSONA_KEYS: KeyRules = {
  served: keysOf(PERSONAS),
  ignored: {},
  later: { persona_backend: ["backend"], kept_personas: ["persist_across_turns"] },
};

export const TIMEOUT_KEYS: KeyRules = {
  served: keysOf(TIMEOUTS),
  ignored: { agent_timeout_seconds: `${NO_EFFECT}; write \`orchestrator_timeout_seconds\`` },
  later: {},
};

export const UI_KEYS: KeyRules = {
  served: keysOf(UI),
  ignored: {
    display_type: TERMINAL,
    logging_enabled: TERMINAL,
    automation_mode: TERMINAL,
    debug: TERMINAL,
    theme: TERMINAL,
    type: NO_EFFECT,
  },
  later: {},
};

const known = (...served: string[]): KeyRules => ({ served, ignored: {}, later: {} });

/** Entries of a feature that is refused as a whole: only unknown keys are reported. */
export const MCP_SERVER_KEYS: KeyRules = {
  ...known(
    ...[
      "name",
      "type",
      "command",
      "args",
      "env",
      "cwd",
      "url",
      "headers",
      "timeout",
      "http_read_timeout",
    ],
    ...["auth", "allowed_tools", "exclude_tools", "security", "defer_loading", "allowed_callers"],
  ),
  grows: true,
};
const OF_PROGRAMS = "it applies only to servers that are local programs";
/** A server over HTTP. */
export const HTTP_MCP_KEYS: KeyRules = {
  served: [
    "name",
    "type",
    "url",
    "headers",
    "auth",
    "timeout",
    "http_read_timeout",
    "allowed_tools",
    "exclude_tools",
    "read_only",
  ],
  ignored: {
    security: "the service checks every address itself and starts no programs",
    args: OF_PROGRAMS,
    env: OF_PROGRAMS,
    cwd: OF_PROGRAMS,
  },
  later: { tool_search: ["defer_loading"], tools_from_code: ["allowed_callers"] },
};
export const MCP_AUTH_KEYS = known(
  ...["type", "issuer", "client_id", "client_secret", "access_token", "refresh_token", "scope"],
);
/** A Python tool, which is refused. */
export const PYTHON_TOOL_KEYS = known(
  ...["name", "function", "category", "path", "description", "preset_args", "default_params"],
);
/** An HTTP tool. */
export const HTTP_TOOL_KEYS = known(
  ...[
    "name",
    "description",
    "parameters",
    "url",
    "method",
    "headers",
    "preset_args",
    "timeout_seconds",
  ],
);
/** A tool from the registry. */
export const REGISTERED_TOOL_KEYS = known("name");
export const RATE_KEYS = known("rpm", "tpm", "rpd", "tpd");
export const FILE_KEYS = known("image_path", "audio_path", "video_path", "file_path");
export const CONTEXT_PATH_KEYS = known("path", "permission", "protected_paths");
const OF_CONVERSATIONS =
  "conversations are summarized automatically before they exceed the context window";
const OF_MEMORY = "it applies to memory across sessions, which is off";
/** The turns of a session are its agents' memory. Longer-lived memory is refused. */
export const MEMORY_KEYS: KeyRules = {
  served: ["enabled", "conversation_memory", "persistent_memory"],
  ignored: { compression: OF_CONVERSATIONS, retrieval: OF_MEMORY, recording: OF_MEMORY },
  later: {},
  grows: true,
};
export const HOOKS_KEYS = known("PreToolUse", "PostToolUse");
export const HOOK_KEYS = known("matcher", "handler", "type", "fail_closed", "timeout");
