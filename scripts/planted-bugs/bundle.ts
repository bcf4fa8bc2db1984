import { readFile } from "node:fs/promises";
import path from "node:path";
import { build } from "esbuild";
import type { PlantedBug } from "../../tests/simulation/planted-bugs";

/** The entry as one file, with a bug in it. Throws if its text is not there exactly once: then the table is out of date. */
export async function bundleWith(entry: string, bug: PlantedBug | null): Promise<string> {
  const target = bug && path.resolve(bug.file);
  const source = bug && target ? planted(await readFile(target, "utf8"), bug) : "";
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node24",
    write: false,
    logLevel: "error",
    plugins: [
      {
        name: "planted-bug",
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path: file }) => (file === target ? { contents: source, loader: "ts" } : undefined));
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? "";
}

/** The source with the bug in it. */
export function planted(source: string, { name, file, find, replace }: PlantedBug): string {
  const places = source.split(find).length - 1;
  if (places !== 1) throw new Error(`"${name}" replaces a text that is in ${file} ${places} times.`);
  return source.replace(find, () => replace);
}
