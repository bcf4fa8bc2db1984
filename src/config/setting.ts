import { type Kind, read, type Section } from "./fields";

/** A supported key. The check of a config and the JSON Schema use the same settings. */
export type Setting<T, F = T> = {
  key: string;
  kind: Kind<T>;
  /** The value if the key is missing. */
  fallback: F;
  /** For the JSON Schema and the reference. */
  description: string;
  /**
   * The default value that other code applies; then `fallback` is `null`. Only shown in the JSON
   * Schema.
   */
  effectiveDefault?: T;
};

export const setting = <T, const F>(
  key: string,
  kind: Kind<T>,
  fallback: F,
  description: string,
): Setting<T, F> => ({
  key,
  kind,
  fallback,
  description,
});

/**
 * Reads a setting. A missing or empty one has its default, also an invalid one, which is reported.
 */
export const readSetting = <T, F>(
  section: Section,
  { key, kind, fallback }: Setting<T, F>,
): T | F => read(section, key, kind, fallback);

export const keysOf = (table: Readonly<Record<string, { key: string }>>): string[] =>
  Object.values(table).map(({ key }) => key);
