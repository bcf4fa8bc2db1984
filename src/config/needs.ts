/**
 * Features of MassGen configs that this service does not support, one row for each feature. A
 * config that needs a feature gets one refusal, even if several keys need it.
 */

type NeedFacts = {
  /** Completes "This team needs …". */
  what: string;
  /** Why the feature is not supported, as a clause. */
  why: string;
  /** What the user can do instead, as sentences. */
  way: string;
};

/**
 * Features that sessions support. A team that needs a feature with the value `false` is refused.
 */
export const SERVED = {
  workspace: true,
  /** Commands that work on an agent's files. */
  shell: true,
  /** Uploads of the user that `context_paths` names. */
  contexts: true,
  http_mcp: true,
  /** `custom_tools`: HTTP tools and registered tools. */
  http_tools: true,
  /** Images and files attached to a question. */
  uploads: true,
  /** `enable_agent_task_planning`. */
  task_planning_tools: true,
  /** `enable_rate_limit`, `rate_limits`. */
  rates: true,
};
export type Feature = keyof typeof SERVED;
export type Features = Readonly<Record<Feature, boolean>>;

const REMOVE = "To run the team without this feature, remove the keys.";
const OWN_MEMORY = "Agents always remember the turns of their session.";
const SENSITIVITY = "Remove the keys. `voting_sensitivity` sets how strictly agents judge.";

const unsupported = (what: string, way = REMOVE): NeedFacts => ({
  what,
  why: "not supported",
  way,
});

export const NEEDS = {
  workspace: unsupported("workspaces for its agents"),
  host_context_path: {
    what: "files from your machine",
    why: "the service cannot read paths of your machine, and no upload has this name",
    way: "Upload them first.",
  },
  upload_files: {
    what: "files from your machine with the question",
    why: "the service cannot read paths of your machine, and no attachment has this name; video is not supported",
    way: "Ask with `massgen-edge`: it attaches images, PDFs, audio and text files, also those at https addresses. Or send each file as a part of the question (`{type: file, name, data}`, with `data` in base64 and the path as `name`).",
  },
  media_generation: unsupported("generated images, audio, video or files"),
  media_tools: unsupported(
    "tools that read or generate images, audio and video",
    "Remove these keys, or these entries of `custom_tools`.",
  ),
  computer_use: {
    what: "computer use",
    why: "the service has no screen",
    way: "Remove these entries of `custom_tools`, or run the team with MassGen on your machine.",
  },
  foreign_framework_tool: {
    what: "agents of a Python framework as tools",
    why: "the service does not run Python",
    way: "Remove these entries of `custom_tools`, and add each model as an agent of the team.",
  },
  python_custom_tool: {
    what: "tools written in Python",
    why: "the service does not run your code",
    way: "Serve each tool over HTTP, and write its `url` in place of `path` and `function`; or remove these entries of `custom_tools`.",
  },
  http_tools: unsupported("custom tools"),
  stdio_mcp: {
    what: "MCP servers that are local programs",
    why: "the service starts no programs",
    way: "Start them on your machine with `npm run bridge -- team.yaml`, which prints the config with their addresses; or remove them from `mcp_servers`.",
  },
  localhost_mcp: {
    what: "MCP servers on your machine",
    why: "the service does not connect to private addresses",
    way: "Open a tunnel, and run `npm run bridge -- team.yaml --url NAME=https://…` with its address: the bridge forwards the server and requires a token. An operator can also allow the address with ALLOWED_TOOL_ORIGINS.",
  },
  http_mcp: unsupported("MCP servers", "Remove them from `mcp_servers`."),
  shell: unsupported(
    "a shell",
    "Remove `enable_mcp_command_line`. `enable_code_execution` runs code at providers that support it.",
  ),
  shell_docker: {
    what: "a shell in Docker",
    why: "this service has no containers; an operator can add them with the binding SANDBOX",
    way: "Write `command_line_execution_mode: local` for the built-in shell, which has no network and installs nothing. `enable_code_execution` runs code at providers that support it.",
  },
  container_isolation: {
    what: "containers with stricter limits",
    why: "the operator sets network, memory and CPUs for all containers (SANDBOX_NETWORK, SANDBOX_MEMORY_MB, SANDBOX_CPUS)",
    way: "Remove the keys, or ask the operator for stricter limits.",
  },
  container_network: {
    what: "containers with a network",
    why: "the operator's containers have no network (SANDBOX_NETWORK)",
    way: "To run the team without a network, remove the key.",
  },
  container_settings: {
    what: "custom containers",
    why: "the operator sets image, user and options for all containers",
    way: "Remove these keys.",
  },
  skills: unsupported("skills"),
  persistent_memory: unsupported("memory across sessions", `Remove \`memory\`. ${OWN_MEMORY}`),
  filesystem_memory: unsupported("memory in files", `Remove the keys. ${OWN_MEMORY}`),
  task_planning_tools: unsupported("task planning tools"),
  task_plans: unsupported(
    "plans for the whole task",
    "Remove the keys. `enable_agent_task_planning` gives agents to-do lists.",
  ),
  hooks: {
    what: "hooks",
    why: "the service does not run your code",
    way: "Remove `hooks`. The event stream of a run shows every event.",
  },
  permissions: unsupported(
    "permission policies",
    "Remove `permissions`. `allowed_tools` and `exclude_tools` select the tools of MCP servers.",
  ),
  subagents: unsupported("sub-agents", "Remove the keys, or add the sub-agents to `agents`."),
  checkpoints: unsupported("checkpoints"),
  tool_search: unsupported("tool search and strict tool use"),
  tools_from_code: unsupported("tools called from code"),
  structured_output: unsupported(
    "structured output",
    "Remove `output_schema`, and describe the format in the question.",
  ),
  broadcasts: unsupported(
    "messages between agents",
    "Remove the keys. Agents see each other's answers.",
  ),
  compaction: unsupported(
    "settings for summarizing conversations",
    "Remove the keys. The service summarizes long conversations automatically.",
  ),
  evaluation_criteria: unsupported("evaluation criteria", SENSITIVITY),
  round_evaluation: unsupported("evaluators between rounds", SENSITIVITY),
  novelty: unsupported(
    "novelty injection",
    "Remove the keys. `answer_novelty_requirement` refuses answers that repeat others.",
  ),
  prompt_improvement: unsupported("prompt improvement"),
  early_voting: unsupported("a vote before agents collaborate"),
  change_documents: unsupported("change documents"),
  trace_analysis: unsupported("trace analysis"),
  fast_iteration: unsupported("fast iteration"),
  checklists: unsupported("checklist voting", SENSITIVITY),
  other_coordination: unsupported(
    "another coordination mode",
    "Remove the keys. Agents answer, improve and vote, and the winner presents.",
  ),
  no_votes: {
    what: "a winner without a vote",
    why: "only votes select the best of several answers",
    way: "Remove the key. With `max_new_answers_per_agent: 1` and `defer_voting_until_all_answered: true`, each agent answers once and votes once.",
  },
  prompt_optimisation: unsupported("prompt optimization by DSPy"),
  message_processing: unsupported("message processing by NLIP"),
  persona_backend: unsupported(
    "a backend for personas",
    "Remove `backend`. The first agent's model writes the personas.",
  ),
  kept_personas: unsupported(
    "personas that last for several turns",
    "Remove the key. Each attempt writes its own personas.",
  ),
} as const satisfies Record<string, NeedFacts>;

export type NeedId = keyof typeof NEEDS;
const isNeed = (name: string): name is NeedId => Object.hasOwn(NEEDS, name);
export const NEED_IDS: readonly NeedId[] = Object.keys(NEEDS).filter(isNeed);

/** Maximum number of subjects that a message lists; further subjects are only counted. */
const MAX_LISTED = 8;

/**
 * The refusal of a feature, as text for users. `subjects` are the keys, servers, tools or paths
 * that need the feature.
 */
export function refusalOf(need: NeedId, subjects: readonly string[]): string {
  const { what, why, way } = NEEDS[need];
  return `This team needs ${what} (${joinSubjects(subjects)}): ${why}. ${way}`;
}

/** The subjects as a list in a sentence. */
export function joinSubjects(subjects: readonly string[]): string {
  const omitted = subjects.length - MAX_LISTED;
  return `${subjects.slice(0, MAX_LISTED).join(", ")}${omitted > 0 ? ` and ${omitted} more` : ""}`;
}
