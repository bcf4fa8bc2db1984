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
import { cut } from "./problems";
import { type Entry, entriesOf, quoted } from "./value-needs";

/**
 * The tools in a backend section's `custom_tools`: HTTP tools, or names in the registry. Python
 * tools are refused.
 */

type CustomTools = { http: HttpToolDefinition[]; registered: string[]; rules: ToolRule[] };

/** Accepted by every provider. */
export const TOOL_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/**
 * `format` is the wire format of the agent's model, because not every format can express every
 * tool; `null` if unknown.
 */
export function readCustomTools(
  section: Section,
  context: ConfigContext,
  format: Format | null,
): CustomTools {
  const path = [...section.path, "custom_tools"];
  const written = section.values.get("custom_tools");
  if (written === false || refuseOffWord(section, path, written))
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
  for (const entry of entries.slice(0, MAX_CUSTOM_TOOLS)) {
    if (excluded.includes(entry.name)) continue;
    readTool(section, entry, { tools, context, format });
  }
  return tools;
}

type Reading = { tools: CustomTools; context: ConfigContext; format: Format | null };

function readTool(section: Section, entry: Entry, reading: Reading): void {
  const { values } = entry.section;
  if (isPython(entry)) return refusePython(section, entry);
  section.findings.refuse({
    need: "http_tools",
    path: [...section.path, "custom_tools"],
    subject: quoted(entry.name),
  });
  if (!isFreeName(entry, reading.tools)) return;
  if (values.has("url")) addHttpTool(entry, reading);
  else addRegistered(entry, reading);
}

function addHttpTool({ name, section }: Entry, { tools, context, format }: Reading): void {
  const definition = readHttpTool(section, name, context);
  if (!definition) return;
  if (format !== null) refuseUnfit(section, definition, format);
  tools.http.push(definition);
  tools.rules.push(httpToolRule(definition));
}

function addRegistered({ name, section }: Entry, { tools }: Reading): void {
  checkKeys(section, REGISTERED_TOOL_KEYS);
  const tool = registeredTool(name);
  if (tool) {
    tools.registered.push(name);
    tools.rules.push(tool.rule);
    return;
  }
  const names = REGISTRY.map(({ spec }) => spec.name);
  const meant = nearest(name, names);
  const known = meant
    ? `Did you mean \`${meant}\`?`
    : `Available: ${names.join(", ")}. A tool over HTTP needs a \`url\`.`;
  section.findings.error("unknown_key", section.path, `Unknown tool \`${cut(name)}\`. ${known}`);
}

/**
 * Names of coordination and file tools. Reserved also for an agent without files, because it may
 * get some.
 */
const OWN_NAMES = new Set<string>([
  ...WORKFLOW_TOOLS,
  ...fileTools().map(({ spec }) => spec.name),
  "run_command",
  READ_TOOL_RESULT_RULE.name,
  RUN_JAVASCRIPT_RULE.name,
]);

function isFreeName({ name, section: { findings, path } }: Entry, { rules }: CustomTools): boolean {
  if (!TOOL_NAME.test(name)) {
    const detail =
      "The name of a tool must be 1 to 64 letters, digits, underscores or dashes, beginning with a letter or an underscore.";
    findings.error("out_of_range", path, detail);
  } else if (OWN_NAMES.has(name) || name.startsWith("mcp__")) {
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
 * MassGen's tools are Python functions in a file. A name alone is a Python tool too if it has one
 * of these keys.
 */
const isPython = ({ section: { values } }: Entry): boolean =>
  !values.has("url") && ["path", "function", "category"].some((key) => values.has(key));

/** MassGen's own tools are recognised by their folder. */
const KINDS: readonly (readonly [RegExp, NeedId])[] = [
  [/computer_use|_browser_automation/, "computer_use"],
  [/_extraframework_agents\//, "foreign_framework_tool"],
  [/_multimodal_tools\//, "media_tools"],
];
const GENERATES = /_multimodal_tools\/.*_generation/;

function refusePython({ path, findings }: Section, { name, section }: Entry): void {
  const file = String(section.values.get("path") ?? "");
  const need = KINDS.find(([pattern]) => pattern.test(file))?.[1] ?? "python_custom_tool";
  const place = { path: [...path, "custom_tools"], subject: quoted(name) };
  findings.refuse({ need, ...place });
  if (GENERATES.test(file)) findings.refuse({ need: "media_generation", ...place });
  checkKeys(section, PYTHON_TOOL_KEYS);
}
