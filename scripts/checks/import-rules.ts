/**
 * The layers and their imports, as data: worker → api → durable-objects → engine → agents →
 * providers, tools, prompts → coordination → protocol. "Rooms" are the top folders around the
 * service. They are not layers: `CLOSED_ROOMS` restricts their imports.
 */
type LayerRule = {
  /** Layers whose code this layer may import. It may import types also from any lower layer. */
  uses: readonly Layer[];
  /** Further layers from which this layer may import only types. */
  types?: readonly Layer[];
  /** Data outside all layers that this layer may import: folders and files. */
  data?: readonly string[];
  /**
   * The npm packages and `node:`/`cloudflare:` modules that this layer may import. If it is
   * omitted, the layer may import every package that no other rule forbids.
   */
  packages?: readonly string[];
};

/**
 * The layers from the top down. A file belongs to the longest entry that is a prefix of its path.
 */
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
  "src/diff",
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
  "client",
] as const;
export type Layer = (typeof LAYERS)[number];

export const LAYER_RULES: Record<Layer, LayerRule> = {
  // The worker composes all parts. It also passes the names of keys and the included teams to the
  // routes.
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
      "src/async",
    ],
    data: ["configs/", "package.json"],
  },
  "src/api": {
    uses: [
      "src/evals",
      "src/uploads",
      "src/config",
      "src/diff",
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
    data: ["package.json"],
  },
  // Objects also import providers, because they give each call its fetch, its slot and its time
  // limits.
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
  // Rows in D1. Objects pass plain data, so only their types are imported here.
  d1: {
    uses: ["src/env", "src/evals", "src/uploads", "src/tenancy", "src/protocol"],
    types: ["durable-objects"],
  },
  // The bindings of the Worker, which name each object by its interface.
  "src/env": { uses: [], types: ["durable-objects", "src/tools", "r2-layout"], packages: [] },
  // The engine decides, commits, performs and recovers through its two ports. It is independent of
  // the platform, because its caller passes the ports.
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
    uses: ["src/workspace", "r2-layout", "src/protocol", "src/async"],
    packages: ["fflate", "modern-tar", "zod"],
  },
  "src/evals": {
    uses: ["src/config", "src/patterns", "src/coordination", "src/protocol"],
    packages: ["croner", "zod"],
  },
  // Configs import tools to know which tools exist, and their rules.
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
  // Pure: the usage of a provider's quota, and the queue of calls that wait for quota.
  "src/rate-limits": { uses: ["src/providers", "src/protocol"], packages: [] },
  // Pure: references, trees, lines and words of a diff. The command line uses them too.
  "src/diff": { uses: ["src/workspace", "src/protocol"], packages: ["diff"] },
  "src/workspace": { uses: ["src/patterns", "src/coordination", "src/protocol"] },
  "src/providers": { uses: ["src/redaction", "src/coordination", "src/protocol", "src/async"] },
  "src/outgoing": { uses: ["src/redaction", "src/async"] },
  "src/redaction": { uses: [], packages: [] },
  // Patterns from users and models, and their cost limits.
  "src/patterns": { uses: ["src/async"], packages: ["re2js"] },
  // Rules of keys and quotas. They use the synchronous hashes of Node, because they run inside
  // transactions.
  "src/tenancy": { uses: [], packages: ["node:crypto"] },
  "r2-layout": { uses: ["src/protocol", "src/async"] },
  "src/coordination": { uses: ["src/protocol"], packages: [] },
  "src/protocol": { uses: [], packages: ["zod"] },
  // Locks, time limits and clocks, which know nothing about the service.
  "src/async": { uses: [], packages: [] },
  // Sentences for people, so that the command line, the page and other interfaces use the same
  // words.
  "src/describe": { uses: ["src/protocol"], packages: [] },
  // The client has no schema library. From the protocol it imports types, and modules that need no
  // schema library.
  client: { uses: ["src/protocol"], packages: ["eventsource-parser"] },
  // The command line is a separate program. It shares the rules for file names and addresses with
  // the service.
  cli: {
    uses: ["client", "src/describe", "src/diff", "src/workspace", "src/outgoing", "src/protocol"],
    data: ["package.json"],
  },
};

/**
 * The rooms: top folders around the service that contain code. Files of the root configure tools.
 */
export const ROOMS: readonly string[] = [
  "checker",
  "local",
  "proof",
  "sandbox",
  "scripts",
  "simulated",
  "tests",
];

/**
 * Forbidden imports between rooms: files that match `from` may not import files that match `room`.
 * Tests and scripts share `local/` and `simulated/`. Only proof itself imports `proof/`.
 */
export const CLOSED_ROOMS: { from: RegExp; room: RegExp; why: string }[] = [
  {
    from: /^(?!proof\/)/,
    room: /^proof\/(?!counts$)/,
    why: "of proof/, only the sizes in counts.ts may be imported",
  },
  {
    from: /^tests\//,
    room: /^scripts\//,
    why: "tests of a script are beside it; what both need is in local/ or simulated/",
  },
  {
    from: /^scripts\//,
    room: /^(tests|checker)\//,
    why: "what scripts and tests both need is in local/ or simulated/",
  },
  {
    from: /^simulated\//,
    room: /^(scripts|tests|checker)\//,
    why: "simulated/ is below its users",
  },
  {
    from: /^local\//,
    room: /^(scripts|tests|simulated|checker)\//,
    why: "local/ is below its users",
  },
  {
    from: /^sandbox\//,
    room: /^(?!sandbox\/)/,
    why: "sandbox/ is a Worker of its own, deployed without the service",
  },
  {
    from: /^checker\//,
    room: /^(?!checker\/|src\/protocol\/)/,
    why: "the checker may import only the protocol, so that it does not check a rule by the rule's own code",
  },
];

/**
 * Modules that only some paths may import. Tests and scripts run the runtime themselves, so they
 * are not restricted.
 */
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

/** Types that only one folder may use. */
export const CLOSED_TYPES: { name: RegExp; only: RegExp; why: string }[] = [
  {
    name: /^R2(Bucket|Object|ObjectBody)$/,
    only: /^r2-layout\//,
    why: "only r2-layout/ knows the objects in R2",
  },
  {
    name: /^(DurableObject\w*|SqlStorage\w*)$/,
    only: /^(?!src\/engine\/)/,
    why: "the engine knows its ports and no platform",
  },
];

/**
 * Vendor names are allowed only in the vendor's provider folder and in the tables directly in
 * `src/providers/`.
 */
export const VENDORS =
  /\b(openai|anthropic|claude|gemini|grok|xai|mistral|deepseek|cerebras|groq|openrouter|fireworks|moonshot|dashscope|nebius)/i;
/** Names of wire formats, which are part of a team's plain data. */
export const FORMATS = new Set(["openai-chat", "openai-responses"]);
