import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ConfigContext, parseTeam } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";
import { blocksOf, DOCUMENTS, isRecord } from "./documents";

/**
 * The operator for whom the documents are written. It has every key and every required endpoint,
 * and allows loopback addresses, as `npm run setup` does.
 */
const OPERATOR_CONTEXT: ConfigContext = {
  storedKeys: KEY_NAMES,
  allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
  toolSecrets: [
    {
      name: "WEATHER_KEY",
      bindings: [{ origin: "https://weather.example.com" }],
    },
  ],
  variables: {
    AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com",
    CLOUDFLARE_ACCOUNT_ID: "abc123",
  },
};

const pages = DOCUMENTS.filter((document) => !isRecord(document));

const teams = pages.flatMap(({ file, text }) =>
  blocksOf(text, "yaml").map((yaml) => ({
    place: `${file}:${text.slice(0, text.indexOf(yaml)).split("\n").length}`,
    yaml,
  })),
);

describe("a team printed in the documents", () => {
  it("is found in the README and in the guide", () => {
    for (const file of ["README.md", "docs/guides/team.md"])
      expect(
        teams.some(({ place }) => place.startsWith(file)),
        file,
      ).toBe(true);
  });

  it.each(teams)("can run with all keys, and every setting has an effect: $place", ({ yaml }) => {
    const result = parseTeam(yaml, OPERATOR_CONTEXT);
    expect(result.ok ? [] : result.errors).toEqual([]);
    expect(result.warnings.filter(({ code }) => code !== "price_unknown")).toEqual([]);
  });
});

it.each(
  pages.flatMap(({ file, text }) => blocksOf(text, "json").map((block) => ({ file, block }))),
)("JSON printed in $file is valid", ({ block }) => {
  expect(() => JSON.parse(block)).not.toThrow();
});

/** Names in capitals that documents may contain, although the files below do not. */
const EXTERNAL_NAMES = /^NO_COLOR$/;
const FILES_WITH_NAMES = [".dev.vars.example", "wrangler.toml", "src/api/access.ts", "src/env.ts"];

const CLI_FILES = readdirSync("cli", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => `cli/${file}`);

describe.each(pages.filter(({ file }) => /^(README|docs\/(start|guides))/.test(file)))(
  "$file",
  ({ text }) => {
    it("names only keys and variables that exist", () => {
      const known = [...FILES_WITH_NAMES, ...CLI_FILES]
        .map((file) => readFileSync(file, "utf8"))
        .join("\n");
      const named = [...text.matchAll(/\b([A-Z]+(?:_[A-Z]+)+)\b/g)].map(([, name = ""]) => name);
      const unknown = named.filter(
        (name) =>
          !EXTERNAL_NAMES.test(name) &&
          !text.includes(`secrets set ${name} `) &&
          !new RegExp(`\\b${name}\\b`).test(known),
      );
      expect(unknown).toEqual([]);
    });
  },
);
