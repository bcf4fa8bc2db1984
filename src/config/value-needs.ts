import { asSection, type Section } from "./fields";
import { FILE_KEYS, HOOK_KEYS, HOOKS_KEYS, type KeyRules, MEMORY_KEYS } from "./known-keys";
import type { NeedId } from "./needs";
import { shortQuote } from "./problems";

/** Determines the unsupported features that a key's value needs: files, hooks, memory. */

/** `subject`: the key, file or hook that needs the feature. */
type Need = { need: NeedId; subject: string };

/** `inside`: the sections in the value whose keys must be checked, with their rules. */
type ValueNeeds = {
  needs: readonly Need[];
  inside: readonly (readonly [Section, KeyRules])[];
};

/** `section` contains the key. The value must not be missing and must not switch a feature off. */
export function needsOfValue(section: Section, key: string, value: unknown): ValueNeeds {
  switch (key) {
    case "upload_files":
      return needsOfEntries(entriesOf(section, key, value), needsOfFile, FILE_KEYS);
    case "hooks":
      return hookNeeds(section, value);
    case "memory":
      return memoryNeeds(section, value);
    default: {
      const isSupported = SUPPORTED_VALUES.get(key)?.includes(value) ?? false;
      return {
        needs: isSupported ? [] : [{ need: "other_coordination", subject: `\`${key}\`` }],
        inside: [],
      };
    }
  }
}

function needsOfEntries(
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
 * The needs of an entry of `upload_files`. A file is available only if the question has an
 * attachment of this name. Video is never supported.
 */
function needsOfFile({ name, section: { values, findings } }: Entry): Need[] {
  const namedPaths = ["image_path", "file_path", "audio_path"].map((key) => values.get(key));
  const paths = [...namedPaths, values.size === 0 ? name : null].filter((path) => path != null);
  const missing = paths.filter((path) => !findings.isAttached(String(path)));
  const video = values.get("video_path");
  return [...(video == null ? [] : [video]), ...missing].map((file) => ({
    need: "upload_files",
    subject: toQuote(String(file)),
  }));
}

/** The supported values of keys that select a way of coordination. */
export const SUPPORTED_VALUES = new Map<string, readonly unknown[]>([
  ["coordination_mode", ["voting"]],
  ["final_answer_strategy", ["winner_present", "winner_reuse"]],
]);

/**
 * The needs of `memory`. Memory within a session is always on. A section without
 * `conversation_memory` and `persistent_memory` requests both, so it needs memory across sessions.
 */
function memoryNeeds(section: Section, value: unknown): ValueNeeds {
  const memory = asSection(value, [...section.path, "memory"], section.findings);
  if (!memory) return { needs: [], inside: [] };
  const conversation = memory.values.get("conversation_memory");
  const persistent = memory.values.get("persistent_memory");
  if (conversation !== undefined && !isSwitchedOn(conversation)) {
    const detail =
      "`conversation_memory` cannot be switched off: agents always remember the turns of their session.";
    section.findings.warn("no_effect", [...memory.path, "conversation_memory"], detail, "key");
  }
  const hasNeither = conversation === undefined && persistent === undefined;
  return {
    needs:
      hasNeither || isSwitchedOn(persistent)
        ? [{ need: "persistent_memory", subject: "`memory`" }]
        : [],
    inside: [[memory, MEMORY_KEYS]],
  };
}

/** Whether a kind of memory is switched on. As in MassGen, a missing kind is off. */
const isSwitchedOn = (part: unknown): boolean =>
  part instanceof Map
    ? part.get("enabled") !== false && part.size > 0
    : part !== undefined && part !== null && part !== false;

/** An entry of a list or mapping. An entry that is only a word has an empty section. */
export type Entry = { name: string; section: Section };

/** The entries of a list, of a mapping by name, or the single entry that the value itself is. */
export function entriesOf({ path, findings }: Section, key: string, value: unknown): Entry[] {
  const entriesPath = [...path, key];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      entryOf({ path: [...entriesPath, index], findings }, item, `entry ${index + 1}`),
    );
  if (value instanceof Map && !value.has("command") && !value.has("url"))
    return [...value].flatMap(([name, item]) =>
      entryOf({ path: [...entriesPath, String(name)], findings }, item, String(name)),
    );
  return entryOf({ path: entriesPath, findings }, value, key);
}

/** One entry, or none if it is invalid. `fallbackName`: the name of an entry without a name. */
function entryOf(
  { path, findings }: Omit<Section, "values">,
  item: unknown,
  fallbackName: string,
): Entry[] {
  if (typeof item === "string")
    return [{ name: item, section: { path, findings, values: new Map() } }];
  const section = asSection(item, path, findings);
  const ownName =
    section?.values.get("name") ?? section?.values.get("path") ?? section?.values.get("function");
  const first: unknown = Array.isArray(ownName) ? ownName[0] : ownName;
  return section ? [{ name: typeof first === "string" ? first : fallbackName, section }] : [];
}

function hookNeeds(section: Section, value: unknown): ValueNeeds {
  const hooks = asSection(value, [...section.path, "hooks"], section.findings);
  if (!hooks) return { needs: [], inside: [] };
  const entries = [...hooks.values].flatMap(([event, list]) => entriesOf(hooks, event, list));
  return {
    needs: [...hooks.values.keys()].map((event) => ({ need: "hooks", subject: toQuote(event) })),
    inside: [[hooks, HOOKS_KEYS], ...entries.map((entry) => [entry.section, HOOK_KEYS] as const)],
  };
}

export const toQuote = (name: string): string => `\`${shortQuote(name)}\``;
