import { expect, it } from "vitest";
import { CONTEXT, errorsOf, teamOf, yamlWith } from "./teams";

/** Runs the parser in workerd, the deployed runtime, because its stack is smaller. */
it("reads a team in workerd", () => {
  expect(teamOf(yamlWith(), CONTEXT).agents.map((agent) => agent.id)).toEqual(["a", "b"]);
});

it.each([
  ["brackets", "[".repeat(200_000)],
  ["dashes", "- ".repeat(100_000)],
  ["mappings", "{a: ".repeat(60_000)],
  ["closed brackets at the limit", `${"[".repeat(32)}${"]".repeat(32)}`],
  [
    "indentation at the limit",
    Array.from({ length: 200 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
  ],
])("refuses deep nesting without a crash: %s", (_, source) => {
  expect(errorsOf(source)).not.toEqual([]);
});

it.each([
  "https://2130706433/",
  "https://[::ffff:7f00:1]/",
  "https://localhost./v1",
  "http://user:x@127.0.0.1:9000",
])("refuses %s also with workerd's URL parser", (url) => {
  expect(errorsOf(yamlWith({ backend: `base_url: ${url}` }))).toContain(
    "6:17 base_url_refused /agents/0/backend/base_url",
  );
});
