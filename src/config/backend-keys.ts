import type { KeyRules } from "./known-keys";
import { BACKEND } from "./backend-settings";
import { keysOf } from "./setting";

/**
 * The keys of a `backend` section. Provider parameters are defined by the wire formats
 * (`providers/format-params.ts`).
 */

const NO_PERMISSION_PROMPTS = "a run never asks for permission";
const KNOWN_PROVIDER = "the service derives the provider from `base_url`";

/**
 * Keys for endpoints with a dated API version. Only backend types with such endpoints accept them.
 */
export const VERSIONED_KEYS = [
  "api_version",
  "azure_endpoint",
  "azure_deployment",
  "deployment_name",
] as const;

/** Keys that only unsupported backend types have. */
export const OTHER_TYPES_KEYS: readonly string[] = [
  ...["agent_config", "group_config"],
  ...["environment_config", "display_width", "display_height"],
];

export const BACKEND_KEYS: KeyRules = {
  served: [
    ...keysOf(BACKEND),
    "context_paths",
    "custom_tools",
    "exclude_custom_tools",
    "mcp_servers",
    "allowed_tools",
    "exclude_tools",
    "rate_limits",
  ],
  ignored: {
    provider: KNOWN_PROVIDER,
    provider_name: KNOWN_PROVIDER,
    instance_id: "every run is isolated",
    permission_mode: `${NO_PERMISSION_PROMPTS}; agents write only to their own workspaces`,
    copilot_permission_policy: NO_PERMISSION_PROMPTS,
    copilot_system_message_mode: "system messages are always complete",
    use_default_prompt: "the service always uses its own system prompt",
    concurrent_tool_execution: "independent calls of one reply always run in parallel",
    media_max_file_size_mb: "uploads have their own limits",
    disallowed_tools: "it names tools of a command-line agent, which the service does not run",
    direct_mcp_servers: "agents call the tools of all servers directly",
    max_mcp_message_history: "a conversation is kept in full while it fits the context window",
  },
  unsupported: {
    tools_from_code: [
      "shared_tools_directory",
      "enable_programmatic_flow",
      "enable_code_based_tools",
    ],
    media_generation: [
      "enable_image_generation",
      "enable_audio_generation",
      "enable_video_generation",
      "enable_file_generation",
    ],
    media_tools: ["enable_multimodal_tools"],
    tool_search: ["enable_tool_search", "tool_search_variant", "enable_strict_tool_use"],
    python_custom_tool: ["custom_tools_path", "auto_discover_custom_tools"],
    structured_output: ["output_schema"],
    container_settings: ["command_line_docker_*", "command_line_srt_*"],
  },
  requires: {
    tool_search_variant: "enable_tool_search",
    "command_line_docker_*": "command_line_execution_mode: docker",
  },
  refusedByValue: ["upload_files", "hooks"],
  unknownKeyHint: "Write other parameters of the provider under `extra_body`.",
  misplaced: { append_system_prompt: "write it into the agent's `system_message`" },
};
