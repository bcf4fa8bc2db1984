import { readFileSync } from "node:fs";
import { KEY_NAMES, OPERATOR_VARIABLES } from "../../src/providers/registry";
import { code, codes, page, table } from "./markdown";
import { BINDING_MEANINGS, PROVIDER_MEANINGS, SETTING_MEANINGS } from "./settings-table";

const INTRO = `Settings of the operator. In a deployment they are \`[vars]\` in \`wrangler.toml\`, and secrets are set with
\`npx wrangler secret put NAME\`. On your machine a line in \`.dev.vars\` overrides them; \`npm run setup\` creates that file.`;

export function settingsPage(): string {
  const defaults = readFileSync("wrangler.toml", "utf8");
  const defaultOf = (name: string): string => {
    const [, value] = new RegExp(`^${name} = "(.*)"$`, "m").exec(defaults) ?? [];
    return value === undefined ? "not set" : value === "" ? "empty" : code(value);
  };
  const rows = Object.entries(SETTING_MEANINGS).map(([name, meaning]) => [
    code(name),
    defaultOf(name),
    meaning,
  ]);
  return page(
    "# Settings",
    INTRO,
    table(["Setting", "Default", "Meaning"], rows),
    "## Bindings",
    table(
      ["Binding", "Meaning"],
      Object.entries(BINDING_MEANINGS).map(([name, meaning]) => [code(name), meaning]),
    ),
    "## Endpoints of backend types",
    table(
      ["Variable", "Meaning"],
      OPERATOR_VARIABLES.map((name) => [code(name), PROVIDER_MEANINGS[name] ?? ""]),
    ),
    "## Keys of providers",
    `Each is a secret, and each is sent to its provider only ([where](providers.md#where-a-stored-key-may-go)): ${codes([...KEY_NAMES])}.`,
  );
}
