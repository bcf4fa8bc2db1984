import { type Kind, read, type Section } from "./fields";

/**
 * The supported keys with their type, default and meaning. The JSON Schema is made from the same
 * rows.
 */

export type Setting<T, F = T> = {
  key: string;
  kind: Kind<T>;
  fallback: F;
  about: string;
  /** The effective default if it applies outside of the config; then `fallback` is `null`. */
  usual?: T;
};

export const setting = <T, const F>(
  key: string,
  kind: Kind<T>,
  fallback: F,
  about: string,
): Setting<T, F> => ({
  key,
  kind,
  fallback,
  about,
});

/** The value of a setting. Its default if it is missing, empty, or invalid (which is reported). */
export const readSetting = <T, F>(
  section: Section,
  { key, kind, fallback }: Setting<T, F>,
): T | F => read(section, key, kind, fallback);

export const keysOf = (table: Readonly<Record<string, { key: string }>>): string[] =>
  Object.values(table).map(({ key }) => key);
