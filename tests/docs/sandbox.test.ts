import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** The second Worker, which no test can run: that its files and the service's fit together. */
const read = (path: string): string => readFileSync(path, "utf8");
const textAt = (toml: string, key: string): string | undefined =>
  new RegExp(`^(?:# )?${key} = "([^"]+)"`, "m").exec(toml)?.[1];

type Manifest = {
  version?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
};

it("the service binds, commented out, the class and the script that sandbox/ deploys", () => {
  const own = read("sandbox/wrangler.toml");
  const [bound = ""] =
    /^# \[\[durable_objects\.bindings\]\]\n# name = "SANDBOX"\n(?:# .*\n)+/m.exec(
      read("wrangler.toml"),
    ) ?? [];
  expect(textAt(bound, "script_name")).toBe(textAt(own, "name"));
  expect(textAt(bound, "class_name")).toBe(textAt(own, "class_name"));
  expect(read("sandbox/src/index.ts")).toContain(
    `export class ${textAt(bound, "class_name")} extends`,
  );
});

it("the image of its containers has the version of its package", () => {
  const { dependencies }: Manifest = JSON.parse(read("sandbox/package.json"));
  expect(/sandbox:(\S+)/.exec(read("sandbox/Dockerfile"))?.[1]).toBe(
    dependencies?.["@cloudflare/sandbox"],
  );
});

it("versions of the project and of its tools are in the package.json of the root alone", () => {
  const root: Manifest = JSON.parse(read("package.json"));
  const shared = Object.keys({ ...root.dependencies, ...root.devDependencies });
  for (const folder of ["sandbox", "client", "proof/mutation"]) {
    const own: Manifest = JSON.parse(read(`${folder}/package.json`));
    const tools = Object.keys({ ...own.dependencies, ...own.devDependencies });
    expect(tools.filter((name) => shared.includes(name))).toEqual([]);
    expect(own.version).toBeUndefined();
  }
});
