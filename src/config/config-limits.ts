/** Limits of a config. */

/** A config as text. A team file is a page or two; MassGen's longest example has 20 KB. */
export const MAX_CONFIG_CHARS = 256 * 1024;
/**
 * The resulting team as JSON in UTF-8, with aliases expanded: it is stored in one row, and a row is
 * limited to 2 MB.
 */
export const MAX_TEAM_BYTES = 1_500_000;
/** Levels of nesting. MassGen's own configs need nine. */
export const MAX_DEPTH = 32;
/** YAML tokens, line ends and indentation included: parsing takes some microseconds per token. */
export const MAX_YAML_TOKENS = 50_000;
/**
 * Columns of block indentation. Each level needs at least one, so this limits nesting before
 * parsing.
 */
export const MAX_INDENT = 200;
/**
 * Aliases resolved per document: enough for shared settings, too few for an exponential expansion.
 */
export const MAX_ALIASES = 50;
/** Problems reported per config. */
export const MAX_PROBLEMS = 100;

export const MAX_AGENTS = 64;
export const MAX_ID_CHARS = 64;
/** A system message, an instruction or persona guidelines. */
export const MAX_TEXT_CHARS = 64 * 1024;
export const MAX_NAME_CHARS = 200;
export const MAX_KEY_CHARS = 1024;
export const MAX_URL_CHARS = 2048;

/** One day: longer than any sensible turn, short enough to end by itself. */
export const MAX_TIMEOUT_SECONDS = 86_400;

/** Per agent. Providers accept more, but models choose badly among more. */
export const MAX_CUSTOM_TOOLS = 64;
export const MAX_HEADERS = 32;
export const MAX_CONTEXTS = 16;
/** A description that a model reads. */
export const MAX_DESCRIPTION_CHARS = 4 * 1024;
/** Per agent. Each is a connection during a turn. */
export const MAX_MCP_SERVERS = 32;
