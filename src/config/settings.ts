import {
  flag,
  integer,
  type Kind,
  mapping,
  number,
  oneOf,
  read,
  type Section,
  text,
  texts,
} from "./fields";
import {
  MAX_KEY_CHARS,
  MAX_NAME_CHARS,
  MAX_TEXT_CHARS,
  MAX_TIMEOUT_SECONDS,
  MAX_URL_CHARS,
} from "./limits";

/** The keys that are obeyed: what each takes, what holds without it, what it does. The JSON Schema is made of the same rows. */

export type Setting<T, F = T> = { key: string; kind: Kind<T>; fallback: F; about: string };

const setting = <T, const F>(
  key: string,
  kind: Kind<T>,
  fallback: F,
  about: string,
): Setting<T, F> => ({
  key,
  kind,
  fallback,
  about,
});

/** The value of a setting, or its fallback where it is absent, empty, or wrong (which is then an error). */
export const readSetting = <T, F>(
  section: Section,
  { key, kind, fallback }: Setting<T, F>,
): T | F => read(section, key, kind, fallback);

export const keysOf = (table: Readonly<Record<string, { key: string }>>): string[] =>
  Object.values(table).map(({ key }) => key);

export const SENSITIVITIES = oneOf(["lenient", "balanced", "strict"]);

/** Other ways of judging that MassGen has: by a list of criteria that an answer must meet. */
const CHECKLISTS = /^(checklist|roi|sequential|adversarial|consistency|diversity|reflective)(_|$)/;

/** How strictly agents judge; a way of judging that is not served is refused by name. */
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

/** More than any team needs; the coordination's own caps end it long before. */
const MAX_COUNT = 1000;
const COUNT = integer(1, MAX_COUNT);
const SECONDS = integer(1, MAX_TIMEOUT_SECONDS);
const NAME = text(MAX_NAME_CHARS);
const LONG_TEXT = text(MAX_TEXT_CHARS);

/** Some formats have the model's name in the address: what would lead it to another place of its host is no name. */
const LEADS_ELSEWHERE = /[?#%\\\p{Cc}]|(^|\/)\.\.(\/|$)/u;
const MODEL: Kind<string> = {
  ...NAME,
  expected: `a name of at most ${MAX_NAME_CHARS} characters, without \`..\` or any of ? # % \\`,
  accepts: (value): value is string => NAME.accepts(value) && !LEADS_ELSEWHERE.test(value),
  schema: { ...NAME.schema, pattern: "^(?!(.*/)?\\.\\.(/|$))[^?#%\\\\]*$" },
};

/** As `api-key.ts` reads it: a name in braces and nothing else, or what can stand in a header and is no name. */
const KEY_TEXT = "^\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}$|^(?!\\$[A-Za-z_]|.*\\$\\{)[!-~]+$";
const KEY: Kind<string> = {
  ...text(MAX_KEY_CHARS),
  schema: { type: "string", maxLength: MAX_KEY_CHARS, pattern: KEY_TEXT },
};

/** As Docker has it: bytes, or a number with b, k, m or g. */
const MEMORY: Kind<string> = {
  ...text(32),
  expected: "an amount of memory, such as `512m` or `2g`",
  accepts: (value): value is string =>
    typeof value === "string" && /^\d+(\.\d+)?[bkmg]?$/i.test(value),
  schema: { type: "string", pattern: "^\\d+(\\.\\d+)?[bkmgBKMG]?$" },
};

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
    "Whether the winning answer is the final text as it is, so that nobody is called for one.",
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
    "How often the presenter may reject the final text and have the team begin anew.",
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
    "To-do lists lie in a file of the agent's workspace in any case.",
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
  guidelines: setting(
    "persona_guidelines",
    LONG_TEXT,
    null,
    "What whoever writes them should heed.",
  ),
  afterFirst: setting(
    "after_first_answer",
    oneOf(["drop", "soften", "keep"]),
    "drop",
    "What becomes of a persona after its agent's first answer.",
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
