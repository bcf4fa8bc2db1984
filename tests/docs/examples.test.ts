import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type ConfigContext, parseTeam } from "../../src/config/parse-team";
import { KEY_NAMES } from "../../src/providers/hosts";

/** An operator as the documents describe them: every key, endpoints where they are needed, loopback allowed as by `npm run setup`. */
const OPERATOR: ConfigContext = {
  storedKeys: KEY_NAMES,
  allowedOrigins: ["http://127.0.0.1:*", "http://localhost:*"],
  variables: {
    AZURE_OPENAI_ENDPOINT: "https://ours.openai.azure.com",
    CLOUDFLARE_ACCOUNT_ID: "abc123",
  },
};

const DOCUMENTS = ["README.md", "docs/providers.md"];
const texts = DOCUMENTS.map((document) => ({ document, text: readFileSync(document, "utf8") }));

const matchesOf = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].flatMap(([, found]) => found ?? []);

const teams = texts.flatMap(({ document, text }) =>
  [...text.matchAll(/^```yaml\n(.*?)^```/gms)].map((match) => ({
    at: `${document}:${text.slice(0, match.index).split("\n").length}`,
    yaml: match[1] ?? "",
  })),
);

describe("a team printed in the documents", () => {
  it("is found in both of them", () => {
    for (const document of DOCUMENTS)
      expect(
        teams.some(({ at }) => at.startsWith(document)),
        document,
      ).toBe(true);
  });

  it.each(teams)("runs with all keys, and nothing in it is without effect: $at", ({ yaml }) => {
    const result = parseTeam(yaml, OPERATOR);
    expect(result.ok ? [] : result.errors).toEqual([]);
    expect(result.warnings.filter(({ code }) => code !== "price_unknown")).toEqual([]);
  });
});

describe.each(texts)("$document", ({ document, text }) => {
  const scripts = Object.keys(
    z
      .object({ scripts: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync("package.json", "utf8"))).scripts,
  );

  it("names only commands there are", () => {
    const named = matchesOf(text, /\bnpm run (?:-s )?([a-z][a-z:-]*)/g);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !scripts.includes(name))).toEqual([]);
  });

  it("names only keys and variables there are", () => {
    const places = [
      ".dev.vars.example",
      "wrangler.toml",
      "cli/credentials/connection.ts",
      "src/api/access.ts",
    ];
    const known = places.map((place) => readFileSync(place, "utf8")).join("\n");
    const named = matchesOf(text, /\b([A-Z]+(?:_[A-Z]+)+)\b/g);
    expect(named).not.toEqual([]);
    expect(named.filter((name) => !new RegExp(`\\b${name}\\b`).test(known))).toEqual([]);
  });

  it("names only files and folders there are", () => {
    const links = matchesOf(text, /\]\((?!https?:)([^)#]+)/g).map((link) =>
      path.join(path.dirname(document), link),
    );
    const paths = matchesOf(
      text,
      /(?<![\w/.-])((?:src|configs|docs|scripts|cli|tests)\/[\w./-]*[\w/])/g,
    );
    expect([...links, ...paths].filter((name) => !existsSync(name))).toEqual([]);
  });
});
