import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Env } from "../../src/env";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../../src/providers/registry";

/** The names of the text variables in `Env`. */
type TextVariable = {
  [Name in keyof Env]-?: NonNullable<Env[Name]> extends string ? Name : never;
}[keyof Env];

/**
 * All text variables that the service reads. `set`: the example sets the variable; `offered`: the
 * example has it in a comment. This object does not compile if a variable is missing.
 */
const SERVICE_VARIABLES: Record<TextVariable, "set" | "offered"> = {
  OPEN_ACCESS: "set",
  ALLOWED_ORIGINS: "set",
  ALLOWED_TOOL_ORIGINS: "offered",
  SERVICE_ORIGINS: "offered",
  MASTER_KEY: "offered",
  SEALING_KEYS: "offered",
  EVAL_TENANT: "offered",
  TENANT_CONCURRENT_TURNS: "offered",
  TENANT_USD_PER_DAY: "offered",
  TENANT_STORED_BYTES: "offered",
  TOOL_SECRETS: "offered",
  REPEATABLE_TOOLS: "offered",
  MCP_SAFE_TOOLS: "offered",
  SANDBOX_NETWORK: "offered",
  SANDBOX_MEMORY_MB: "offered",
  SANDBOX_CPUS: "offered",
  JAVASCRIPT: "offered",
  MAX_READERS: "offered",
  BACKGROUND_REPLIES: "offered",
};

const lines = readFileSync(".dev.vars.example", "utf8").split("\n");
const namesMatching = (pattern: RegExp) =>
  lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).sort();
const serviceNames = (state: "set" | "offered") =>
  Object.entries(SERVICE_VARIABLES).flatMap(([name, itsState]) =>
    itsState === state ? [name] : [],
  );

describe("the file .dev.vars.example", () => {
  it("sets only the variables that allow requests from this machine", () => {
    expect(namesMatching(/^([A-Z_]+)="/)).toEqual(serviceNames("set").sort());
  });

  it("lists every other variable of the service, every provider key and every operator variable once", () => {
    expect(namesMatching(/^# ([A-Z_]+)="/)).toEqual(
      [...serviceNames("offered"), ...KEY_NAMES, ...OPERATOR_VARIABLES].sort(),
    );
  });
});

it("wrangler.toml sets every variable of the service, except secrets and the variable for development", () => {
  const [, vars = ""] = /^\[vars\]\n(.*?)^\[/ms.exec(readFileSync("wrangler.toml", "utf8")) ?? [];
  const actual = vars.split("\n").flatMap((line) => /^([A-Z_]+) = /.exec(line)?.[1] ?? []);
  const expected = Object.keys(SERVICE_VARIABLES).filter(
    (name) => !["MASTER_KEY", "SEALING_KEYS", "OPEN_ACCESS"].includes(name),
  );
  expect(actual.sort()).toEqual(expected.sort());
});
