import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Env } from "../../src/env";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../../src/providers/registry";

type Text = {
  [Name in keyof Env]-?: NonNullable<Env[Name]> extends string ? Name : never;
}[keyof Env];

/** All text variables that the service reads. Does not compile if one is missing. */
const SERVICE: Record<Text, "set" | "offered"> = {
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
const named = (pattern: RegExp) => lines.flatMap((line) => pattern.exec(line)?.[1] ?? []).sort();
const serviceNames = (state: "set" | "offered") =>
  Object.entries(SERVICE).flatMap(([name, wanted]) => (wanted === state ? [name] : []));

describe("the example of .dev.vars", () => {
  it("sets only the variables that open the service to this machine", () => {
    expect(named(/^([A-Z_]+)="/)).toEqual(serviceNames("set").sort());
  });

  it("names every other variable of the service, every key of a provider and every variable of the operator once", () => {
    expect(named(/^# ([A-Z_]+)="/)).toEqual(
      [...serviceNames("offered"), ...KEY_NAMES, ...OPERATOR_VARIABLES].sort(),
    );
  });
});

it("wrangler.toml sets every variable of the service except secrets and those only for development", () => {
  const [, vars = ""] = /^\[vars\]\n(.*?)^\[/ms.exec(readFileSync("wrangler.toml", "utf8")) ?? [];
  const set = vars.split("\n").flatMap((line) => /^([A-Z_]+) = /.exec(line)?.[1] ?? []);
  const wanted = Object.keys(SERVICE).filter(
    (name) => !["MASTER_KEY", "SEALING_KEYS", "OPEN_ACCESS"].includes(name),
  );
  expect(set.sort()).toEqual(wanted.sort());
});
