import { readFile } from "node:fs/promises";
import path from "node:path";
import { context } from "esbuild";
import type { PlantedBug } from "./planted-bugs";

/** Bundles one entry repeatedly, each time with another bug. Reads unchanged files only once. */
type Bundler = {
  /**
   * Returns the bundle as one file; `null` plants no bug. Throws unless the bug's text occurs
   * exactly once, because the table of bugs is then outdated.
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
      source = bug && target ? plantBug(await readFile(target, "utf8"), bug) : "";
      const { outputFiles } = await building.rebuild();
      return outputFiles?.[0]?.text ?? "";
    },
    close: () => building.dispose(),
  };
}

/** Returns the source with the bug planted. White space in the source does not matter. */
export function plantBug(source: string, { name, file, find, replace }: PlantedBug): string {
  const matches = [...source.matchAll(ignoringWhiteSpace(find))];
  const [match] = matches;
  if (!match || matches.length > 1)
    throw new Error(`"${name}" replaces a text that is in ${file} ${matches.length} times.`);
  return source.slice(0, match.index) + replace + source.slice(match.index + match[0].length);
}

/**
 * A pattern of the same tokens with any white space between them. A comma before a closing bracket
 * is optional, because the formatter adds it when it breaks lines.
 */
function ignoringWhiteSpace(text: string): RegExp {
  const tokens = text.match(/\w+|[^\w\s]/g) ?? [];
  const escaped = tokens.map((token) => token.replace(/[^\w]/g, "\\$&"));
  return new RegExp(
    escaped.map((token) => (/^\\[)\]}]$/.test(token) ? `,?\\s*${token}` : token)).join("\\s*"),
    "g",
  );
}
