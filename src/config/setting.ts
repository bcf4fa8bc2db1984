import { type Kind, read, type Section } from "./fields";

/** The keys that are obeyed: what each takes, what holds without it, what it does. The JSON Schema is made of the same rows. */

export type Setting<T, F = T> = { key: string; kind: Kind<T>; fallback: F; about: string };

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

/** The value of a setting, or its fallback where it is absent, empty, or wrong (which is then an error). */
export const readSetting = <T, F>(
  section: Section,
  { key, kind, fallback }: Setting<T, F>,
): T | F => read(section, key, kind, fallback);

export const keysOf = (table: Readonly<Record<string, { key: string }>>): string[] =>
  Object.values(table).map(({ key }) => key);
