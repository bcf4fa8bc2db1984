import { flag, integer, type Kind, mapping, number, oneOf, text, texts } from "./fields";
import { MAX_KEY_CHARS, MAX_NAME_CHARS, MAX_URL_CHARS } from "./config-limits";
import { setting } from "./setting";

const NAME = text(MAX_NAME_CHARS);

/**
 * Some formats put the model's name into the URL path: refuses names that would change the path.
 */
const LEADS_ELSEWHERE = /[?#%\\\p{Cc}]|(^|\/)\.\.(\/|$)/u;
const MODEL: Kind<string> = {
  ...NAME,
  expected: `a name of at most ${MAX_NAME_CHARS} characters, without \`..\` or any of ? # % \\`,
  accepts: (value): value is string => NAME.accepts(value) && !LEADS_ELSEWHERE.test(value),
  schema: { ...NAME.schema, pattern: "^(?!(.*/)?\\.\\.(/|$))[^?#%\\\\]*$" },
};

/**
 * In agreement with `api-key.ts`: a variable in braces, or a literal key that does not look like a
 * variable.
 */
const KEY_TEXT = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$|^(?!\\$[A-Za-z_]|.*\\$\\{)[!-~]+$";
const KEY: Kind<string> = {
  ...text(MAX_KEY_CHARS),
  schema: { type: "string", maxLength: MAX_KEY_CHARS, pattern: KEY_TEXT },
};

/** In Docker's notation: bytes, or a number with b, k, m or g. */
const MEMORY: Kind<string> = {
  ...text(32),
  expected: "an amount of memory, such as `512m` or `2g`",
  accepts: (value): value is string =>
    typeof value === "string" && /^\d+(\.\d+)?[bkmg]?$/i.test(value),
  schema: { type: "string", pattern: "^\\d+(\\.\\d+)?[bkmgBKMG]?$" },
};

const MAX_USES = 50;

export const BACKEND = {
  type: setting("type", NAME, null, "Which provider, and in which format it is spoken to."),
  model: setting(
    "model",
    MODEL,
    null,
    "The model's name as the provider calls it; without it, the type's usual one.",
  ),
  apiKey: setting(
    "api_key",
    KEY,
    null,
    "Your own key, or ${NAME} of one the operator stored. Without it, the operator's key for the provider.",
  ),
  baseUrl: setting(
    "base_url",
    text(MAX_URL_CHARS),
    null,
    "Address of the endpoint: public https, or an origin the operator allows.",
  ),
  extraBody: setting(
    "extra_body",
    mapping,
    null,
    "Fields for the provider's request that have no key here.",
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
    "Most uses of each such tool in one call.",
  ),
  api: setting(
    "api",
    NAME,
    null,
    "Which of an endpoint's APIs is spoken, where there is a choice.",
  ),
  cwd: setting(
    "cwd",
    text(MAX_URL_CHARS),
    null,
    "Switches the agent's workspace on; the path itself means nothing here.",
  ),
  shell: setting(
    "enable_mcp_command_line",
    flag,
    false,
    "Whether the agent runs commands over its files, in a shell without network. Switches its workspace on.",
  ),
  allowedCommands: setting(
    "command_line_allowed_commands",
    texts,
    null,
    "Patterns of RE2: only commands that match one from their beginning run, the whole line and each command in it.",
  ),
  blockedCommands: setting(
    "command_line_blocked_commands",
    texts,
    null,
    "Patterns of RE2: no command runs that matches one from its beginning.",
  ),
  commandMode: setting(
    "command_line_execution_mode",
    oneOf(["local", "docker"]),
    null,
    "`docker`: commands run in a container, where the operator has bound some. `local`: where the operator has them run.",
  ),
  containerNetwork: setting(
    "command_line_docker_network_mode",
    oneOf(["none", "bridge"]),
    null,
    "Whether a container must have no network, or needs one; the operator's containers are either.",
  ),
  containerMemory: setting(
    "command_line_docker_memory_limit",
    MEMORY,
    null,
    "Most memory that a container may have, as `512m` or `2g`; the operator's have as much as they have.",
  ),
  containerCpus: setting(
    "command_line_docker_cpu_limit",
    number(0.01, 1024),
    null,
    "Most processors that a container may have; the operator's have as many as they have.",
  ),
  noFileTools: setting(
    "exclude_file_operation_mcps",
    flag,
    false,
    "Whether the agent works on its files in the shell alone, without file tools.",
  ),
  readFirst: setting(
    "enforce_read_before_delete",
    flag,
    true,
    "Whether the agent must have read a file that it did not write itself before it may delete it.",
  ),
  rateLimit: setting(
    "enable_rate_limit",
    flag,
    null,
    "Whether calls wait until the provider's quota has room for them; `rate_limits` says how large it is.",
  ),
  resultTokens: setting(
    "tool_result_max_tokens",
    integer(1_000, 200_000),
    null,
    "A tool result with more tokens goes into a file, and the conversation gets a reference; without it 20000.",
  ),
  previewTokens: setting(
    "tool_result_preview_tokens",
    integer(100, 20_000),
    null,
    "How many tokens of such a result the conversation shows; without it 2000, and never more than a result may have there.",
  ),
  apiVersion: setting(
    "api_version",
    NAME,
    null,
    "A dated version of the endpoint's API, or `v1` for the current one.",
  ),
  azureEndpoint: setting(
    "azure_endpoint",
    text(MAX_URL_CHARS),
    null,
    "Address of the endpoint, as `base_url`.",
  ),
  azureDeployment: setting("azure_deployment", MODEL, null, "Name of the deployment, as `model`."),
  deploymentName: setting("deployment_name", MODEL, null, "Name of the deployment, as `model`."),
} as const;
