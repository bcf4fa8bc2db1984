import { describe, expect, it } from "vitest";
import { hostPathsIn, withContextNames } from "../../../cli/asking/host-paths";
import { toWithFolder } from "../../../cli/asking/shared-folders";

const TEAM = (contexts: string): string => `orchestrator:\n  context_paths: ${contexts}\n`;

describe("a path in context_paths", () => {
  it.each([
    { name: "is the current folder", contexts: "[.]", paths: [". read"] },
    { name: "is absolute", contexts: '[{path: "/srv/site"}]', paths: ["/srv/site read"] },
    { name: "may be written", contexts: "[{path: ./a, permission: write}]", paths: ["./a write"] },
    {
      name: "may be written by an alias",
      contexts: "[{path: ./a, permission: &access write}, {path: ./b, permission: *access}]",
      paths: ["./a write", "./b write"],
    },
    { name: "is the name of a context", contexts: "[site, {path: other}]", paths: [] },
    { name: "is a reference", contexts: `["\${HOME}/site"]`, paths: [] },
    { name: "is no text", contexts: "[{path: 7}, {path: }]", paths: [] },
    { name: "is named twice", contexts: "[., {path: ., permission: write}]", paths: [". write"] },
    { name: "is in invalid YAML", contexts: "[{path: .", paths: [". read"] },
  ])("that $name is found as $paths", ({ contexts, paths }) => {
    expect(
      hostPathsIn(TEAM(contexts)).map(({ path, permission }) => `${path} ${permission}`),
    ).toEqual(paths);
  });

  it("is replaced by the name of a context, and nothing else changes", () => {
    const yaml = `# the team\nagents:\n  - id: one\n    backend:\n      context_paths: &shared [{path: '../my site', permission: write}] # mine\n  - id: two\n    backend: {context_paths: *shared}\norchestrator:\n  context_paths:\n    - ../my site\n`;
    const [hostPath] = hostPathsIn(yaml);
    if (!hostPath) throw new Error("no path was found");
    expect(withContextNames(yaml, [{ hostPath, name: "123" }])).toBe(
      yaml.replace("'../my site'", '"123"').replace("- ../my site", '- "123"'),
    );
  });
});

describe("an argument of --with", () => {
  it.each([
    { text: "./site", typed: "./site", permission: null },
    { text: "./site:write", typed: "./site", permission: "write" },
    { text: "./site:read", typed: "./site", permission: "read" },
    { text: "C:\\site", typed: "C:\\site", permission: null },
    { text: "C:\\site:write", typed: "C:\\site", permission: "write" },
    { text: ":write", typed: ":write", permission: null },
  ])("$text is the folder $typed with the permission $permission", ({ text, ...expected }) => {
    expect(toWithFolder(text)).toEqual(expected);
  });
});
