import type { ToolRule } from "../protocol/team";
import { WORKFLOW_TOOLS } from "../coordination";
import type { Format } from "../providers/registry";
import { fileTools, READ_TOOL_RESULT_RULE } from "../tools/files";
import { type HttpToolDefinition, httpToolRule } from "../tools/http/definition";
import { RUN_JAVASCRIPT_RULE } from "../tools/javascript";
import { REGISTRY, registeredTool } from "../tools/registry";
import { checkKeys } from "./check-keys";
import type { ConfigContext } from "./context";
import { listOrMapping, read, refuseOffWord, type Section, texts } from "./fields";
import { readHttpTool, refuseUnfit } from "./http-tools";
import { PYTHON_TOOL_KEYS, REGISTERED_TOOL_KEYS } from "./known-keys";
import { MAX_CUSTOM_TOOLS } from "./config-limits";
import { nearest } from "./nearest";
import type { NeedId } from "./needs";
import { shortQuote } from "./problems";
import { type Entry, entriesOf, toQuote } from "./value-needs";

/**
 * Reads `custom_tools` of a backend section. An entry is an HTTP tool or the name of a registered
 * tool. Python tools are refused.
 */

/** `registered`: names of tools in the registry. `rules`: coordination rules of all tools. */
type CustomTools = { http: HttpToolDefinition[]; registered: string[]; rules: ToolRule[] };

/** The form of tool names that every provider accepts. */
export const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * Reads the custom tools of an agent. `format` is the wire format of the agent's model; `null` if
 * unknown. A tool that the format cannot express is refused.
 */
export function readCustomTools(
  section: Section,
  context: ConfigContext,
  format: Format | null,
): CustomTools {
  const path = [...section.path, "custom_tools"];
  const configured = section.values.get("custom_tools");
  if (configured === false || refuseOffWord(section, path, configured))
    return { http: [], registered: [], rules: [] };
  const value = read(section, "custom_tools", listOrMapping, null);
  const entries = value === null ? [] : entriesOf(section, "custom_tools", value);
  if (entries.length > MAX_CUSTOM_TOOLS)
    section.findings.error(
      "out_of_range",
      path,
      `An agent has at most ${MAX_CUSTOM_TOOLS} custom tools; this agent has ${entries.length}.`,
    );
  const excluded = read<string[], readonly string[]>(section, "exclude_custom_tools", texts, []);
  const tools: CustomTools = { http: [], registered: [], rules: [] };
  const accepted = entries.slice(0, MAX_CUSTOM_TOOLS);
  for (const entry of accepted) {
    if (excluded.includes(entry.name)) continue;
    readTool(section, entry, { tools, context, format });
  }
  return tools;
}

type ReadState = { tools: CustomTools; context: ConfigContext; format: Format | null };

function readTool(section: Section, entry: Entry, state: ReadState): void {
  const { values } = entry.section;
  if (isPython(entry)) return refusePython(section, entry);
  section.findings.refuse({
    need: "http_tools",
    path: [...section.path, "custom_tools"],
    subject: toQuote(entry.name),
  });
  if (!isFreeName(entry, state.tools)) return;
  if (values.has("url")) addHttpTool(entry, state);
  else addRegistered(entry, state);
}

function addHttpTool({ name, section }: Entry, { tools, context, format }: ReadState): void {
  const definition = readHttpTool(section, name, context);
  if (!definition) return;
  if (format !== null) refuseUnfit(section, definition, format);
  tools.http.push(definition);
  tools.rules.push(httpToolRule(definition));
}

function addRegistered({ name, section }: Entry, { tools }: ReadState): void {
  checkKeys(section, REGISTERED_TOOL_KEYS);
  const tool = registeredTool(name);
  if (tool) {
    tools.registered.push(name);
    tools.rules.push(tool.rule);
    return;
  }
  const names = REGISTRY.map(({ spec }) => spec.name);
  const meant = nearest(name, names);
  const hint = meant
    ? `Did you mean \`${meant}\`?`
    : `Available: ${names.join(", ")}. A tool over HTTP needs a \`url\`.`;
  section.findings.error(
    "unknown_key",
    section.path,
    `Unknown tool \`${shortQuote(name)}\`. ${hint}`,
  );
}

/**
 * Names that no custom tool may have: coordination tools, file tools and tools for commands. They
 * are reserved also for an agent without files, because a config may later give it files.
 */
const RESERVED_NAMES = new Set<string>([
  ...WORKFLOW_TOOLS,
  ...fileTools().map(({ spec }) => spec.name),
  "run_command",
  READ_TOOL_RESULT_RULE.name,
  RUN_JAVASCRIPT_RULE.name,
]);

/** Whether a new tool may have this name; if not, reports the reason. */
function isFreeName({ name, section: { findings, path } }: Entry, { rules }: CustomTools): boolean {
  if (!TOOL_NAME.test(name)) {
    const detail =
      "The name of a tool must be 1 to 64 letters, digits, underscores or dashes, beginning with a letter or an underscore.";
    findings.error("out_of_range", path, detail);
  } else if (RESERVED_NAMES.has(name) || name.startsWith("mcp__")) {
    findings.error(
      "not_allowed",
      path,
      `The service reserves the name \`${name}\`: rename the tool.`,
    );
  } else if (rules.some((rule) => rule.name === name)) {
    findings.error("duplicate", path, `The agent already has a tool \`${name}\`.`);
  } else return true;
  return false;
}

/**
 * Whether the entry is a Python tool: it has no `url`, but a key of MassGen's Python tools. They
 * are Python functions in a file.
 */
const isPython = ({ section: { values } }: Entry): boolean =>
  !values.has("url") && ["path", "function", "category"].some((key) => values.has(key));

/** The folders of MassGen's own Python tools, and the feature that each folder needs. */
const NEEDS_BY_FOLDER: readonly (readonly [RegExp, NeedId])[] = [
  [/computer_use|_browser_automation/, "computer_use"],
  [/_extraframework_agents\//, "foreign_framework_tool"],
  [/_multimodal_tools\//, "media_tools"],
];
const MEDIA_GENERATOR = /_multimodal_tools\/.*_generation/;

function refusePython({ path, findings }: Section, { name, section }: Entry): void {
  const file = String(section.values.get("path") ?? "");
  const need = NEEDS_BY_FOLDER.find(([pattern]) => pattern.test(file))?.[1] ?? "python_custom_tool";
  const place = { path: [...path, "custom_tools"], subject: toQuote(name) };
  findings.refuse({ need, ...place });
  if (MEDIA_GENERATOR.test(file)) findings.refuse({ need: "media_generation", ...place });
  checkKeys(section, PYTHON_TOOL_KEYS);
}
