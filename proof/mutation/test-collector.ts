import { expect } from "vitest";

/**
 * Replaces `vitest` in bundles that run tests thousands of times in one process. It has the same
 * `expect`, and collects tests instead of running them. Supports only the features that the tests
 * of the rules use.
 */

export { expect };

export type CollectedTest = { name: string; run: () => unknown };
export const collected: CollectedTest[] = [];

type Registration = (name: string, body: () => unknown) => void;

const within: string[] = [];

const addTest: Registration = (name, body) =>
  void collected.push({ name: [...within, name].join(" > "), run: body });

const addGroup: Registration = (name, body) => {
  within.push(name);
  body();
  within.pop();
};

/** One test, or group of tests, per row. */
const forEach =
  (register: Registration) =>
  <Row>(rows: readonly Row[]) =>
  (name: string, body: (...row: unknown[]) => unknown): void => {
    for (const row of rows)
      register(named(name, row), () => body(...(Array.isArray(row) ? row : [row])));
  };

const named = (name: string, row: unknown): string =>
  name.replace("%s", String(row)).replace(/\$(\w+)/g, (whole, key: string) => {
    const value =
      typeof row === "object" && row !== null
        ? Object.entries(row).find(([one]) => one === key)?.[1]
        : undefined;
    return value === undefined ? whole : String(value);
  });

export const it = Object.assign(addTest, { each: forEach(addTest) });
export const describe = Object.assign(addGroup, { each: forEach(addGroup) });
