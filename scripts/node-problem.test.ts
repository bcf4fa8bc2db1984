import { expect, it } from "vitest";
import { nodeProblem } from "./node-problem.mjs";

it.each([
  {
    name: "accepts the Node that comes with the packages",
    version: "24.21.0",
    platform: "linux",
    says: null,
  },
  { name: "accepts a newer Node", version: "26.0.0", platform: "darwin", says: null },
  {
    name: "accepts the oldest Node that every package supports",
    version: "22.12.0",
    platform: "win32",
    says: null,
  },
  {
    name: "refuses the version before",
    version: "22.11.0",
    platform: "win32",
    says: "this is Node 22.11.0",
  },
  {
    name: "recommends the packages' own Node on Linux",
    version: "20.20.2",
    platform: "linux",
    says: "npm ci",
  },
  {
    name: "recommends nodejs.org elsewhere",
    version: "20.20.2",
    platform: "darwin",
    says: "Install Node 24: https://nodejs.org",
  },
])("$name", ({ version, platform, says }) => {
  const problem = nodeProblem(version, platform);
  if (says === null) expect(problem).toBeNull();
  else expect(problem).toContain(says);
});
