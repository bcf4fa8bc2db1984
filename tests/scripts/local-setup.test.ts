import { expect, it } from "vitest";
import { nodeProblem } from "../../scripts/local-setup";

it.each([
  { name: "takes the Node that comes with the packages", version: "24.21.0", platform: "linux", says: null },
  { name: "takes a newer one", version: "26.0.0", platform: "darwin", says: null },
  { name: "sends Linux to the packages' own Node", version: "20.20.2", platform: "linux", says: "npm ci" },
  { name: "sends others to nodejs.org", version: "22.12.0", platform: "darwin", says: "https://nodejs.org" },
])("$name", ({ version, platform, says }) => {
  const problem = nodeProblem(version, platform);
  if (says === null) expect(problem).toBeNull();
  else expect(problem).toContain(says);
});
