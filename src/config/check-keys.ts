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
import { shortQuote } from "./problems";
import { needsOfValue } from "./value-needs";
import { ALL_PARAMS } from "../providers/format-params";
import { BACKEND_KEYS } from "./backend-keys";

/**
 * Checks every key of a section. A key is used, ignored with a warning, refused as unsupported, or
 * unknown. `params` are further valid keys, the parameters of wire formats; `params.ts` checks
 * them.
 */
export function checkKeys(section: Section, rules: KeyRules, params: readonly string[] = []): void {
  for (const [key, value] of section.values) {
    if (section.findings.errors.length >= MAX_PROBLEMS) return; // further problems are not reported
    if (!rules.served.includes(key) && !params.includes(key))
      checkKey(section, rules, { key, value, params });
  }
}

type KeyEntry = { key: string; value: unknown; params: readonly string[] };

function checkKey(section: Section, rules: KeyRules, { key, value, params }: KeyEntry): void {
  const { path, findings } = section;
  const at = [...path, key];
  const modernForm = ownOf(rules.firstVersionKeys, key);
  if (modernForm)
    return findings.error(
      "old_keyword",
      at,
      `\`${key}\` is from MassGen's first version: ${modernForm}.`,
      "key",
    );
  const correctPlace = ownOf(rules.misplaced, key);
  if (correctPlace)
    return findings.error(
      "unknown_key",
      at,
      `\`${key}\` does not belong here: ${correctPlace}.`,
      "key",
    );
  if (rules.refusedByValue?.includes(key)) return refuseByValue(section, key, value);

  const need = needOf(rules, key);
  if (need) return refuseKey(section, rules, { key, value, need });
  const ignored = Object.entries(rules.ignored).find(([pattern]) => matches(pattern, key));
  if (ignored)
    return findings.warn(
      "no_effect",
      at,
      `\`${shortQuote(key)}\` is ignored: ${ignored[1]}.`,
      "key",
    );
  const detail = unknownDetail(rules, { key, value, params });
  if (detail !== null) findings.error("unknown_key", at, detail, "key");
}

const ownOf = (
  table: Readonly<Record<string, string>> | undefined,
  key: string,
): string | undefined => (table && Object.hasOwn(table, key) ? table[key] : undefined);

function refuseKey(
  section: Section,
  { requires }: KeyRules,
  { key, value, need }: { key: string; value: unknown; need: NeedId },
): void {
  const at = [...section.path, key];
  const { findings, values } = section;
  if (isOff(value)) return;
  const feature = Object.entries(requires ?? {}).find(([pattern]) => matches(pattern, key))?.[1];
  if (feature !== undefined && !isOn(values, feature)) {
    const setting = feature.includes(": ") ? feature : `${feature}: true`;
    return findings.warn(
      "no_effect",
      at,
      `\`${shortQuote(key)}\` is ignored: it has no effect without \`${setting}\`.`,
      "key",
    );
  }
  if (!refuseOffWord(section, at, value))
    findings.refuse({ need, path: at, subject: `\`${shortQuote(key)}\`` });
}

/**
 * Whether the section enables a feature. `feature` is a key, which must not be switched off, or
 * `key: value`.
 */
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

function needOf({ unsupported }: KeyRules, key: string): NeedId | undefined {
  return NEED_IDS.find((need) => unsupported[need]?.some((pattern) => matches(pattern, key)));
}

function matches(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : pattern === key;
}

/** Whether the value switches a feature off. This is allowed for an unsupported feature too. */
function isOff(value: unknown): boolean {
  if (value === false || value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return value instanceof Map && (value.size === 0 || value.get("enabled") === false);
}

/**
 * The error message for a key in no list. `null` if the list may be incomplete and the key
 * resembles no known key.
 */
function unknownDetail(rules: KeyRules, { key, params }: KeyEntry): string | null {
  // Text copied from web pages often has such spaces. YAML treats them as letters.
  if (key.startsWith("\u00a0"))
    return `There is a non-breaking space before \`${shortQuote(key)}\`: replace it with a plain space.`;
  const place = placeOfKey(key, rules);
  if (place) return `\`${shortQuote(key)}\` is not a key of this section: move it ${place}.`;
  const words = [
    ...rules.served,
    ...params,
    ...(rules.refusedByValue ?? []),
    ...Object.keys(rules.ignored),
    ...Object.values(rules.unsupported).flat(),
  ];
  const meant = nearest(
    key,
    words.filter((word) => !word.endsWith("*")),
  );
  if (rules.isIncomplete && !meant) return null;
  const hint = rules.unknownKeyHint ?? `Known keys: ${[...rules.served].sort().join(", ")}.`;
  return `Unknown key \`${shortQuote(key)}\`. ${meant ? `Did you mean \`${meant}\`?` : hint}`;
}

/** The sections with their keys, for the message "move it …". The likeliest section is first. */
const PLACES: readonly (readonly [place: string, rules: KeyRules])[] = [
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
 * The section to which a key belongs, as the end of "move it …"; `null` if no section has this key.
 */
function placeOfKey(key: string, section: KeyRules): string | null {
  if (!SECTIONS.includes(section)) return null;
  const supportedIn = PLACES.find(([, rules]) => rules.served.includes(key));
  const knownIn =
    supportedIn ??
    PLACES.find(([, { unsupported, refusedByValue = [] }]) =>
      [...Object.values(unsupported), refusedByValue].flat().includes(key),
    );
  return knownIn?.[0] ?? null;
}
