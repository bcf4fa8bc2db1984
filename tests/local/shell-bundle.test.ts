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
});
