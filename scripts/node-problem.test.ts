import { expect, it } from "vitest";
import { nodeProblem } from "./node-problem.mjs";

it.each([
  {
    name: "takes the Node that comes with the packages",
    version: "24.21.0",
    platform: "linux",
    says: null,
  },
  { name: "takes a newer one", version: "26.0.0", platform: "darwin", says: null },
  {
    name: "takes the oldest that every package takes",
    version: "22.12.0",
    platform: "win32",
    says: null,
  },
  {
    name: "refuses the one before",
    version: "22.11.0",
    platform: "win32",
    says: "this is Node 22.11.0",
  },
  {
    name: "sends Linux to the packages' own Node",
    version: "20.20.2",
    platform: "linux",
    says: "npm ci",
  },
  {
    name: "sends others to nodejs.org",
    version: "20.20.2",
    platform: "darwin",
    says: "Install Node 24: https://nodejs.org",
  },
])("$name", ({ version, platform, says }) => {
  const problem = nodeProblem(version, platform);
  if (says === null) expect(problem).toBeNull();
  else expect(problem).toContain(says);
});
