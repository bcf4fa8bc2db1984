import type { NeedId } from "./needs";
import { keysOf } from "./setting";
import { COORDINATION, ORCHESTRATOR, PERSONAS, TIMEOUTS, UI } from "./team-settings";

/**
 * The keys of one section of a MassGen config, and how `check-keys.ts` treats them. A key that is
 * in no list is an error. The keys of `backend` are in `backend-keys.ts`.
 */
export type KeyRules = {
  /** Supported keys. */
  served: readonly string[];
  /**
   * Keys that are accepted with a warning; the value is the reason in the warning. A `*` at the end
   * of a key matches any ending.
   */
  ignored: Readonly<Record<string, string>>;
  /**
   * Keys of unsupported features, by feature. A key is refused unless its value switches the
   * feature off.
   */
  unsupported: Readonly<Partial<Record<NeedId, readonly string[]>>>;
  /**
   * For keys in `unsupported`: the setting (`key` or `key: value`) that enables their feature. If
   * the config does not have this setting, the keys are ignored.
   */
  requires?: Readonly<Record<string, string>>;
  /** Keys that only some values make unsupported; `value-needs.ts` checks the values. */
  refusedByValue?: readonly string[];
  /** Keys of MassGen's first version, with advice for the current form. */
  firstVersionKeys?: Readonly<Record<string, string>>;
  /** Keys that belong into another section, with that section. */
  misplaced?: Readonly<Record<string, string>>;
  /** Advice in the error for an unknown key. Omitted: the list of known keys. */
  unknownKeyHint?: string;
  /**
   * Whether MassGen may have keys that are not listed here. Then only misspellings of known keys
   * are reported.
   */
  isIncomplete?: true;
};

export const TERMINAL =
  "it configures MassGen's terminal; use the event streams of runs instead (GET /api/sessions/{id}/events)";
const NO_EFFECT = "no effect, also in MassGen";
const NO_DOCKER = "the service has no Docker";

const FIRST_VERSION_KEYS = {
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
  unsupported: {
    filesystem_memory: ["filesystem_memory"],
    permissions: ["permissions"],
  },
  refusedByValue: ["hooks", "memory"],
  firstVersionKeys: FIRST_VERSION_KEYS,
};

export const AGENT_KEYS: KeyRules = {
  served: ["id", "backend", "system_message", "voting_sensitivity"],
  ignored: { append_system_prompt: `${NO_EFFECT}; write it into \`system_message\`` },
  unsupported: { subagents: ["subagent_agents"], checkpoints: ["main_agent"] },
  refusedByValue: ["memory"],
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
  unsupported: {
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
  requires: { nlip_config: "enable_nlip" },
  refusedByValue: ["coordination_mode", "final_answer_strategy", "type"],
  firstVersionKeys: FIRST_VERSION_KEYS,
};

export const COORDINATION_KEYS: KeyRules = {
  served: [...keysOf(COORDINATION), "persona_generator"],
  ignored: {
    use_two_tier_workspace: NO_EFFECT,
    write_mode: "agents never write to the files of a host",
    web_review: TERMINAL,
  },
  unsupported: {
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
  requires: {
    massgen_skills: "use_skills",
    skills_directory: "use_skills",
  },
};

export const PERSONA_KEYS: KeyRules = {
  served: keysOf(PERSONAS),
  ignored: {},
  unsupported: { persona_backend: ["backend"], kept_personas: ["persist_across_turns"] },
};

export const TIMEOUT_KEYS: KeyRules = {
  served: keysOf(TIMEOUTS),
  ignored: { agent_timeout_seconds: `${NO_EFFECT}; write \`orchestrator_timeout_seconds\`` },
  unsupported: {},
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
  unsupported: {},
};

const onlyKeys = (...served: string[]): KeyRules => ({ served, ignored: {}, unsupported: {} });

/** A tool server that is refused as a whole; only its unknown keys are reported. */
export const MCP_SERVER_KEYS: KeyRules = {
  ...onlyKeys(
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
  isIncomplete: true,
};
const PROGRAMS_ONLY = "it applies only to servers that are local programs";
/** A tool server over HTTP. */
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
    args: PROGRAMS_ONLY,
    env: PROGRAMS_ONLY,
    cwd: PROGRAMS_ONLY,
  },
  unsupported: { tool_search: ["defer_loading"], tools_from_code: ["allowed_callers"] },
};
export const MCP_AUTH_KEYS = onlyKeys(
  ...["type", "issuer", "client_id", "client_secret", "access_token", "refresh_token", "scope"],
);
/** A Python tool, which is refused. */
export const PYTHON_TOOL_KEYS = onlyKeys(
  ...["name", "function", "category", "path", "description", "preset_args", "default_params"],
);
/** An HTTP tool. */
export const HTTP_TOOL_KEYS = onlyKeys(
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
export const REGISTERED_TOOL_KEYS = onlyKeys("name");
export const RATE_KEYS = onlyKeys("rpm", "tpm", "rpd", "tpd");
export const FILE_KEYS = onlyKeys("image_path", "audio_path", "video_path", "file_path");
export const CONTEXT_PATH_KEYS = onlyKeys("path", "permission", "protected_paths");
const COMPACTION_IS_AUTOMATIC =
  "conversations are summarized automatically before they exceed the context window";
const PERSISTENT_MEMORY_ONLY = "it applies to memory across sessions, which is off";
/** Memory settings. Agents always remember the turns of a session; other memory is refused. */
export const MEMORY_KEYS: KeyRules = {
  served: ["enabled", "conversation_memory", "persistent_memory"],
  ignored: {
    compression: COMPACTION_IS_AUTOMATIC,
    retrieval: PERSISTENT_MEMORY_ONLY,
    recording: PERSISTENT_MEMORY_ONLY,
  },
  unsupported: {},
  isIncomplete: true,
};
export const HOOKS_KEYS = onlyKeys("PreToolUse", "PostToolUse");
export const HOOK_KEYS = onlyKeys("matcher", "handler", "type", "fail_closed", "timeout");
