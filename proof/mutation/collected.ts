import { expect } from "vitest";

/**
 * Stands in for `vitest` where tests are bundled to be run thousands of times in one process: the same `expect`, and tests that are
 * collected instead of run. Knows as much of the rest as the tests of the rules use.
 */

export { expect };

export type Collected = { name: string; run: () => unknown };
export const collected: Collected[] = [];

type Taking = (name: string, body: () => unknown) => void;

const within: string[] = [];

const takeTest: Taking = (name, body) =>
  void collected.push({ name: [...within, name].join(" > "), run: body });

const takeGroup: Taking = (name, body) => {
  within.push(name);
  body();
  within.pop();
};

/** One test, or group of tests, for each row. */
const forEach =
  (take: Taking) =>
  <Row>(rows: readonly Row[]) =>
  (name: string, body: (...row: unknown[]) => unknown): void => {
    for (const row of rows)
      take(named(name, row), () => body(...(Array.isArray(row) ? row : [row])));
  };

const named = (name: string, row: unknown): string =>
  name.replace("%s", String(row)).replace(/\$(\w+)/g, (whole, key: string) => {
    const value =
      typeof row === "object" && row !== null
        ? Object.entries(row).find(([one]) => one === key)?.[1]
        : undefined;
    return value === undefined ? whole : String(value);
  });

export const it = Object.assign(takeTest, { each: forEach(takeTest) });
export const describe = Object.assign(takeGroup, { each: forEach(takeGroup) });
