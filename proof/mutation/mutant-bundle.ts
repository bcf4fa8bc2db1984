import { readFile } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import type { InstrumentedCode } from "./mutants";

const HERE = "proof/mutation";

/** Bundles the tests, the code that runs them, and the instrumented sources into one file. */
export async function bundle(
  tests: readonly string[],
  { sources }: InstrumentedCode,
): Promise<string> {
  const entry = [...tests, `${HERE}/mutant-trial.ts`]
    .map((file) => `import ${JSON.stringify(path.resolve(file))};`)
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: ".", loader: "ts" },
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node24",
    write: false,
    logLevel: "error",
    plugins: [withInstrumentedCode(sources)],
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * Replaces the instrumented files, and replaces `vitest` by the collector, which stores the tests
 * and does not run them.
 */
const withInstrumentedCode = (sources: ReadonlyMap<string, string>): Plugin => ({
  name: "mutants",
  setup: ({ onLoad, onResolve }) => {
    const collector = path.resolve(HERE, "test-collector.ts");
    onResolve({ filter: /^vitest$/ }, ({ importer }) =>
      importer === collector ? undefined : { path: collector },
    );
    onLoad({ filter: /\.ts$/ }, async ({ path: file }) => {
      const source = sources.get(file);
      if (source !== undefined) return { contents: source, loader: "ts" };
      if (!file.endsWith(".test.ts")) return;
      // In the bundle, `import.meta.dirname` would be the bundle's folder. A test that reads files
      // next to it needs its own folder.
      const dirname = JSON.stringify(path.dirname(file));
      return {
        contents: (await readFile(file, "utf8")).replaceAll("import.meta.dirname", dirname),
        loader: "ts",
      };
    });
  },
});
