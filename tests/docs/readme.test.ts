import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const readme = readFileSync("README.md", "utf8");
const MAX_WORDS = 900;
const PACKAGE: {
  scripts: Record<string, string>;
  optionalDependencies: Record<string, string>;
  engines: { node: string };
  repository?: string | { url: string };
} = JSON.parse(readFileSync("package.json", "utf8"));

describe("the README", () => {
  it(`has at most ${MAX_WORDS} words`, () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(MAX_WORDS);
  });

  it("has the test command that CI runs, in a block after its marker", () => {
    expect(readme).toMatch(/<!-- test command -->\n\n```sh\nnpm ci && npm test\n```/);
    expect(readFileSync(".ci/run", "utf8")).toContain("<!-- test command -->");
  });

  it("has a Deploy button only for the public repository that package.json names", () => {
    const buttons = [...readme.matchAll(/deploy\.workers\.cloudflare\.com\/?\?url=([^)\s]+)/g)];
    const { repository } = PACKAGE;
    const url = typeof repository === "string" ? repository : repository?.url;
    const page = url?.replace(/^git\+/, "").replace(/\.git$/, "");
    expect(readme.includes("deploy.workers.cloudflare.com")).toBe(buttons.length > 0);
    for (const [, target] of buttons) expect(target).toBe(page);
  });

  it("has six points, each with a measured figure and a link", () => {
    const [, list = ""] = /^## What a terminal.*?\n\n(.*?)^## /ms.exec(readme) ?? [];
    const points = list.split(/^- /m).filter((point) => point.includes("]("));
    expect(points).toHaveLength(6);
    for (const point of points) expect(point).toMatch(/<!-- figure: /);
  });
});

it("packages run no script when they are installed, and package.json has no pre or post script", () => {
  expect(readFileSync(".npmrc", "utf8")).toMatch(/^ignore-scripts=true$/m);
  const { scripts } = PACKAGE;
  // With this setting, npm silently skips these scripts too.
  expect(Object.keys(scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
});

it("every file names the same version of Node", () => {
  const { optionalDependencies, engines } = PACKAGE;
  const versions = new Set(Object.values(optionalDependencies));
  expect([...versions]).toHaveLength(1);
  expect([...versions][0]?.split(".")[0]).toBe(readFileSync(".nvmrc", "utf8").trim());
  const [, oldest = ""] = /^>=([\d.]+)$/.exec(engines.node) ?? [];
  expect(readFileSync("README.md", "utf8")).toContain(`Node ${oldest} or newer on Linux`);
  expect(readFileSync("README.md", "utf8")).toContain("on macOS, Node 22.12 or newer");
  expect(readFileSync(".github/workflows/ci.yml", "utf8")).toContain(`node: ["${oldest}", "24"]`);
});
