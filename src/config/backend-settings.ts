import { flag, integer, type Kind, mapping, number, oneOf, text, texts } from "./fields";
import { MAX_KEY_CHARS, MAX_NAME_CHARS, MAX_URL_CHARS } from "./config-limits";
import { setting } from "./setting";
import { RESULT_LIMITS } from "../tools/large-results";

const NAME = text(MAX_NAME_CHARS);

/**
 * Characters that would change the URL path: some wire formats put the model's name into the path.
 */
const CHANGES_PATH = /[?#%\\\p{Cc}]|(^|\/)\.\.(\/|$)/u;
const MODEL: Kind<string> = {
  ...NAME,
  expected: `a name of at most ${MAX_NAME_CHARS} characters, without \`..\` or any of ? # % \\`,
  accepts: (value): value is string => NAME.accepts(value) && !CHANGES_PATH.test(value),
  schema: { ...NAME.schema, pattern: "^(?!(.*/)?\\.\\.(/|$))[^?#%\\\\]*$" },
};

/**
 * A variable in braces, or a literal key that does not look like a variable. `api-key.ts` checks
 * the same form.
 */
const KEY_TEXT = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$|^(?!\\$[A-Za-z_]|.*\\$\\{)[!-~]+$";
const KEY: Kind<string> = {
  ...text(MAX_KEY_CHARS),
  schema: { type: "string", maxLength: MAX_KEY_CHARS, pattern: KEY_TEXT },
};

/** An amount of memory in Docker's notation: bytes, or a number with b, k, m or g. */
const MEMORY: Kind<string> = {
  ...text(32),
  expected: "an amount of memory, such as `512m` or `2g`",
  accepts: (value): value is string =>
    typeof value === "string" && /^\d+(\.\d+)?[bkmg]?$/i.test(value),
  schema: { type: "string", pattern: "^\\d+(\\.\\d+)?[bkmgBKMG]?$" },
};

/** Maximum value of `hosted_tool_max_uses`. */
const MAX_USES = 50;
const DEPLOYMENT = "Name of the deployment. Same as `model`.";

export const BACKEND = {
  type: setting("type", NAME, null, "Provider and wire format."),
  model: setting(
    "model",
    MODEL,
    null,
    "Name of the model at the provider. Omitted: the default model of the type.",
  ),
  apiKey: setting(
    "api_key",
    KEY,
    null,
    "Your own key, or `${NAME}` of a key of the operator. Omitted: the operator's key for the provider.",
  ),
  baseUrl: setting(
    "base_url",
    text(MAX_URL_CHARS),
    null,
    "Address of the endpoint: public https, or an origin that the operator allows.",
  ),
  extraBody: setting(
    "extra_body",
    mapping,
    null,
    "Further fields of the request to the provider, for parameters without a key.",
  ),
  webSearch: setting(
    "enable_web_search",
    flag,
    false,
    "Whether the provider searches the web for the agent.",
  ),
  xSearch: setting(
    "enable_x_search",
    flag,
    false,
    "Whether the provider searches X for the agent.",
  ),
  codeInterpreter: setting(
    "enable_code_interpreter",
    flag,
    false,
    "Whether the provider runs code for the agent.",
  ),
  codeExecution: setting(
    "enable_code_execution",
    flag,
    false,
    "Whether the provider runs code for the agent.",
  ),
  maxUses: setting(
    "hosted_tool_max_uses",
    integer(1, MAX_USES),
    5,
    "Maximum uses of each tool that the provider runs, per call.",
  ),
  api: setting("api", NAME, null, "API of the endpoint: `responses` or `chat_completions`."),
  cwd: setting(
    "cwd",
    text(MAX_URL_CHARS),
    null,
    "Enables the agent's workspace. The path itself is ignored.",
  ),
  shell: setting(
    "enable_mcp_command_line",
    flag,
    false,
    "Whether the agent may run commands on its files, in a shell without a network. Enables its workspace.",
  ),
  allowedCommands: setting(
    "command_line_allowed_commands",
    texts,
    null,
    "RE2 patterns, matched from the start. A command runs only if the whole line and each command in it match a pattern.",
  ),
  blockedCommands: setting(
    "command_line_blocked_commands",
    texts,
    null,
    "RE2 patterns, matched from the start. A command that matches a pattern is refused.",
  ),
  commandMode: setting(
    "command_line_execution_mode",
    oneOf(["local", "docker"]),
    null,
    "`docker`: commands need containers; refused if the operator provides none. `local`: commands run in the operator's containers, or in the built-in shell if there are none.",
  ),
  containerNetwork: setting(
    "command_line_docker_network_mode",
    oneOf(["none", "bridge"]),
    null,
    "`none`: refused if the operator's containers have a network. `bridge`: refused if they have none.",
  ),
  containerMemory: setting(
    "command_line_docker_memory_limit",
    MEMORY,
    null,
    "Maximum memory of a container, such as `512m` or `2g`. Refused if the operator's containers have more or an unknown amount.",
  ),
  containerCpus: setting(
    "command_line_docker_cpu_limit",
    number(0.01, 1024),
    null,
    "Maximum CPUs of a container. Refused if the operator's containers have more or an unknown number.",
  ),
  noFileTools: setting(
    "exclude_file_operation_mcps",
    flag,
    false,
    "Whether the agent has only the shell for its files, and no file tools.",
  ),
  readFirst: setting(
    "enforce_read_before_delete",
    flag,
    true,
    "Whether the agent must read a file before it deletes it. Files that it wrote itself are exempt.",
  ),
  rateLimit: setting(
    "enable_rate_limit",
    flag,
    null,
    "Whether calls wait for the provider's rate limits. `rate_limits` sets the limits.",
  ),
  resultTokens: {
    ...setting(
      "tool_result_max_tokens",
      integer(1_000, 200_000),
      null,
      "Tool results with more tokens are stored in a file. The conversation gets a preview and a reference.",
    ),
    effectiveDefault: RESULT_LIMITS.inlineTokens,
  },
  previewTokens: {
    ...setting(
      "tool_result_preview_tokens",
      integer(100, 20_000),
      null,
      "Tokens of that preview; at most `tool_result_max_tokens`.",
    ),
    effectiveDefault: RESULT_LIMITS.previewTokens,
  },
  apiVersion: setting(
    "api_version",
    NAME,
    null,
    "Dated version of the endpoint's API, or `v1` for the current one.",
  ),
  azureEndpoint: setting(
    "azure_endpoint",
    text(MAX_URL_CHARS),
    null,
    "Address of the endpoint. Same as `base_url`.",
  ),
  azureDeployment: setting("azure_deployment", MODEL, null, DEPLOYMENT),
  deploymentName: setting("deployment_name", MODEL, null, DEPLOYMENT),
} as const;
