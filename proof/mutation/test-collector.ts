import { expect } from "vitest";

/**
 * Replaces `vitest` in bundles that run tests thousands of times in one process. This module
 * exports the same `expect`, but `it` and `describe` only collect tests. Supports only the features
 * that the tests of the subjects use.
 */

export { expect };

export type CollectedTest = { name: string; run: () => unknown };
export const collected: CollectedTest[] = [];

type Registration = (name: string, body: () => unknown) => void;

/** The names of the groups around the test that is being collected. */
const groupNames: string[] = [];

const addTest: Registration = (name, body) =>
  void collected.push({ name: [...groupNames, name].join(" > "), run: body });

const addGroup: Registration = (name, body) => {
  groupNames.push(name);
  body();
  groupNames.pop();
};

/** Registers a test, or a group of tests, for each row. */
const forEach =
  (register: Registration) =>
  <Row>(rows: readonly Row[]) =>
  (name: string, body: (...row: unknown[]) => unknown): void => {
    for (const row of rows)
      register(fillName(name, row), () => body(...(Array.isArray(row) ? row : [row])));
  };

/** Puts the row's values into the placeholders `%s` and `$key` of a test's name. */
const fillName = (name: string, row: unknown): string =>
  name.replace("%s", String(row)).replace(/\$(\w+)/g, (whole, key: string) => {
    const value =
      typeof row === "object" && row !== null
        ? Object.entries(row).find(([one]) => one === key)?.[1]
        : undefined;
    return value === undefined ? whole : String(value);
  });

export const it = Object.assign(addTest, { each: forEach(addTest) });
export const describe = Object.assign(addGroup, { each: forEach(addGroup) });
