import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app";

const readme = readFileSync("README.md", "utf8");
const served = new Set(
  createApp()
    .routes.filter(({ method, path }) => method !== "ALL" && !path.endsWith("*"))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}")}`),
);
const listed = [...readme.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^`?]*)`/g)].map(
  ([, route]) => route ?? "",
);
/** Addresses in commands, with the variables of the shell as the names that the routes have. */
const called = [...readme.matchAll(/\$SERVICE(\/[\w/$-]+)/g)].map(([, path]) =>
  (path ?? "").replace("$SESSION", "{id}"),
);

describe("the README", () => {
  it("lists every route there is, and no other", () => {
    expect([...new Set(listed)].sort()).toEqual([...served].sort());
  });

  it("calls addresses there are", () => {
    expect(called.length).toBeGreaterThanOrEqual(5);
    const paths = [...served].map((route) => route.split(" ")[1]);
    expect(
      called
        .map((path) => path.replace(/\/turns\/\d+/, "/turns/{turn}"))
        .filter((path) => !paths.includes(path)),
    ).toEqual([]);
  });
});
