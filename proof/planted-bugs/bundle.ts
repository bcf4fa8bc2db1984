import { readFile } from "node:fs/promises";
import path from "node:path";
import { context } from "esbuild";
import type { PlantedBug } from "./planted-bugs";

/** Bundles one entry repeatedly, each time with another bug. Unchanged files are read once. */
type Bundler = {
  /**
   * Returns the entry as one file. Throws unless the bug's text occurs exactly once: otherwise the
   * table is out of date.
   */
  bundle(bug: PlantedBug | null): Promise<string>;
  close(): Promise<void>;
};

export async function bundlerOf(entry: string): Promise<Bundler> {
  let target: string | null = null;
  let source = "";
  const building = await context({
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
          onLoad({ filter: /\.ts$/ }, ({ path: file }) =>
            file === target ? { contents: source, loader: "ts" } : undefined,
          );
        },
      },
    ],
  });
  return {
    bundle: async (bug) => {
      target = bug && path.resolve(bug.file);
      source = bug && target ? planted(await readFile(target, "utf8"), bug) : "";
      const { outputFiles } = await building.rebuild();
      return outputFiles?.[0]?.text ?? "";
    },
    close: () => building.dispose(),
  };
}

/** The source with the bug. Line breaks in the source do not matter. */
export function planted(source: string, { name, file, find, replace }: PlantedBug): string {
  const places = [...source.matchAll(inAnyLines(find))];
  const [place] = places;
  if (!place || places.length > 1)
    throw new Error(`"${name}" replaces a text that is in ${file} ${places.length} times.`);
  return source.slice(0, place.index) + replace + source.slice(place.index + place[0].length);
}

/**
 * The same tokens with any white space between them, and an optional comma before a closing
 * bracket.
 */
function inAnyLines(text: string): RegExp {
  const tokens = text.match(/\w+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[^\w]/g, "\\$&"));
  return new RegExp(
    escaped.map((token) => (/^\\[)\]}]$/.test(token) ? `,?\\s*${token}` : token)).join("\\s*"),
    "g",
  );
}
