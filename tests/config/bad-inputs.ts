import type { ProblemCode } from "../../src/config/parse-team";

/**
 * Configs that must be refused. `row`: the row of `docs/proof/acceptance.md` that the config
 * belongs to. `code` and `pointer`: the expected error.
 */
export type BadInput = {
  row: string;
  name: string;
  source: unknown;
  code: ProblemCode;
  pointer?: string;
};

const withBackend = (backend: string, more = ""): string =>
  `agent: {id: a, backend: {type: chatcompletion, model: m, ${backend}}}\n${more}`;
const withClaude = (more: string): string => `agent: {id: a, backend: {type: claude}${more}`;
const nested = (depth: number): unknown => (depth === 0 ? 1 : { a: nested(depth - 1) });

/** A config of 308 bytes whose aliases would expand to 9^9 entries. */
export const BOMB = [..."abcdefghi"]
  .map(
    (name, index, all) =>
      `${name}: &${name} [${Array.from({ length: 9 }, () => (index === 0 ? "lol" : `*${all[index - 1]}`)).join(",")}]`,
  )
  .join("\n");

const SHAPES: readonly BadInput[] = [
  { row: "C1", name: "an alias bomb", source: BOMB, code: "syntax" },
  {
    row: "C1",
    name: "a bomb of mappings",
    source: BOMB.replaceAll("[", "{x: [").replaceAll("]", "]}"),
    code: "syntax",
  },
  {
    row: "C1",
    name: "an anchor that contains its own alias",
    source: "agents: &a [*a]",
    code: "too_deep",
  },
  { row: "C2", name: "4 kB of [", source: "[".repeat(4096), code: "too_deep" },
  { row: "C2", name: "4 kB of {", source: "{a: ".repeat(1024), code: "too_deep" },
  { row: "C2", name: "200 kB of dashes", source: "- ".repeat(100_000), code: "too_deep" },
  { row: "C2", name: "an object of 10,000 levels", source: nested(5_000), code: "too_deep" },
  {
    row: "C3",
    name: "a merge key with __proto__",
    source: `x: &x {__proto__: {admin: true}}\n<<: *x\n${withClaude("}")}`,
    code: "syntax",
  },
  {
    row: "C3",
    name: "a tag for JavaScript code",
    source: "agents: !!js/function 'function () {}'",
    code: "syntax",
  },
  {
    row: "C3",
    name: "a tag for Python code",
    source: "agents: !!python/object/apply:os.system ['id']",
    code: "syntax",
  },
  { row: "C3", name: "an ordered map", source: "agents: !!omap []", code: "syntax" },
  {
    row: "C3",
    name: "10 MB of binary data",
    source: `agents: !!binary ${"A".repeat(10_000_000)}`,
    code: "too_large",
  },
  {
    row: "B5",
    name: "a prototype as a key",
    source: JSON.parse('{"__proto__": {"admin": true}}'),
    code: "unknown_key",
  },
  {
    row: "B5",
    name: "a constructor as a key",
    source: "constructor: {prototype: {admin: true}}",
    code: "unknown_key",
  },
  {
    row: "B5",
    name: "a prototype in extra_body",
    source: withBackend("extra_body: {__proto__: {x: 1}}"),
    code: "not_allowed",
  },
  {
    row: "B5",
    name: "a prototype as an agent's id",
    source: "agent: {id: __proto__, backend: {type: claude}}",
    code: "out_of_range",
  },
  {
    row: "B5",
    name: "an inherited property name as an id",
    source: "agent: {id: toString, backend: {type: claude}}",
    code: "out_of_range",
  },
  {
    row: "B5",
    name: "an inherited property name as a type",
    source: "agent: {id: a, backend: {type: constructor}}",
    code: "out_of_range",
  },
  { row: "B6", name: "no agents", source: "agents: []", code: "out_of_range" },
  {
    row: "B6",
    name: "1,001 agents",
    source: { agents: Array.from({ length: 1001 }, (_, id) => ({ id: `a${id}` })) },
    code: "out_of_range",
  },
  {
    row: "B6",
    name: "two agents with the same id",
    source: "agents: [{id: a, backend: {type: claude}}, {id: a, backend: {type: claude}}]",
    code: "duplicate",
  },
  {
    row: "B6",
    name: "a list instead of a mapping",
    source: "agent: {id: a, backend: [type, claude]}",
    code: "wrong_type",
  },
  {
    row: "B6",
    name: "a number in quotes",
    source: withClaude("}\norchestrator: {max_new_answers_per_agent: '3'}"),
    code: "wrong_type",
  },
  {
    row: "B6",
    name: "a key that is a number",
    source: `${withClaude("}")}\n7: x`,
    code: "wrong_type",
  },
  {
    row: "B8",
    name: "a time limit of 0",
    source: withClaude("}\ntimeout_settings: {orchestrator_timeout_seconds: 0}"),
    code: "out_of_range",
  },
  {
    row: "B8",
    name: "a negative time limit",
    source: withClaude("}\ntimeout_settings: {orchestrator_timeout_seconds: -5}"),
    code: "out_of_range",
  },
  {
    row: "B8",
    name: "a time limit that is too high",
    source: withClaude("}\ntimeout_settings: {orchestrator_timeout_seconds: 1000000000}"),
    code: "out_of_range",
  },
  {
    row: "B8",
    name: "an infinite time limit",
    source: withClaude("}\ntimeout_settings: {orchestrator_timeout_seconds: .inf}"),
    code: "out_of_range",
  },
  {
    row: "B4",
    name: "NaN as a number",
    source: withBackend("temperature: .nan"),
    code: "out_of_range",
  },
  {
    row: "A9",
    name: "an id that is a path",
    source: 'agent: {id: "../other", backend: {type: claude}}',
    code: "out_of_range",
  },
  {
    row: "A9",
    name: "an id with a NUL",
    source: { agent: { id: "a\0", backend: { type: "claude" } } },
    code: "out_of_range",
  },
  {
    row: "A9",
    name: "an id of 2,000 characters",
    source: { agent: { id: "a".repeat(2000), backend: { type: "claude" } } },
    code: "out_of_range",
  },
];

const operatorKey = "api_key: '${OPENAI_API_KEY}'";
const SECRETS: readonly BadInput[] = [
  {
    row: "C5",
    name: "the name of a key inside a longer key",
    source: withBackend("api_key: 'x-${OPENAI_API_KEY}'"),
    code: "wrong_type",
  },
  {
    row: "C5",
    name: "a key in the syntax of other programs",
    source: withBackend("api_key: '${env:OPENAI_API_KEY}'"),
    code: "wrong_type",
  },
  {
    row: "C5",
    name: "the name of a secret that is no provider's key",
    source: withBackend("api_key: '${MASTER_KEY}'"),
    code: "key_unknown",
  },
  {
    row: "C5",
    name: "the name of a key in an address",
    source: withBackend("base_url: 'https://${OPENAI_API_KEY}.example.com'"),
    code: "base_url_refused",
  },
  {
    row: "C6",
    name: "a stored key for another origin",
    source: withBackend(`base_url: 'https://evil.example.com/v1', ${operatorKey}`),
    code: "key_bound_elsewhere",
  },
  {
    row: "D11",
    name: "a stored key for a host that begins like its own",
    source: withBackend(`base_url: 'https://api.openai.com.evil.com/v1', ${operatorKey}`),
    code: "key_bound_elsewhere",
  },
  {
    row: "D11",
    name: "a stored key for the parent domain of its host",
    source: withBackend(`base_url: 'https://openai.com/v1', ${operatorKey}`),
    code: "key_bound_elsewhere",
  },
];

export const PATHS = [
  "/etc",
  "../..",
  "~",
  "~/.ssh",
  "C:\\\\",
  "\\\\\\\\host\\\\share",
  "file:///etc/passwd",
];
const MACHINE: readonly BadInput[] = [
  {
    row: "C7",
    name: "hooks",
    source: withClaude("}\nhooks: {PreToolUse: [{handler: 'os:system', type: python}]}"),
    code: "not_served",
    pointer: "/hooks",
  },
  {
    row: "C7",
    name: "an agent's hooks",
    source: withBackend("hooks: {PostToolUse: [{handler: x}]}"),
    code: "not_served",
  },
  {
    row: "C7",
    name: "an MCP server that is a program",
    source: withBackend("mcp_servers: [{name: x, command: sh, args: [-c, id]}]"),
    code: "not_served",
  },
  {
    row: "C7",
    name: "an MCP server with a program and an address",
    source: withBackend("mcp_servers: {x: {url: 'https://m.example.com', command: [sh]}}"),
    code: "not_served",
  },
  {
    row: "C7",
    name: "a tool in Python",
    source: withBackend("custom_tools: [{name: x, path: /tmp/x.py, function: x}]"),
    code: "not_served",
  },
  {
    row: "C7",
    name: "a shell in Docker",
    source: withBackend(
      "enable_mcp_command_line: true, command_line_execution_mode: docker, command_line_docker_enable_sudo: true",
    ),
    code: "not_served",
  },
  {
    row: "C7",
    name: "a backend that is a program",
    source: "agent: {id: a, backend: {type: claude_code}}",
    code: "not_served",
  },
  {
    row: "C12",
    name: "structured output",
    source: withBackend("output_schema: {$ref: 'http://169.254.169.254/'}"),
    code: "not_served",
  },
  ...PATHS.flatMap((path): BadInput[] => [
    {
      row: "C8",
      name: `context_paths: ${path}`,
      source: withClaude(`}\norchestrator: {context_paths: [{path: "${path}"}]}`),
      code: "not_served",
    },
  ]),
];

const URLS: readonly (readonly [row: string, ...urls: string[]])[] = [
  [
    "D1",
    "http://127.0.0.1",
    "https://127.0.0.1",
    "https://localhost",
    "https://localhost.",
    "https://[::1]",
    "https://0.0.0.0",
    "https://[::]",
  ],
  ["D2", "https://2130706433/", "https://0x7f000001", "https://0177.0.0.1", "https://127.1"],
  [
    "D3",
    "https://[::ffff:127.0.0.1]",
    "https://[::ffff:7f00:1]",
    "https://[64:ff9b::7f00:1]",
    "https://[fd00::1]",
    "https://[fe80::1%25eth0]",
  ],
  [
    "D4",
    "https://169.254.169.254",
    "https://metadata.google.internal",
    "https://100.64.0.1",
    "https://10.0.0.1",
    "https://172.16.0.1",
  ],
  ["D4", "https://192.168.0.1", "https://198.18.0.1", "https://224.0.0.1", "https://router.local"],
  [
    "D8",
    "file:///etc/passwd",
    "data:text/plain,x",
    "ftp://example.com",
    "ws://example.com",
    "javascript:alert(1)",
    "blob:https://a.example/x",
  ],
  [
    "D8",
    "http://api.example.com",
    "https://user:pass@api.example.com",
    "//api.example.com",
    "api.example.com",
    "",
  ],
  [
    "D9",
    "https://api.example.com:22",
    "https://api.example.com:6379",
    "https://api.example.com:0",
    "https://api.example.com:70000",
  ],
];
const ADDRESSES = URLS.flatMap(([row, ...urls]) =>
  urls.map(
    (url): BadInput => ({
      row,
      name: `base_url: ${url}`,
      source: withBackend(`base_url: "${url}"`),
      code: "base_url_refused",
    }),
  ),
);

export const BAD_INPUTS: readonly BadInput[] = [...SHAPES, ...SECRETS, ...MACHINE, ...ADDRESSES];
