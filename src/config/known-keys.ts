/**
 * Every key a MassGen config may hold, per section, and what this service does with it. Data only; `check-keys.ts` reads it.
 * A key that is in none of these lists is a mistake of whoever wrote the config.
 */
export type KeyRules = {
  /** Obeyed. */
  served: readonly string[];
  /** Accepted with a warning, and what to know instead. A trailing `*` stands for any ending. */
  ignored: Readonly<Record<string, string>>;
  /** Feature that is not here yet → its keys. Refused, unless the value switches the feature off. */
  later: Readonly<Record<string, readonly string[]>>;
  /** Keys of MassGen's first version, and the modern form. */
  old?: Readonly<Record<string, string>>;
  /** Where else a key may belong that is like none here. */
  elsewhere?: string;
};

const TERMINAL = "it is about a terminal on your own machine; here every run has event streams and a page instead";
const NO_EFFECT = "it has no effect, in MassGen neither";

const OLD_KEYWORDS = {
  models: "write `agents`, a list with one entry per model, each with its own `backend`",
  model_configs: "write the settings into the `backend` of each entry of `agents`",
  num_agents: "write one entry in `agents` for each agent",
  max_rounds: "write `orchestrator.max_new_answers_per_agent`",
  consensus_threshold: "agents vote until all have voted; `orchestrator.voting_sensitivity` says how strictly they judge",
  voting_enabled: "agents always vote; `orchestrator.skip_coordination_rounds: true` lets the first agent answer alone",
  enable_voting: "agents always vote; `orchestrator.skip_coordination_rounds: true` lets the first agent answer alone",
};

export const TOP_KEYS: KeyRules = {
  served: ["agents", "agent", "orchestrator", "timeout_settings", "ui"],
  ignored: {
    display: NO_EFFECT,
    session_id: "every run starts a session of its own; go on in one with POST /api/sessions/{id}/turns",
  },
  later: {
    "persistent memory": ["memory", "filesystem_memory"],
    hooks: ["hooks"],
    "permission policies": ["permissions"],
  },
  old: OLD_KEYWORDS,
};

export const AGENT_KEYS: KeyRules = {
  served: ["id", "backend", "system_message", "voting_sensitivity"],
  ignored: { append_system_prompt: `${NO_EFFECT}; write it into \`system_message\`` },
  later: { "persistent memory": ["memory"], "sub-agents": ["subagent_agents"], "checkpoint coordination": ["main_agent"] },
};

export const BACKEND_KEYS: KeyRules = {
  served: [
    ...["type", "model", "api_key", "base_url", "extra_body"],
    ...["enable_web_search", "enable_x_search", "enable_code_interpreter", "enable_code_execution", "hosted_tool_max_uses"],
    ...["api", "api_version", "azure_endpoint", "azure_deployment", "deployment_name"],
  ],
  ignored: {
    provider: "the provider is known from `base_url`",
    provider_name: "the provider is known from `base_url`",
    instance_id: "every run is isolated already",
    enable_rate_limit: "rate limits of providers are always respected",
    permission_mode: "nobody is asked while a run goes on; files are written in the agent's own workspace only",
    command_line_execution_mode: "no command runs on a host here",
    "command_line_docker_*": "there is no Docker here",
    "command_line_srt_*": "no command runs on a host here",
    copilot_permission_policy: "nobody is asked while a run goes on",
    copilot_system_message_mode: "system messages are always complete",
    use_default_prompt: "the system prompt is the coordination's own",
  },
  later: {
    workspaces: ["cwd", "context_paths", "enforce_read_before_delete", "exclude_file_operation_mcps", "shared_tools_directory"],
    "tools called from code": ["enable_programmatic_flow"],
    "media generation": [
      "enable_image_generation",
      "enable_audio_generation",
      "enable_video_generation",
      "enable_file_generation",
      "enable_multimodal_tools",
    ],
    "file uploads": ["upload_files", "media_max_file_size_mb"],
    "MCP servers": [
      "mcp_servers",
      "direct_mcp_servers",
      "allowed_tools",
      "exclude_tools",
      "disallowed_tools",
      "max_mcp_message_history",
    ],
    "tool search": ["enable_tool_search", "tool_search_variant", "enable_strict_tool_use", "concurrent_tool_execution"],
    "custom tools": [
      "custom_tools",
      "custom_tools_path",
      "auto_discover_custom_tools",
      "exclude_custom_tools",
      "enable_code_based_tools",
    ],
    "shell tools": ["enable_mcp_command_line", "command_line_*"],
    "structured output": ["output_schema"],
    hooks: ["hooks"],
  },
  elsewhere: "A parameter of the provider's own goes under extra_body.",
};

/** Keys of a versioned endpoint, which only its own backend type has. */
export const VERSIONED_KEYS = ["api_version", "azure_endpoint", "azure_deployment", "deployment_name"] as const;

/** Keys of backend types that are not served: right in theirs, meaningless in any other. */
export const OTHER_TYPES_KEYS: readonly string[] = [
  ...["agent_config", "group_config"],
  ...["environment_config", "display_width", "display_height"],
];

export const ORCHESTRATOR_KEYS: KeyRules = {
  served: [
    "voting_sensitivity",
    "max_new_answers_per_agent",
    "max_new_answers_global",
    "fairness_enabled",
    "fairness_lead_cap_answers",
    "answer_novelty_requirement",
    "max_midstream_injections_per_round",
    "defer_voting_until_all_answered",
    "skip_coordination_rounds",
    "coordination",
  ],
  ignored: {
    session_storage: NO_EFFECT,
    timeout: `${NO_EFFECT}; write \`timeout_settings.orchestrator_timeout_seconds\``,
    debug_final_answer: "runs are looked into through their event log",
    docker: "there is no Docker here",
    interactive_mode: TERMINAL,
    max_turns: TERMINAL,
  },
  later: {
    workspaces: ["snapshot_storage", "agent_temporary_workspace", "context_paths"],
    "prompt optimisation": ["dspy"],
    "checklist voting": [
      "voting_threshold",
      "checklist_first_answer",
      "max_checklist_calls_per_round",
      "checklist_require_gap_report",
      "gap_report_mode",
      "allow_midstream_peer_updates_before_checklist_submit",
    ],
    "another way of coordinating": [
      "coordination_mode",
      "presenter_agent",
      "final_answer_strategy",
      "skip_final_presentation",
      "skip_voting",
      "disable_injection",
      "defer_peer_updates_until_restart",
      "type",
    ],
    "media generation": [
      "enable_multimodal_tools",
      "image_generation_backend",
      "audio_generation_backend",
      "video_generation_backend",
      "multimodal_config",
    ],
    "message processing": ["enable_nlip", "nlip_config"],
    skills: ["skills_directory"],
  },
  old: OLD_KEYWORDS,
};

export const COORDINATION_KEYS: KeyRules = {
  served: ["max_orchestration_restarts", "enable_planning_mode", "planning_mode_instruction", "persona_generator"],
  ignored: { use_two_tier_workspace: NO_EFFECT, write_mode: "nothing is written to a host", web_review: TERMINAL },
  later: {
    "task planning": [
      "enable_agent_task_planning",
      "max_tasks_per_plan",
      "task_planning_filesystem_mode",
      "plan_depth",
      "plan_target_steps",
      "plan_target_chunks",
      "task_decomposer",
    ],
    "persistent memory": ["enable_memory_filesystem_mode", "learning_capture_mode", "disable_final_only_round_capture_fallback"],
    skills: ["use_skills", "massgen_skills", "skills_directory", "load_previous_session_skills"],
    "messages between agents": ["broadcast*", "response_depth"],
    compaction: ["compression_target_ratio"],
    "evaluation criteria": [
      "evaluation_criteria_generator",
      "criteria_mode",
      "bootstrap_*",
      "evolving_criteria",
      "checklist_criteria_*",
    ],
    "round evaluation": ["round_evaluator_*", "enable_quality_rethink_on_iteration", "enable_evaluator_personas", "improvements"],
    "novelty injection": ["novelty_injection", "enable_novelty_on_iteration"],
    "prompt improvement": ["prompt_improver"],
    "voting before working together": ["pre_collab_voting_threshold"],
    "change documents": ["enable_changedoc", "drift_conflict_policy"],
    "trace analysis": ["enable_execution_trace_analyzer", "auto_trace_analysis"],
    checkpoints: ["checkpoint_*", "standalone_checkpoint", "resume_from_log"],
    "sub-agents": ["enable_subagents", "subagent_*", "subagents"],
    "fast iteration": [
      "fast_iteration_mode",
      "max_verifications_per_round",
      "max_internal_fix_loops",
      "skip_redundant_scaffolding",
    ],
  },
};

export const PERSONA_KEYS: KeyRules = {
  served: ["enabled", "diversity_mode", "persona_guidelines", "after_first_answer"],
  ignored: {},
  later: { "personas by another backend": ["backend"], "kept personas": ["persist_across_turns"] },
};

export const TIMEOUT_KEYS: KeyRules = {
  served: ["orchestrator_timeout_seconds", "initial_round_timeout_seconds"],
  ignored: { agent_timeout_seconds: `${NO_EFFECT}; write \`orchestrator_timeout_seconds\`` },
  later: { "time limits of later rounds": ["subsequent_round_timeout_seconds", "round_timeout_grace_seconds"] },
};

export const UI_KEYS: KeyRules = {
  served: ["use_orchestrator_for_single_agent"],
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
