import { refuseOffWord, type Section } from "./fields";
import {
  AGENT_KEYS,
  COORDINATION_KEYS,
  type KeyRules,
  ORCHESTRATOR_KEYS,
  PERSONA_KEYS,
  TIMEOUT_KEYS,
  TOP_KEYS,
  UI_KEYS,
} from "./known-keys";
import { MAX_PROBLEMS } from "./config-limits";
import { nearest } from "./nearest";
import { NEED_IDS, type NeedId } from "./needs";
import { cut } from "./problems";
import { needsOfValue } from "./value-needs";
import { ALL_PARAMS } from "../providers/format-params";
import { BACKEND_KEYS } from "./backend-keys";

/**
 * Classifies every key of a section: used, ignored with a warning, refused by name, or unknown.
 * `more` are further valid keys (a wire format's parameters), which their reader checks.
 */
export function checkKeys(section: Section, rules: KeyRules, more: readonly string[] = []): void {
  for (const [key, value] of section.values) {
    if (section.findings.errors.length >= MAX_PROBLEMS) return; // further problems are not reported
    if (!rules.served.includes(key) && !more.includes(key))
      judge(section, rules, { key, value, more });
  }
}

type KeyEntry = { key: string; value: unknown; more: readonly string[] };

function judge(section: Section, rules: KeyRules, { key, value, more }: KeyEntry): void {
  const { path, findings } = section;
  const at = [...path, key];
  const modern = ownOf(rules.old, key);
  if (modern)
    return findings.error(
      "old_keyword",
      at,
      `\`${key}\` is from MassGen's first version: ${modern}.`,
      "key",
    );
  const elsewhere = ownOf(rules.misplaced, key);
  if (elsewhere)
    return findings.error(
      "unknown_key",
      at,
      `\`${key}\` does not belong here: ${elsewhere}.`,
      "key",
    );
  if (rules.byValue?.includes(key)) return refuseByValue(section, key, value);

  const need = needOf(rules, key);
  if (need) return refuseKey(section, rules, { key, value, need });
  const ignored = Object.entries(rules.ignored).find(([pattern]) => matches(pattern, key));
  if (ignored)
    return findings.warn("no_effect", at, `\`${cut(key)}\` is ignored: ${ignored[1]}.`, "key");
  const detail = unknownDetail(rules, { key, value, more });
  if (detail !== null) findings.error("unknown_key", at, detail, "key");
}

const ownOf = (
  table: Readonly<Record<string, string>> | undefined,
  key: string,
): string | undefined => (table && Object.hasOwn(table, key) ? table[key] : undefined);

function refuseKey(
  section: Section,
  { only }: KeyRules,
  { key, value, need }: { key: string; value: unknown; need: NeedId },
): void {
  const at = [...section.path, key];
  const { findings, values } = section;
  if (isOff(value)) return;
  const feature = Object.entries(only ?? {}).find(([pattern]) => matches(pattern, key))?.[1];
  if (feature !== undefined && !isOn(values, feature)) {
    const wanted = feature.includes(": ") ? feature : `${feature}: true`;
    return findings.warn(
      "no_effect",
      at,
      `\`${cut(key)}\` is ignored: it has no effect without \`${wanted}\`.`,
      "key",
    );
  }
  if (!refuseOffWord(section, at, value))
    findings.refuse({ need, path: at, subject: `\`${cut(key)}\`` });
}

/** `feature` is a key that is not switched off, or `key: value`. */
function isOn(values: Section["values"], feature: string): boolean {
  const [key = "", value] = feature.split(": ");
  return value === undefined ? !isOff(values.get(key)) : values.get(key) === value;
}

function refuseByValue(section: Section, key: string, value: unknown): void {
  const path = [...section.path, key];
  if (isOff(value) || refuseOffWord(section, path, value)) return;
  const { needs, inside } = needsOfValue(section, key, value);
  for (const { need, subject } of needs) section.findings.refuse({ need, path, subject });
  for (const [part, rules] of inside) checkKeys(part, rules);
}

function needOf({ later }: KeyRules, key: string): NeedId | undefined {
  return NEED_IDS.find((need) => later[need]?.some((pattern) => matches(pattern, key)));
}

function matches(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : pattern === key;
}

/** Switching off an unsupported feature is allowed. */
function isOff(value: unknown): boolean {
  if (value === false || value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return value instanceof Map && (value.size === 0 || value.get("enabled") === false);
}

/** `null` if the key resembles no known key and may belong to a newer version. */
function unknownDetail(rules: KeyRules, { key, more }: KeyEntry): string | null {
  // Common in text copied from web pages: it looks like a space, but YAML treats it as a letter.
  if (key.startsWith("\u00a0"))
    return `There is a non-breaking space before \`${cut(key)}\`: replace it with a plain space.`;
  const place = placeOfKey(key, rules);
  if (place) return `\`${cut(key)}\` is not a key of this section: move it ${place}.`;
  const words = [
    ...rules.served,
    ...more,
    ...(rules.byValue ?? []),
    ...Object.keys(rules.ignored),
    ...Object.values(rules.later).flat(),
  ];
  const meant = nearest(
    key,
    words.filter((word) => !word.endsWith("*")),
  );
  if (rules.grows && !meant) return null;
  const known = rules.elsewhere ?? `Known keys: ${[...rules.served].sort().join(", ")}.`;
  return `Unknown key \`${cut(key)}\`. ${meant ? `Did you mean \`${meant}\`?` : known}`;
}

/** The section of each key, for suggestions; of two candidates the first is more likely. */
const PLACES: readonly (readonly [place: string, KeyRules])[] = [
  ["into `orchestrator`", ORCHESTRATOR_KEYS],
  ["into `orchestrator.coordination`", COORDINATION_KEYS],
  ["into `timeout_settings`", TIMEOUT_KEYS],
  [
    "into an agent's `backend`",
    { ...BACKEND_KEYS, served: [...BACKEND_KEYS.served, ...ALL_PARAMS] },
  ],
  ["into an entry of `agents`", AGENT_KEYS],
  ["into `ui`", UI_KEYS],
  ["to the top level", TOP_KEYS],
];
const SECTIONS: readonly KeyRules[] = [
  BACKEND_KEYS,
  PERSONA_KEYS,
  ...PLACES.map(([, rules]) => rules),
];

/**
 * The section of a key that this section does not know, as the end of "move it …"; `null` if no
 * section knows it.
 */
function placeOfKey(key: string, section: KeyRules): string | null {
  if (!SECTIONS.includes(section)) return null;
  const served = PLACES.find(([, rules]) => rules.served.includes(key));
  const known =
    served ??
    PLACES.find(([, { later, byValue = [] }]) =>
      [...Object.values(later), byValue].flat().includes(key),
    );
  return known?.[0] ?? null;
}
