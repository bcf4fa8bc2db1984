/**
 * The direction of imports, as data (`docs/` draws it): worker → api → durable-objects → engine → agents → providers, tools, prompts →
 * coordination → protocol. Rooms around the service are not layers: `CLOSED_ROOMS` says what they may not import.
 */
export type LayerRule = {
  /** Layers whose code it may use. Types may come from any layer further down. */
  uses: readonly Layer[];
  /** Layers it may only take types from, beyond those further down. */
  types?: readonly Layer[];
  /** Folders of data, outside of all layers, that it may bundle. */
  data?: readonly string[];
  /** npm packages and `node:`/`cloudflare:` modules it may import; absent: any that no other rule forbids. */
  packages?: readonly string[];
};

/** From the top down; a layer is the longest of these that a path begins with. */
export const LAYERS = [
  "src/worker",
  "src/api",
  "durable-objects",
  "d1",
  "src/env",
  "src/engine",
  "src/agents",
  "src/evals",
  "src/uploads",
  "src/config",
  "src/tools",
  "src/prompts",
  "src/workspace",
  "src/rate-limits",
  "src/outgoing",
  "src/providers",
  "src/redaction",
  "src/patterns",
  "src/tenancy",
  "r2-layout",
  "src/coordination",
  "src/describe",
  "src/protocol",
  "src/async",
  "cli",
  "web",
  "client",
] as const;
export type Layer = (typeof LAYERS)[number];

export const LAYER_RULES: Record<Layer, LayerRule> = {
  // The worker puts everything together: it also hands the routes what they may know of keys, and the teams on offer.
  "src/worker": {
    uses: [
      "src/api",
      "durable-objects",
      "d1",
      "src/env",
      "src/evals",
      "src/uploads",
      "src/config",
      "src/providers",
      "src/tenancy",
      "r2-layout",
      "src/protocol",
    ],
    data: ["configs/", "package.json"],
  },
  "src/api": {
    uses: [
      "src/evals",
      "src/uploads",
      "src/config",
      "src/workspace",
      "src/outgoing",
      "src/providers",
      "src/redaction",
      "src/tenancy",
      "src/coordination",
      "src/protocol",
      "r2-layout",
      "src/async",
    ],
  },
  // Providers too: the shell gives each call its fetch, its slot and its time limits.
  "durable-objects": {
    uses: [
      "d1",
      "src/env",
      "src/engine",
      "src/agents",
      "src/evals",
      "src/uploads",
      "src/config",
      "src/tools",
      "src/workspace",
      "src/rate-limits",
      "src/outgoing",
      "src/providers",
      "src/redaction",
      "src/tenancy",
      "src/coordination",
      "src/protocol",
      "r2-layout",
      "src/async",
    ],
  },
  // Rows in D1. What an object has stored comes in as plain data, so only its types are known here.
  d1: {
    uses: ["src/env", "src/evals", "src/uploads", "src/tenancy", "src/protocol"],
    types: ["durable-objects"],
  },
  // Bindings: each object by the type of what it can be asked.
  "src/env": { uses: [], types: ["durable-objects", "src/tools", "r2-layout"], packages: [] },
  // Decides, commits, performs, recovers, through its two ports. It knows no platform: whoever composes it gives it one.
  "src/engine": {
    uses: ["src/agents", "src/redaction", "src/coordination", "src/protocol", "src/providers"],
    types: ["src/workspace"],
    packages: [],
  },
  "src/agents": {
    uses: [
      "src/providers",
      "src/tools",
      "src/prompts",
      "src/workspace",
      "src/coordination",
      "src/protocol",
    ],
  },
  "src/uploads": {
    uses: ["src/workspace", "r2-layout", "src/protocol"],
    packages: ["fflate", "modern-tar", "zod"],
  },
  "src/evals": {
    uses: ["src/config", "src/patterns", "src/coordination", "src/protocol"],
    packages: ["croner", "zod"],
  },
  // Tools too: which there are, and what the rules must know of them.
  "src/config": {
    uses: [
      "src/tools",
      "src/workspace",
      "src/outgoing",
      "src/providers",
      "src/redaction",
      "src/patterns",
      "src/coordination",
      "src/protocol",
    ],
  },
  "src/tools": {
    uses: [
      "src/workspace",
      "src/redaction",
      "src/patterns",
      "src/coordination",
      "src/protocol",
      "src/async",
    ],
  },
  "src/prompts": { uses: ["src/coordination", "src/protocol"] },
  // Pure: what of a provider's quota is spent, and who waits for more.
  "src/rate-limits": { uses: ["src/providers", "src/protocol"], packages: [] },
  "src/workspace": { uses: ["src/patterns", "src/coordination", "src/protocol"] },
  "src/providers": { uses: ["src/redaction", "src/coordination", "src/protocol", "src/async"] },
  "src/outgoing": { uses: ["src/redaction"] },
  "src/redaction": { uses: [], packages: [] },
  // Patterns of users and models, and what matching them may cost.
  "src/patterns": { uses: ["src/async"], packages: ["re2js"] },
  // Rules of keys and quotas; its hashes are made at once, inside transactions.
  "src/tenancy": { uses: [], packages: ["node:crypto"] },
  "r2-layout": { uses: ["src/protocol"] },
  "src/coordination": { uses: ["src/protocol"], packages: [] },
  "src/protocol": { uses: [], packages: ["zod"] },
  // Locks, time limits and clocks, without any knowledge of the service.
  "src/async": { uses: [], packages: [] },
  // Sentences for people: the command line, the page and other interfaces say the same.
  "src/describe": { uses: ["src/protocol"], packages: [] },
  // The client has no schema library: of the protocol it imports types, and the modules that need none.
  client: { uses: ["src/protocol"], packages: ["eventsource-parser"] },
  // Programs of their own. The command line also shares the rules for file names and addresses with the service.
  cli: {
    uses: ["client", "src/describe", "src/workspace", "src/outgoing", "src/protocol"],
    data: ["package.json"],
  },
  web: { uses: ["client", "src/describe", "src/protocol"] },
};

/** Rooms around the service, and what they may not import: tests and scripts share `local/` and `simulated/`, and proof is the last of all. */
export const CLOSED_ROOMS: { from: RegExp; room: RegExp; why: string }[] = [
  {
    from: /^(?!proof\/)/,
    room: /^proof\/(?!counts$)/,
    why: "nothing imports proof/ but the sizes in counts.ts",
  },
  {
    from: /^tests\//,
    room: /^scripts\//,
    why: "tests of a script lie beside it; what both need is in local/ or simulated/",
  },
  {
    from: /^scripts\//,
    room: /^(tests|checker)\//,
    why: "what scripts and tests both need is in local/ or simulated/",
  },
  {
    from: /^simulated\//,
    room: /^(scripts|tests|checker)\//,
    why: "simulated/ stands below what uses it",
  },
  {
    from: /^local\//,
    room: /^(scripts|tests|simulated|checker)\//,
    why: "local/ stands below what uses it",
  },
  {
    from: /^checker\//,
    room: /^(?!checker\/|src\/protocol\/)/,
    why: "the checker knows the protocol alone, so that no rule is judged by itself",
  },
];

/** Modules that only some paths may import. Tests and scripts drive the runtime themselves, so nothing is closed to them. */
export const CLOSED_MODULES: { module: RegExp; only: RegExp; why: string }[] = [
  {
    module: /^re2js$/,
    only: /^src\/patterns\//,
    why: "each match of a pattern is charged to a budget, which only its wrapper does",
  },
  {
    module: /^cloudflare:/,
    only: /^(src\/worker\.ts|durable-objects\/)/,
    why: "the platform is known only to the worker and the objects",
  },
  {
    module: /^openai(\/|$)/,
    only: /^src\/providers\/openai-(chat\/|responses\/|client\.ts)/,
    why: "an SDK is known only to the folders of its wire formats",
  },
  {
    module: /^@modelcontextprotocol\//,
    only: /^src\/tools\/mcp\//,
    why: "the protocol of tool servers is known only to its folder",
  },
  {
    module: /^node:/,
    only: /^(cli|src\/agents|src\/tenancy|src\/tools\/shell|durable-objects|d1)\//,
    why: "the rules, the schemas and the page run without Node",
  },
];

/** Types that only one folder may name. */
export const CLOSED_TYPES: { name: RegExp; only: RegExp; why: string }[] = [
  {
    name: /^R2(Bucket|Object|ObjectBody)$/,
    only: /^r2-layout\//,
    why: "only r2-layout/ knows what lies in R2",
  },
  {
    name: /^(DurableObject\w*|SqlStorage\w*)$/,
    only: /^(?!src\/engine\/)/,
    why: "the engine knows its ports and no platform",
  },
];

/** Whose names stand in their own provider folder and the tables directly in `src/providers/`, and nowhere else in code. */
export const VENDORS =
  /\b(openai|anthropic|claude|gemini|grok|xai|mistral|deepseek|cerebras|groq|openrouter|fireworks|moonshot|dashscope|nebius)/i;
/** Names of wire formats, which a team's plain data carries. */
export const FORMATS = new Set(["openai-chat", "openai-responses"]);
