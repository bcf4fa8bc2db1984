import type { Section } from "./fields";
import type { KeyRules } from "./known-keys";
import { nearest } from "./nearest";

/**
 * Judges every key of a section by its rules: obeyed, ignored with a warning, refused by name, or unknown. `more` are keys that
 * are right here too (a wire format's parameters); they are judged by whoever reads them.
 */
export function checkKeys(section: Section, rules: KeyRules, more: readonly string[] = []): void {
  for (const [key, value] of section.values) {
    if (!rules.served.includes(key) && !more.includes(key)) judge(section, rules, { key, value, more });
  }
}

type Found = { key: string; value: unknown; more: readonly string[] };

function judge({ path, findings }: Section, rules: KeyRules, { key, value, more }: Found): void {
  const at = [...path, key];
  const modern = rules.old && Object.hasOwn(rules.old, key) ? rules.old[key] : undefined;
  if (modern) return findings.error("old_keyword", at, `\`${key}\` is from MassGen's first version: ${modern}.`, "key");

  const ignored = Object.entries(rules.ignored).find(([pattern]) => matches(pattern, key));
  if (ignored) return findings.warn("no_effect", at, `\`${key}\` is ignored: ${ignored[1]}.`, "key");

  const later = Object.entries(rules.later).find(([, patterns]) => patterns.some((pattern) => matches(pattern, key)));
  if (!later) return findings.error("unknown_key", at, unknownDetail(rules, { key, value, more }), "key");
  if (isOff(value)) return;
  const detail = `\`${key}\` is not served yet: this service has no ${later[0]} so far. Remove the key to run the team without.`;
  findings.error("not_served", at, detail, "key");
}

function matches(pattern: string, key: string): boolean {
  return pattern.endsWith("*") ? key.startsWith(pattern.slice(0, -1)) : pattern === key;
}

/** Switching a feature off that is not here asks for nothing. */
function isOff(value: unknown): boolean {
  if (value === false || value === null || value === undefined) return true;
  if (Array.isArray(value)) return value.length === 0;
  return value instanceof Map && (value.size === 0 || value.get("enabled") === false);
}

function unknownDetail(rules: KeyRules, { key, more }: Found): string {
  const words = [...rules.served, ...more, ...Object.keys(rules.ignored), ...Object.values(rules.later).flat()];
  const meant = nearest(
    key,
    words.filter((word) => !word.endsWith("*")),
  );
  const known = rules.elsewhere ?? `Known here: ${[...rules.served].sort().join(", ")}.`;
  const help = meant ? `Did you mean \`${meant}\`?` : known;
  const merge = key === "<<" ? " Merge keys are not supported: write the shared keys out." : "";
  return `\`${shown(key)}\` is no known key. ${help}${merge}`;
}

function shown(key: string): string {
  return key.length > 60 ? `${key.slice(0, 60)}…` : key;
}
