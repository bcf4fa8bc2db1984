import { expect, it } from "vitest";
import { nodeProblem } from "./node-problem.mjs";

it.each([
  {
    name: "accepts the Node that `npm ci` installs",
    version: "24.21.0",
    platform: "linux",
    message: null,
  },
  { name: "accepts a newer Node", version: "26.0.0", platform: "darwin", message: null },
  {
    name: "accepts the oldest Node that every package supports",
    version: "22.12.0",
    platform: "win32",
    message: null,
  },
  {
    name: "refuses the version before the oldest supported one",
    version: "22.11.0",
    platform: "win32",
    message: "this is Node 22.11.0",
  },
  {
    name: "recommends the Node that `npm ci` installs, on Linux",
    version: "20.20.2",
    platform: "linux",
    message: "npm ci",
  },
  {
    name: "recommends nodejs.org on other systems",
    version: "20.20.2",
    platform: "darwin",
    message: "Install Node 24: https://nodejs.org",
  },
])("$name", ({ version, platform, message }) => {
  const problem = nodeProblem(version, platform);
  if (message === null) expect(problem).toBeNull();
  else expect(problem).toContain(message);
});
