import { isPrivateHost } from "../outgoing/addresses";
import { asSection, type Section } from "./fields";
import {
  CONTEXT_PATH_KEYS,
  CUSTOM_TOOL_KEYS,
  FILE_KEYS,
  HOOK_KEYS,
  HOOKS_KEYS,
  type KeyRules,
  MCP_SERVER_KEYS,
} from "./known-keys";
import type { NeedId } from "./needs";
import { cut } from "./problems";

/** What a config needs that only a key's value tells: which servers, which tools, which files. */

type Need = { need: NeedId; subject: string };

/** `inside`: sections within the value, and which keys they may hold. */
export type ValueNeeds = { needs: readonly Need[]; inside: readonly (readonly [Section, KeyRules])[] };

/** `section` is the one the key stands in. The value is neither absent nor switched off. */
export function needsOfValue(section: Section, key: string, value: unknown): ValueNeeds {
  switch (key) {
    case "mcp_servers":
    case "direct_mcp_servers":
      return ofEntries(entriesOf(section, key, value), mcpNeed, MCP_SERVER_KEYS);
    case "custom_tools":
      return ofEntries(entriesOf(section, key, value), toolNeeds, CUSTOM_TOOL_KEYS);
    case "upload_files":
      return {
        ...ofEntries(entriesOf(section, key, value), () => [], FILE_KEYS),
        needs: [{ need: "upload_files", subject: "`upload_files`" }],
      };
    case "context_paths":
      return ofEntries(entriesOf(section, key, value), pathNeed, CONTEXT_PATH_KEYS);
    case "hooks":
      return hookNeeds(section, value);
    case "enable_mcp_command_line":
      return { needs: [shellNeed(section)], inside: [] };
    default:
      return { needs: USUAL.get(key) === value ? [] : [{ need: "other_coordination", subject: `\`${key}\`` }], inside: [] };
  }
}

function ofEntries(entries: readonly Entry[], needsOf: (entry: Entry) => Need[], rules: KeyRules): ValueNeeds {
  return { needs: entries.flatMap(needsOf), inside: entries.map(({ section }) => [section, rules]) };
}

/** Values of keys that name a way of coordinating, where they name this one. */
export const USUAL = new Map<string, unknown>([
  ["coordination_mode", "voting"],
  ["final_answer_strategy", "winner_present"],
]);

type Entry = { name: string; section: Section };

/** A list of entries, or a mapping by name; an entry that is only a word has its name alone. */
function entriesOf({ path, findings }: Section, key: string, value: unknown): Entry[] {
  const at = [...path, key];
  if (Array.isArray(value))
    return value.flatMap((item, nth) => entryOf({ path: [...at, nth], findings }, item, `entry ${nth + 1}`));
  if (value instanceof Map && !value.has("command") && !value.has("url"))
    return [...value].flatMap(([name, item]) => entryOf({ path: [...at, String(name)], findings }, item, String(name)));
  return entryOf({ path: at, findings }, value, key);
}

function entryOf({ path, findings }: Omit<Section, "values">, item: unknown, name: string): Entry[] {
  if (typeof item === "string") return [{ name: item, section: { path, findings, values: new Map() } }];
  const section = asSection(item, path, findings);
  const own = section?.values.get("name") ?? section?.values.get("path") ?? section?.values.get("function");
  const first: unknown = Array.isArray(own) ? own[0] : own;
  return section ? [{ name: typeof first === "string" ? first : name, section }] : [];
}

function mcpNeed({ name, section: { values } }: Entry): Need[] {
  const url = values.get("url");
  if (typeof url !== "string" || values.has("command")) return [{ need: "stdio_mcp", subject: quoted(name) }];
  const isLocal = URL.canParse(url) && isPrivateHost(new URL(url).hostname);
  return [{ need: isLocal ? "localhost_mcp" : "http_mcp", subject: quoted(name) }];
}

/** MassGen's own tools are told by the folder they lie in. */
const TOOL_KINDS: readonly (readonly [RegExp, NeedId])[] = [
  [/computer_use/, "computer_use"],
  [/_extraframework_agents\//, "foreign_framework_tool"],
  [/_multimodal_tools\//, "media_tools"],
];
const GENERATES = /_multimodal_tools\/.*_generation/;

function toolNeeds({ name, section }: Entry): Need[] {
  const path = String(section.values.get("path") ?? "");
  const kind = TOOL_KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? "python_custom_tool";
  const subject = quoted(name);
  return [{ need: kind, subject }, ...(GENERATES.test(path) ? [{ need: "media_generation" as const, subject }] : [])];
}

const pathNeed = ({ name }: Entry): Need[] => [{ need: "host_context_path", subject: quoted(name) }];

function hookNeeds(section: Section, value: unknown): ValueNeeds {
  const hooks = asSection(value, [...section.path, "hooks"], section.findings);
  if (!hooks) return { needs: [], inside: [] };
  const entries = [...hooks.values].flatMap(([event, list]) => entriesOf(hooks, event, list));
  return {
    needs: [...hooks.values.keys()].map((event) => ({ need: "hooks", subject: quoted(event) })),
    inside: [[hooks, HOOKS_KEYS], ...entries.map((entry) => [entry.section, HOOK_KEYS] as const)],
  };
}

function shellNeed({ values }: Section): Need {
  const docker = values.get("command_line_execution_mode") === "docker";
  return { need: docker ? "shell_docker" : "shell", subject: "`enable_mcp_command_line`" };
}

const quoted = (name: string): string => `\`${cut(name)}\``;
