import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseTeam } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";

/** MassGen's own example files, where they lie beside the repository. An operator who has every key and allows nothing private. */
const EXAMPLES = path.resolve("../shared/massgen-configs");
const CONTEXT = {
  storedKeys: KEY_NAMES,
  allowedOrigins: [],
  variables: { AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com" },
};
const names = existsSync(EXAMPLES)
  ? readdirSync(EXAMPLES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".yaml"))
  : [];

describe.skipIf(names.length === 0)("MassGen's examples [needs ../shared/massgen-configs]", () => {
  it("are many", () => expect(names.length).toBeGreaterThan(50));

  it.each(names)("%s is a team, or refused by name with its place", (name) => {
    const result = parseTeam(readFileSync(path.join(EXAMPLES, name), "utf8"), CONTEXT);
    if (result.ok) return expect(result.team.agents.length).toBeGreaterThan(0);
    for (const error of result.errors) {
      expect(error.line, JSON.stringify(error)).toBeGreaterThan(0);
      expect(error.detail).not.toBe("");
    }
    return expect(result.errors.length).toBeGreaterThan(0);
  });

  it("hold no key that MassGen knows and this service does not, but the ones it never had", () => {
    const unknown = names.flatMap((name) => {
      const result = parseTeam(readFileSync(path.join(EXAMPLES, name), "utf8"), CONTEXT);
      return result.ok
        ? []
        : result.errors.filter((error) => error.code === "unknown_key").map((error) => `${name} ${error.pointer}`);
    });
    expect(unknown).toEqual([]);
  });
});
