/**
 * Every key of MassGen's configuration, by section, with its treatment by this service.
 *
 * - `obeyed`: accepted without a warning
 * - `warned`: accepted with a warning that it has no effect
 * - `refused`: an error with a remedy
 * - `old`: a key of MassGen's first version
 * - `wrong`: an error in MassGen too
 *
 * Values are valid. `type` is the backend type of a key that the type `openai` does not support.
 */
export type Outcome = "obeyed" | "warned" | "refused" | "old" | "wrong";
export type KeyRow = { key: string; value: string; expected: Outcome; type?: string };

const rows = (
  expected: Outcome,
  ...keys: (string | [key: string, value: string, type?: string])[]
): KeyRow[] =>
  keys.map((entry) => {
    const [key, value, type] = typeof entry === "string" ? [entry, "true"] : entry;
    return { key, value, expected, ...(type === undefined ? {} : { type }) };
  });

const ENABLED = "{enabled: true}";

export const TOP: readonly KeyRow[] = [
  ...rows("obeyed", ["orchestrator", "{}"], ["ui", "{}"], ["timeout_settings", "{}"]),
  ...rows("warned", ["session_id", "s1"], ["display", "{type: rich}"]),
  ...rows(
    "refused",
    ["memory", ENABLED],
    ["filesystem_memory", ENABLED],
    ["permissions", "{rules: [x]}"],
  ),
  ...rows("refused", [
    "hooks",
    "{PreToolUse: [{matcher: x, handler: y, type: python, fail_closed: true, timeout: 3}]}",
  ]),
  ...rows(
    "old",
    "models",
    "model_configs",
    "num_agents",
    "max_rounds",
    "consensus_threshold",
    "voting_enabled",
    "enable_voting",
  ),
];

export const AGENT: readonly KeyRow[] = [
  ...rows("obeyed", ["system_message", "Be brief."], ["voting_sensitivity", "strict"]),
  ...rows("warned", ["append_system_prompt", "x"]),
  ...rows("refused", ["memory", ENABLED], ["subagent_agents", "[{model: m}]"], "main_agent"),
];

export const BACKEND: readonly KeyRow[] = [
  ...rows(
    "obeyed",
    ["model", "gpt-5-mini"],
    ["api_key", "k"],
    ["base_url", "https://api.openai.com/v1"],
  ),
  ...rows(
    "obeyed",
    ["temperature", "0.2", "chatcompletion"],
    ["top_p", "0.9", "chatcompletion"],
    ["max_tokens", "500"],
  ),
  ...rows(
    "obeyed",
    ["top_k", "5", "claude"],
    ["extra_body", "{x: 1}"],
    ["reasoning", "{effort: low, summary: auto}"],
  ),
  ...rows(
    "obeyed",
    ["text", "{verbosity: low}"],
    ["safety_settings", "{}", "gemini"],
    ["betas", "[files-api-2025-04-14]", "claude"],
  ),
  ...rows("obeyed", "enable_web_search", "enable_code_interpreter", "enable_code_execution", [
    "enable_x_search",
    "true",
    "grok",
  ]),
  ...rows(
    "obeyed",
    ["max_thinking_tokens", "2000", "claude"],
    ["separate_reasoning", "true", "sglang"],
  ),
  ...rows(
    "obeyed",
    ["chat_template_kwargs", "{a: 1}", "vllm"],
    ["repetition_penalty", "1.1", "vllm"],
  ),
  ...rows(
    "obeyed",
    ["api_version", "2024-12-01-preview", "azure_openai"],
    ["azure_endpoint", "https://ours.openai.azure.com", "azure_openai"],
  ),
  ...rows(
    "obeyed",
    ["azure_deployment", "m", "azure_openai"],
    ["deployment_name", "m", "azure_openai"],
  ),
  ...rows(
    "warned",
    ["provider", "openai"],
    ["provider_name", "OpenAI"],
    ["media_max_file_size_mb", "64"],
    "enforce_read_before_delete",
  ),
  ...rows(
    "warned",
    ["allowed_tools", "[a]"],
    ["exclude_tools", "[a]"],
    ["disallowed_tools", "[a]"],
    ["permission_mode", "plan"],
  ),
  ...rows(
    "warned",
    ["max_mcp_message_history", "200"],
    "enable_rate_limit",
    ["instance_id", "i1"],
    "exclude_file_operation_mcps",
  ),
  ...rows("warned", "concurrent_tool_execution", "use_default_prompt"),
  ...rows(
    "warned",
    ["copilot_system_message_mode", "append"],
    ["copilot_permission_policy", "ask"],
  ),
  ...rows(
    "warned",
    ["command_line_execution_mode", "docker"],
    ["command_line_allowed_commands", "[ls]"],
  ),
  ...rows("warned", ["command_line_blocked_commands", "[rm]"], ["command_line_docker_image", "x"]),
  ...rows(
    "warned",
    ["command_line_docker_network_mode", "none"],
    ["command_line_docker_memory_limit", "2g"],
  ),
  ...rows("warned", ["command_line_docker_cpu_limit", "4.0"], "command_line_docker_enable_sudo"),
  ...rows("refused", ["command_line_srt_profile", "x"]),
  ...rows("warned", ["cwd", "workspace1"]),
  ...rows(
    "obeyed",
    ["context_paths", "[{path: src, permission: read, protected_paths: [a]}]"],
    "enable_mcp_command_line",
  ),
  ...rows("refused", ["context_paths", "[{path: ./src}]"]),
  ...rows(
    "obeyed",
    ["rate_limits", "{rpm: 3, tpd: 4}"],
    ["tool_result_max_tokens", "9000"],
    ["custom_tools", "[current_time]"],
  ),
  ...rows(
    "refused",
    ["shared_tools_directory", "tools"],
    ["upload_files", "[{image_path: a.png}]"],
  ),
  ...rows(
    "refused",
    "enable_image_generation",
    "enable_audio_generation",
    "enable_video_generation",
    "enable_file_generation",
  ),
  ...rows("refused", "enable_multimodal_tools", ["mcp_servers", "{a: {command: npx}}"]),
  ...rows("warned", ["direct_mcp_servers", "[a]"]),
  ...rows("refused", [
    "custom_tools",
    "[{name: [a], function: [a], path: a.py, category: c, description: [d], preset_args: [{}]}]",
  ]),
  ...rows(
    "refused",
    ["custom_tools_path", "tools"],
    "auto_discover_custom_tools",
    "enable_code_based_tools",
  ),
  ...rows("obeyed", ["exclude_custom_tools", "[a]"]),
  ...rows("refused", "enable_tool_search", "enable_strict_tool_use"),
  ...rows("warned", ["tool_search_variant", "bm25"]),
  ...rows(
    "refused",
    "enable_programmatic_flow",
    ["output_schema", "{type: object}"],
    ["hooks", "{PostToolUse: [{handler: x}]}"],
  ),
  ...rows(
    "wrong",
    ["append_system_prompt", "x"],
    ["agent_config", "{a: 1}"],
    ["group_config", "{a: 1}"],
  ),
  ...rows("wrong", ["model_reasoning_effort", "low", "chatcompletion"]),
];

export const MCP_SERVER: readonly string[] = [
  ...[
    "name: w",
    "type: stdio",
    "command: npx",
    "args: [-y]",
    "env: {A: b}",
    "cwd: d",
    "url: https://m.example/mcp",
  ],
  ...[
    "headers: {A: b}",
    "timeout: 30",
    "http_read_timeout: 30",
    "allowed_tools: [a]",
    "exclude_tools: [a]",
  ],
  ...["security: {level: strict}", "defer_loading: true", "allowed_callers: [a]"],
];

export const ORCHESTRATOR: readonly KeyRow[] = [
  ...rows(
    "obeyed",
    ["voting_sensitivity", "balanced"],
    ["max_new_answers_per_agent", "3"],
    ["answer_novelty_requirement", "strict"],
  ),
  ...rows(
    "obeyed",
    "skip_coordination_rounds",
    ["max_new_answers_global", "4"],
    "fairness_enabled",
    ["coordination", "{}"],
  ),
  ...rows(
    "obeyed",
    ["fairness_lead_cap_answers", "2"],
    ["max_midstream_injections_per_round", "2"],
  ),
  ...rows("obeyed", "defer_voting_until_all_answered", ["coordination_mode", "voting"]),
  ...rows(
    "warned",
    ["session_storage", "x"],
    ["debug_final_answer", "x"],
    ["timeout", "{a: 1}"],
    ["docker", "{a: 1}"],
  ),
  ...rows("warned", "interactive_mode", ["max_turns", "4"]),
  ...rows("warned", ["snapshot_storage", "x"], ["agent_temporary_workspace", "x"]),
  ...rows("obeyed", ["context_paths", "[{path: x, permission: write}]"]),
  ...rows("refused", ["context_paths", "[{path: ../x}]"], ["dspy", ENABLED]),
  ...rows("refused", ["voting_threshold", "7"], "defer_peer_updates_until_restart", [
    "presenter_agent",
    "a",
  ]),
  ...rows("refused", "allow_midstream_peer_updates_before_checklist_submit", [
    "final_answer_strategy",
    "synthesize",
  ]),
  ...rows("refused", ["max_checklist_calls_per_round", "1"], "checklist_first_answer"),
  ...rows("obeyed", "skip_final_presentation", "skip_voting", "disable_injection", [
    "final_answer_strategy",
    "winner_reuse",
  ]),
  ...rows(
    "refused",
    ["voting_sensitivity", "checklist_gated"],
    "checklist_require_gap_report",
    ["gap_report_mode", "x"],
    "enable_multimodal_tools",
  ),
  ...rows(
    "refused",
    ["image_generation_backend", "x"],
    ["audio_generation_backend", "x"],
    ["video_generation_backend", "x"],
  ),
  ...rows("refused", ["multimodal_config", "{a: 1}"], "enable_nlip", ["skills_directory", "x"]),
  ...rows("warned", ["nlip_config", "{a: 1}"]),
  ...rows("refused", ["type", "x"], ["coordination_mode", "decomposition"]),
];

export const COORDINATION: readonly KeyRow[] = [
  ...rows(
    "obeyed",
    "enable_planning_mode",
    ["planning_mode_instruction", "Plan."],
    ["max_orchestration_restarts", "1"],
  ),
  ...rows("obeyed", [
    "persona_generator",
    "{enabled: true, diversity_mode: methodology, persona_guidelines: x, after_first_answer: keep}",
  ]),
  ...rows("warned", "use_two_tier_workspace", ["write_mode", "auto"], "web_review"),
  ...rows("obeyed", "enable_agent_task_planning"),
  ...rows("warned", ["max_tasks_per_plan", "10"], "task_planning_filesystem_mode"),
  ...rows("warned", ["massgen_skills", "[a]"], ["skills_directory", ".agent/skills"]),
  ...rows("refused", "enable_memory_filesystem_mode", "use_skills"),
  ...rows(
    "refused",
    ["plan_depth", "x"],
    ["plan_target_steps", "3"],
    ["plan_target_chunks", "3"],
    ["broadcast", "agents"],
  ),
  ...rows(
    "refused",
    ["broadcast_sensitivity", "x"],
    ["response_depth", "x"],
    ["learning_capture_mode", "round"],
  ),
  ...rows("refused", "disable_final_only_round_capture_fallback", [
    "compression_target_ratio",
    "0.2",
  ]),
  ...rows(
    "refused",
    "load_previous_session_skills",
    ["evaluation_criteria_generator", ENABLED],
    ["prompt_improver", ENABLED],
  ),
  ...rows("refused", ["pre_collab_voting_threshold", "3"], "enable_subagents", [
    "subagent_default_timeout",
    "3",
  ]),
  ...rows(
    "refused",
    ["task_decomposer", ENABLED],
    "enable_changedoc",
    ["drift_conflict_policy", "x"],
    ["round_evaluator_before_checklist", "true"],
  ),
  ...rows(
    "refused",
    "enable_quality_rethink_on_iteration",
    "enable_novelty_on_iteration",
    "enable_execution_trace_analyzer",
  ),
  ...rows("refused", "auto_trace_analysis", "evolving_criteria", "enable_evaluator_personas", [
    "novelty_injection",
    "x",
  ]),
  ...rows(
    "refused",
    ["improvements", "{a: 1}"],
    ["checklist_criteria_preset", "x"],
    ["checklist_criteria_inline", "[a]"],
  ),
  ...rows(
    "refused",
    ["criteria_mode", "x"],
    ["bootstrap_rounds", "1"],
    ["resume_from_log", "{a: 1}"],
    ["checkpoint_mode", "x"],
  ),
  ...rows("refused", "standalone_checkpoint", "fast_iteration_mode", [
    "max_verifications_per_round",
    "1",
  ]),
  ...rows("refused", ["max_internal_fix_loops", "1"], "skip_redundant_scaffolding"),
];

export const TIMEOUTS: readonly KeyRow[] = [
  ...rows(
    "obeyed",
    ["orchestrator_timeout_seconds", "900"],
    ["initial_round_timeout_seconds", "60"],
  ),
  ...rows(
    "obeyed",
    ["subsequent_round_timeout_seconds", "60"],
    ["round_timeout_grace_seconds", "30"],
    ["failing_member_grace_seconds", "30"],
  ),
  ...rows("warned", ["agent_timeout_seconds", "60"]),
];

export const UI: readonly KeyRow[] = [
  ...rows("obeyed", "use_orchestrator_for_single_agent"),
  ...rows("warned", ["display_type", "simple"], "logging_enabled", "automation_mode", "debug", [
    "type",
    "x",
  ]),
];
