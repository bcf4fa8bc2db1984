import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { copiedTeam } from "../../../cli/commands/config-init";

const TEAMS = readdirSync("configs/teams").map(
  (file) => [file, readFileSync(`configs/teams/${file}`, "utf8")] as const,
);

describe("the copy of an included team", () => {
  it.each(TEAMS)("%s contains no path of the repository, and is the same team", (_, yaml) => {
    const copy = copiedTeam(yaml);
    expect(copy).toMatch(/^# [A-Z]/);
    expect(copy).not.toMatch(/configs\/|yaml-language-server|npm run ask/);
    expect(parse(copy)).toEqual(parse(yaml));
  });

  it("contains every other comment", () => {
    const yaml =
      "# Two of a kind.\n#\n#   Ask it with npm run ask.\n#\n# Needs no key.\nagents: [] # none yet\n";
    expect(copiedTeam(yaml)).toBe(yaml);
  });

  it("has the line ends of the original", () => {
    const yaml =
      '# Two of a kind.\r\n#\r\n#   npm run ask -- --config configs/teams/pair.yaml "Why?"\r\n#\r\n# Needs no key.\r\n';
    expect(copiedTeam(yaml)).toBe("# Two of a kind.\r\n#\r\n# Needs no key.\r\n");
  });
});
