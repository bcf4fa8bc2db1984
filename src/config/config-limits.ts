/** Limits of a config. */

/** Characters of a config. Most team files are short; MassGen's longest example has 20 KB. */
export const MAX_CONFIG_CHARS = 256 * 1024;
/**
 * Size of the resulting team as JSON in UTF-8, with aliases expanded. The team is stored in one
 * row, and a row is limited to 2 MB.
 */
export const MAX_TEAM_BYTES = 1_500_000;
/** Levels of nesting. MassGen's own configs need nine. */
export const MAX_DEPTH = 32;
/** YAML tokens, including line ends and indentation. Parsing takes some microseconds per token. */
export const MAX_YAML_TOKENS = 50_000;
/**
 * Columns of block indentation. Each level of nesting needs at least one column. So this limits
 * nesting before the text is parsed.
 */
export const MAX_INDENT = 200;
/**
 * Aliases that are resolved in a document. The limit allows shared settings, but prevents that
 * nested aliases expand to an exponential size.
 */
export const MAX_ALIASES = 50;
/** Problems reported per config. */
export const MAX_PROBLEMS = 100;

/** Agents of a team. */
export const MAX_AGENTS = 64;
/** Characters of an agent's id. */
export const MAX_ID_CHARS = 64;
/** Characters of a system message, an instruction or persona guidelines. */
export const MAX_TEXT_CHARS = 64 * 1024;
/** Characters of the name of a model or a backend type, and of a text parameter. */
export const MAX_NAME_CHARS = 200;
/** Characters of an API key, or of the value of a header. */
export const MAX_KEY_CHARS = 1024;
/** Characters of an address, or of a path. */
export const MAX_URL_CHARS = 2048;

/** The highest value of a time limit: one day, which no sensible turn reaches. */
export const MAX_TIMEOUT_SECONDS = 86_400;

/** Custom tools of an agent. Providers accept more, but models then choose tools less well. */
export const MAX_CUSTOM_TOOLS = 64;
/** Headers of a tool or a tool server. */
export const MAX_HEADERS = 32;
/** Entries of one `context_paths` list. */
export const MAX_CONTEXTS = 16;
/** Characters of the description of a tool, which a model reads. */
export const MAX_DESCRIPTION_CHARS = 4 * 1024;
/** Tool servers of an agent. Each server keeps one connection open during a turn. */
export const MAX_MCP_SERVERS = 32;
