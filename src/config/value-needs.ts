import { asSection, type Section } from "./fields";
import { FILE_KEYS, HOOK_KEYS, HOOKS_KEYS, type KeyRules, MEMORY_KEYS } from "./known-keys";
import type { NeedId } from "./needs";
import { cut } from "./problems";

/** Needs that depend on a key's value: servers, tools, files. */

type Need = { need: NeedId; subject: string };

/** `inside` are sections within the value, with their key rules. */
type ValueNeeds = {
  needs: readonly Need[];
  inside: readonly (readonly [Section, KeyRules])[];
};

/** `section` contains the key. The value is neither missing nor switched off. */
export function needsOfValue(section: Section, key: string, value: unknown): ValueNeeds {
  switch (key) {
    case "upload_files":
      return ofEntries(entriesOf(section, key, value), needsOfFile, FILE_KEYS);
    case "hooks":
      return hookNeeds(section, value);
    case "memory":
      return memoryNeeds(section, value);
    default: {
      const isUsual = USUAL.get(key)?.includes(value) ?? false;
      return {
        needs: isUsual ? [] : [{ need: "other_coordination", subject: `\`${key}\`` }],
        inside: [],
      };
    }
  }
}

function ofEntries(
  entries: readonly Entry[],
  needsOf: (entry: Entry) => Need[],
  rules: KeyRules,
): ValueNeeds {
  return {
    needs: entries.flatMap(needsOf),
    inside: entries.map(({ section }) => [section, rules]),
  };
}

/**
 * Attached files are available; files that are only named are not, and video is never supported.
 */
function needsOfFile({ name, section: { values, findings } }: Entry): Need[] {
  const named = ["image_path", "file_path", "audio_path"].map((key) => values.get(key));
  const paths = [...named, values.size === 0 ? name : null].filter((path) => path != null);
  const missing = paths.filter((path) => !findings.isAttached(String(path)));
  const video = values.get("video_path");
  return [...(video == null ? [] : [video]), ...missing].map((one) => ({
    need: "upload_files",
    subject: quoted(String(one)),
  }));
}

/** Values that select the supported way of coordination. */
export const USUAL = new Map<string, readonly unknown[]>([
  ["coordination_mode", ["voting"]],
  ["final_answer_strategy", ["winner_present", "winner_reuse"]],
]);

/**
 * Memory within a session is always on. A section that names neither kind requests all of MassGen's
 * memory.
 */
function memoryNeeds(section: Section, value: unknown): ValueNeeds {
  const memory = asSection(value, [...section.path, "memory"], section.findings);
  if (!memory) return { needs: [], inside: [] };
  const parts = ["conversation_memory", "persistent_memory"].map((key) => memory.values.get(key));
  if (parts[0] !== undefined && !isSwitchedOn(parts[0])) {
    const detail =
      "`conversation_memory` cannot be switched off: agents always remember the turns of their session.";
    section.findings.warn("no_effect", [...memory.path, "conversation_memory"], detail, "key");
  }
  const lasts = parts.every((part) => part === undefined) || isSwitchedOn(parts[1]);
  return {
    needs: lasts ? [{ need: "persistent_memory", subject: "`memory`" }] : [],
    inside: [[memory, MEMORY_KEYS]],
  };
}

/** A section that is not switched off. As in MassGen, this kind is off unless set. */
const isSwitchedOn = (part: unknown): boolean =>
  part instanceof Map
    ? part.get("enabled") !== false && part.size > 0
    : part !== undefined && part !== null && part !== false;

/** `name` is the entry's name. An entry that is only a word has an empty section. */
export type Entry = { name: string; section: Section };

/** A list of entries, or a mapping by name. An entry that is only a word has only a name. */
export function entriesOf({ path, findings }: Section, key: string, value: unknown): Entry[] {
  const at = [...path, key];
  if (Array.isArray(value))
    return value.flatMap((item, nth) =>
      entryOf({ path: [...at, nth], findings }, item, `entry ${nth + 1}`),
    );
  if (value instanceof Map && !value.has("command") && !value.has("url"))
    return [...value].flatMap(([name, item]) =>
      entryOf({ path: [...at, String(name)], findings }, item, String(name)),
    );
  return entryOf({ path: at, findings }, value, key);
}

function entryOf(
  { path, findings }: Omit<Section, "values">,
  item: unknown,
  name: string,
): Entry[] {
  if (typeof item === "string")
    return [{ name: item, section: { path, findings, values: new Map() } }];
  const section = asSection(item, path, findings);
  const own =
    section?.values.get("name") ?? section?.values.get("path") ?? section?.values.get("function");
  const first: unknown = Array.isArray(own) ? own[0] : own;
  return section ? [{ name: typeof first === "string" ? first : name, section }] : [];
}

function hookNeeds(section: Section, value: unknown): ValueNeeds {
  const hooks = asSection(value, [...section.path, "hooks"], section.findings);
  if (!hooks) return { needs: [], inside: [] };
  const entries = [...hooks.values].flatMap(([event, list]) => entriesOf(hooks, event, list));
  return {
    needs: [...hooks.values.keys()].map((event) => ({ need: "hooks", subject: quoted(event) })),
    inside: [[hooks, HOOKS_KEYS], ...entries.map((entry) => [entry.section, HOOK_KEYS] as const)],
  };
}

export const quoted = (name: string): string => `\`${cut(name)}\``;
