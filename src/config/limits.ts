/** Every bound on what a config may ask for. */

/** Of a config as text. A team file is a page or two; MassGen's longest example has 20 KB. */
export const MAX_CONFIG_CHARS = 256 * 1024;
/** Of the team a config comes to, as JSON in UTF-8, its aliases written out: it is stored in one row, and a row ends at 2 MB. */
export const MAX_TEAM_BYTES = 1_500_000;
/** Levels of nesting. MassGen's own configs need nine. */
export const MAX_DEPTH = 32;
/** Of YAML, line ends and indentation among them: parsing takes some microseconds for each. */
export const MAX_YAML_TOKENS = 50_000;
/** Columns of block indentation. Each level needs one at least, so this bounds nesting before anything is parsed. */
export const MAX_INDENT = 200;
/** How often aliases may be resolved in one document: enough for shared settings, too few for a bomb. */
export const MAX_ALIASES = 50;
/** Problems reported for one config; whoever has more fixes these first. */
export const MAX_PROBLEMS = 100;

export const MAX_AGENTS = 64;
export const MAX_ID_CHARS = 64;
/** Of a system message, an instruction, persona guidelines. */
export const MAX_TEXT_CHARS = 64 * 1024;
export const MAX_NAME_CHARS = 200;
export const MAX_KEY_CHARS = 1024;
export const MAX_URL_CHARS = 2048;

/** A day: longer than any turn that still makes sense, short enough to end by itself. */
export const MAX_TIMEOUT_SECONDS = 86_400;

/** Of one agent. Providers take more, but a model that must choose among more chooses badly. */
export const MAX_CUSTOM_TOOLS = 64;
export const MAX_HEADERS = 32;
export const MAX_CONTEXTS = 16;
/** Of a description that a model reads. */
export const MAX_DESCRIPTION_CHARS = 4 * 1024;
/** Of one agent. Each is a connection while a turn runs. */
export const MAX_MCP_SERVERS = 32;
