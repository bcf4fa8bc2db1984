/**
 * Features of MassGen configs that this service does not have: one row each, reported once
 * regardless of the number of keys. Data only.
 */

type NeedFacts = {
  /** Completes "This team needs …". */
  what: string;
  /** Why it is not supported, as a clause. */
  why: string;
  /** The alternative, as sentences. */
  way: string;
};

/**
 * Features that sessions support. While a feature is false, a team that needs it is refused by
 * name.
 */
export const SERVED = {
  workspace: true,
  /** Commands over an agent's files. */
  shell: true,
  /** A user's uploads, named in `context_paths`. */
  contexts: true,
  http_mcp: true,
  /** `custom_tools`: HTTP tools and registry names. */
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

const NOT_YET = "this service does not have that yet";
const REMOVE = "Remove the keys to run the team without.";

const notYet = (what: string, way = REMOVE): NeedFacts => ({ what, why: NOT_YET, way });

export const NEEDS = {
  workspace: notYet(
    "workspaces with files for its agents",
    "Remove the keys to run the team without files.",
  ),
  host_context_path: {
    what: "files of your machine",
    why: "a path there means nothing to a hosted service, and nothing of that name is uploaded",
    way: "Upload them first.",
  },
  upload_files: {
    what: "files along with the question",
    why: "a path there means nothing to a hosted service, and nothing of that name comes with the question; video is not taken yet",
    way: "Ask with `massgen-edge`, which sends images, PDFs, sound and text files; or send the question in parts (`{type: file, name, data}`, the data in base64) with the path as `name`. What has an address with https it fetches itself, from your machine; the service fetches nothing.",
  },
  media_generation: notYet("generated images, sound, video or files"),
  media_tools: notYet(
    "tools that look at or make images, sound and video",
    "Remove these entries of `custom_tools`.",
  ),
  computer_use: {
    what: "a screen to work on",
    why: "this service has no screen",
    way: "Remove these entries of `custom_tools`, or run the team with MassGen on your machine.",
  },
  foreign_framework_tool: {
    what: "agents of a Python framework as tools",
    why: "Python does not run here",
    way: "Remove these entries of `custom_tools`, and make each model an agent of the team.",
  },
  python_custom_tool: {
    what: "tools written in Python",
    why: "no code of yours runs inside the service",
    way: "Have the code answer HTTP requests, and write its address as `url` in place of `path` and `function`; or remove these entries of `custom_tools`.",
  },
  http_tools: notYet("tools of its own"),
  stdio_mcp: {
    what: "MCP servers started as programs",
    why: "no program of yours is started by a hosted service",
    way: "Start them beside you with `npm run bridge -- team.yaml`, which prints the config with their addresses, or remove them from `mcp_servers`.",
  },
  localhost_mcp: {
    what: "MCP servers on your machine",
    why: "a hosted service cannot reach them",
    way: "Hand them on with `npm run bridge -- team.yaml --url NAME=https://…`, with a token and the address of a tunnel; an operator can allow their own address with ALLOWED_TOOL_ORIGINS.",
  },
  http_mcp: notYet("MCP servers", "Remove them from `mcp_servers`."),
  shell: notYet(
    "a shell",
    "Remove `enable_mcp_command_line`; `enable_code_execution` runs code at providers that offer it.",
  ),
  shell_docker: {
    what: "a shell in Docker",
    why: "this service has no containers; an operator can bind some as SANDBOX",
    way: "Write `command_line_execution_mode: local` for the shell that is here, which has no network and installs nothing; `enable_code_execution` runs code at providers that offer it.",
  },
  container_isolation: {
    what: "containers that are closed off or limited more than these are",
    why: "the operator says what containers may reach and use (SANDBOX_NETWORK, SANDBOX_MEMORY_MB, SANDBOX_CPUS), for all of them alike",
    way: "Ask for no more than that, or have the operator limit them.",
  },
  container_network: {
    what: "containers with a network",
    why: "those here have none, as the operator says with SANDBOX_NETWORK",
    way: "Remove the key to run the team without.",
  },
  container_settings: {
    what: "containers of its own making",
    why: "which image they run, as which user and with what, is the operator's to say",
    way: "Remove these keys.",
  },
  skills: notYet("skills"),
  persistent_memory: notYet(
    "memory across conversations",
    "Remove `memory`; the turns of one session are remembered anyway.",
  ),
  filesystem_memory: notYet(
    "memory in files",
    "Remove the keys; the turns of one session are remembered anyway.",
  ),
  task_planning_tools: notYet("task planning tools"),
  task_plans: notYet(
    "plans made for the whole task",
    "Remove the keys; `enable_agent_task_planning` gives agents to-do lists.",
  ),
  hooks: {
    what: "hooks",
    why: "no code of yours runs inside the service",
    way: "Remove `hooks`; every event of a run can be followed at its event stream.",
  },
  permissions: notYet(
    "permission policies",
    "Remove `permissions`; `allowed_tools` and `exclude_tools` choose among the tools of a server.",
  ),
  subagents: notYet("sub-agents", "Remove the keys, or make them agents of the team."),
  checkpoints: notYet("checkpoints"),
  tool_search: notYet("tool search and strict tool use"),
  tools_from_code: notYet("tools called from code"),
  structured_output: notYet(
    "structured output",
    "Remove `output_schema`, and describe the form in the question.",
  ),
  broadcasts: notYet(
    "messages between agents",
    "Remove the keys; agents see one another's answers.",
  ),
  compaction: notYet("a compaction of its own"),
  evaluation_criteria: notYet(
    "evaluation criteria",
    "Remove the keys; `voting_sensitivity` says how strictly agents judge.",
  ),
  round_evaluation: notYet(
    "evaluators between rounds",
    "Remove the keys; `voting_sensitivity` says how strictly agents judge.",
  ),
  novelty: notYet(
    "novelty injection",
    "Remove the keys; `answer_novelty_requirement` refuses answers that repeat others.",
  ),
  prompt_improvement: notYet("improved prompts"),
  early_voting: notYet("a vote before working together"),
  change_documents: notYet("change documents"),
  trace_analysis: notYet("trace analysis"),
  fast_iteration: notYet("fast iteration"),
  checklists: notYet("checklist voting", "Remove the keys; agents vote by `voting_sensitivity`."),
  other_coordination: notYet(
    "another way of coordinating",
    "Remove the keys; agents answer, improve and vote, and the winner presents.",
  ),
  no_votes: {
    what: "a winner without a vote",
    why: "among several answers nothing else says which is best",
    way: "Remove the key. With `max_new_answers_per_agent: 1` and `defer_voting_until_all_answered: true` each agent answers once and votes once.",
  },
  prompt_optimisation: notYet("prompt optimisation by DSPy"),
  message_processing: notYet("message processing by NLIP"),
  persona_backend: notYet(
    "personas by another backend",
    "Remove `backend`; the first agent's model writes them.",
  ),
  kept_personas: notYet("personas that stay", "Remove the key; each attempt writes its own."),
} as const satisfies Record<string, NeedFacts>;

export type NeedId = keyof typeof NEEDS;
const isNeed = (name: string): name is NeedId => Object.hasOwn(NEEDS, name);
export const NEED_IDS: readonly NeedId[] = Object.keys(NEEDS).filter(isNeed);

/** Further subjects are counted, not listed. */
const MOST_SUBJECTS = 8;

/**
 * The refusal as text for users. `subjects` are the keys, servers, tools or paths that need the
 * feature.
 */
export function refusalOf(need: NeedId, subjects: readonly string[]): string {
  const { what, why, way } = NEEDS[need];
  return `This team needs ${what} (${listed(subjects)}): ${why}. ${way}`;
}

export function listed(subjects: readonly string[]): string {
  const more = subjects.length - MOST_SUBJECTS;
  return `${subjects.slice(0, MOST_SUBJECTS).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
