import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConfigSource, withNamedConfig, withNames } from "./named-config";
import { targetOf } from "./target";

const TOML = `name = "massgen-edge"
[[d1_databases]]
binding = "DB"
[[r2_buckets]]
binding = "BUCKET"
`;
const target = targetOf({
  name: "massgen-edge",
  d1_databases: [{ binding: "DB" }],
  r2_buckets: [{ binding: "BUCKET" }],
});
const TOML_WITH_NAMES = withNames(TOML, target, null);

let dir: string;
let source: ConfigSource;

beforeEach(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "massgen-first-deploy-"));
  source = { config: path.join(dir, "wrangler.toml"), target, env: null };
  await writeFile(source.config, TOML);
});
afterEach(() => rm(dir, { recursive: true }));

describe("the file of the configuration with names", () => {
  it("is beside the configuration, and is removed at the end", async () => {
    const contents = await withNamedConfig(source, async (write) => {
      const file = await write();
      expect(path.dirname(file)).toBe(dir);
      return readFile(file, "utf8");
    });
    expect(contents).toBe(TOML_WITH_NAMES);
    expect(await readdir(dir)).toEqual(["wrangler.toml"]);
  });

  it("is removed after a failure", async () => {
    const failing = withNamedConfig(source, async (write) => {
      await write();
      throw new Error("the upload failed");
    });
    await expect(failing).rejects.toThrow("the upload failed");
    expect(await readdir(dir)).toEqual(["wrangler.toml"]);
  });

  it.each([
    { name: "of another Worker", leftover: 'name = "another"\n'.repeat(1_000) },
    { name: "incomplete", leftover: TOML_WITH_NAMES.slice(0, TOML_WITH_NAMES.length / 2) },
  ])("replaces the file of a killed run: $name", async ({ leftover }) => {
    await writeFile(await namedPath(), leftover);
    const contents = await withNamedConfig(source, async (write) =>
      readFile(await write(), "utf8"),
    );
    expect(contents).toBe(TOML_WITH_NAMES);
    expect(await readdir(dir)).toEqual(["wrangler.toml"]);
  });

  it("of a killed run is removed by a run that needs no such file", async () => {
    await writeFile(await namedPath(), "leftover");
    expect(await withNamedConfig(source, async () => "deployed")).toBe("deployed");
    expect(await readdir(dir)).toEqual(["wrangler.toml"]);
  });
});

/** The path at which a run writes the file. */
const namedPath = (): Promise<string> => withNamedConfig(source, (write) => write());
