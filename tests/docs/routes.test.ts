import { describe, expect, it } from "vitest";
import { createApp } from "../../src/api/app";
import { DOCUMENTS, isRecord } from "./documents";

const served = new Set(
  createApp()
    .routes.filter(({ method, path }) => method !== "ALL" && !path.endsWith("*"))
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)(?:\{[^}]*\})?/g, "{$1}")}`),
);
const paths = [...served].map((route) => route.split(" ")[1] ?? "");
const patternOf = (route: string): RegExp =>
  new RegExp(`^${route.replaceAll(/\{\w+\}/g, "([^/]+|\\{\\w+\\})")}$`);
/** The route of a path whose parameters are numbers, words or shell variables. */
const routeOf = (path: string): string =>
  paths.find((route) => route === path) ?? paths.find((route) => patternOf(route).test(path)) ?? "";

const pages = DOCUMENTS.filter((document) => !isRecord(document));

describe.each(pages)("$file", ({ text }) => {
  it("names only routes that exist", () => {
    const named = [...text.matchAll(/`((?:GET|POST|PUT|DELETE) \/[^`?]*)`/g)].map(
      ([, route = ""]) => route,
    );
    const wrong = named.filter((route) => {
      const [method = "", path = ""] = route.split(" ");
      return !served.has(`${method} ${routeOf(path)}`);
    });
    expect(wrong).toEqual([]);
  });

  it("calls only addresses that exist", () => {
    const called = [
      ...text.matchAll(
        /(?:\$SERVICE|http:\/\/127\.0\.0\.1:8787)(\/(?:api|healthz|docs|openapi)[\w/$.-]*)/g,
      ),
    ].map(([, path = ""]) => path);
    expect(called.filter((path) => routeOf(path) === "")).toEqual([]);
  });
});

it("the reference page has exactly the routes of the service", () => {
  const page = DOCUMENTS.find(({ file }) => file === "docs/reference/http.md")?.text ?? "";
  const listed = [...page.matchAll(/^### `((?:GET|POST|PUT|DELETE) [^`]+)`$/gm)].map(
    ([, route = ""]) => route,
  );
  expect(listed.sort()).toEqual([...served].sort());
});
