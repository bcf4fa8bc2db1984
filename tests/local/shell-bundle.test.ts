import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { hashOfBundle, KNOWN_BUNDLE, meteredBundle } from "../../local/bundle/shell/metered";
import { METERED, ORIGINAL } from "../../local/bundle/shell/write";

const original = readFileSync(ORIGINAL, "utf8");

describe("the metered copy of the shell", () => {
  it("is made from the known bundle; for a new version of just-bash, review the edits", () => {
    expect(hashOfBundle(original)).toBe(KNOWN_BUNDLE);
  });

  it("refuses any other bundle", () => {
    expect(() => meteredBundle(`${original} `)).toThrow(
      "just-bash is not the version whose shell is known",
    );
  });

  it("is the file beside the original, and contains no other copy of re2js", () => {
    const written = readFileSync(METERED, "utf8");
    expect(written.slice(written.indexOf("\n") + 1)).toBe(meteredBundle(original));
    expect(written).not.toContain("RUNE_ANY_NOT_NL");
    expect(original).toContain("RUNE_ANY_NOT_NL");
  });

  it("replaces just-bash in the service's bundle", () => {
    const { alias, build } = wranglerSections();
    expect(alias).toBe(`./${METERED}`);
    expect(build).toBe("node scripts/run.mjs local/bundle/patch-shell.ts");
  });
});

function wranglerSections(): { alias: string | undefined; build: string | undefined } {
  const text = readFileSync("wrangler.toml", "utf8");
  const captured = (expression: RegExp): string | undefined => expression.exec(text)?.[1];
  return {
    alias: captured(/^\[alias\]\n"just-bash\/browser" = "([^"]+)"$/m),
    build: captured(/^\[build\]\ncommand = "([^"]+)"$/m),
  };
}
