import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** No test can run the second Worker. These tests compare its files with the service's. */
const read = (path: string): string => readFileSync(path, "utf8");
const settingOf = (toml: string, key: string): string | undefined =>
  new RegExp(`^(?:# )?${key} = "([^"]+)"`, "m").exec(toml)?.[1];

type Manifest = {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

it("the service's binding, a comment, has the class and script that sandbox/ deploys", () => {
  const own = read("sandbox/wrangler.toml");
  const [binding = ""] =
    /^# \[\[durable_objects\.bindings\]\]\n# name = "SANDBOX"\n(?:# .*\n)+/m.exec(
      read("wrangler.toml"),
    ) ?? [];
  expect(settingOf(binding, "script_name")).toBe(settingOf(own, "name"));
  expect(settingOf(binding, "class_name")).toBe(settingOf(own, "class_name"));
  expect(read("sandbox/src/index.ts")).toContain(
    `export class ${settingOf(binding, "class_name")} extends`,
  );
});

it("the container image has the same version as the package", () => {
  const { dependencies }: Manifest = JSON.parse(read("sandbox/package.json"));
  expect(/sandbox:(\S+)/.exec(read("sandbox/Dockerfile"))?.[1]).toBe(
    dependencies?.["@cloudflare/sandbox"],
  );
});

it("only the root's package.json has the versions of the project and of its tools", () => {
  const root: Manifest = JSON.parse(read("package.json"));
  const shared = Object.keys({ ...root.dependencies, ...root.devDependencies });
  for (const folder of ["sandbox", "client", "proof/mutation", "proof/bench/peers"]) {
    const own: Manifest = JSON.parse(read(`${folder}/package.json`));
    const tools = Object.keys({ ...own.dependencies, ...own.devDependencies });
    expect(tools.filter((name) => shared.includes(name))).toEqual([]);
    expect(own.version).toBeUndefined();
  }
});
