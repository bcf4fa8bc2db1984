import path from "node:path";
import { importsOf } from "./imports-of";
import { lineAt, type Problem, type Source } from "./source";

/** Imports of each file: path → offset of the import. */
type Arrows = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Files that import one another in a circle, which cannot be understood separately. Types count
 * like code. Of circles that share a file, the shortest is reported first.
 */
export function circleProblems(sources: readonly Source[]): Problem[] {
  const arrows = arrowsOf(sources);
  const circles = sources.flatMap(({ path, text }) => {
    const files = shortestCircle(arrows, path);
    return files ? [{ path, text, files }] : [];
  });
  const reported = new Set<string>();
  return circles
    .sort((one, other) => one.files.length - other.files.length)
    .flatMap(({ path, text, files }) => {
      if (files.some((file) => reported.has(file))) return [];
      for (const file of files) reported.add(file);
      const offset = arrows.get(path)?.get(files[1] ?? path) ?? 0;
      return [
        {
          path,
          line: lineAt(text, offset),
          message: `imports in a circle: ${[...files, path].join(" → ")}`,
        },
      ];
    });
}

function arrowsOf(sources: readonly Source[]): Arrows {
  const paths = new Set(sources.map(({ path }) => path));
  return new Map(
    sources.map((source) => {
      const found = importsOf(source).flatMap(({ specifier, offset }): [string, number][] => {
        const target = targetOf(source.path, specifier, paths);
        return target === null ? [] : [[target, offset]];
      });
      return [source.path, new Map(found.reverse())]; // keeps the first import of each file
    }),
  );
}

/** The file of a relative specifier; `null` for others. */
function targetOf(from: string, specifier: string, paths: ReadonlySet<string>): string | null {
  if (!specifier.startsWith(".")) return null;
  const bare = path.posix.join(path.posix.dirname(from), specifier);
  return (
    [bare, `${bare}.ts`, `${bare}.tsx`, `${bare}/index.ts`].find((file) => paths.has(file)) ?? null
  );
}

/**
 * The files of the shortest circle from a file back to itself, starting with it; `null` if there is
 * none.
 */
function shortestCircle(arrows: Arrows, start: string): string[] | null {
  const seen = new Set<string>();
  let ways = [[start]];
  while (ways.length > 0) {
    const longer = ways.flatMap((way) =>
      [...(arrows.get(way.at(-1) ?? start)?.keys() ?? [])].map((next) => [...way, next]),
    );
    const back = longer.find((way) => way.at(-1) === start);
    if (back) return back.slice(0, -1);
    ways = longer.filter((way) => isNew(seen, way.at(-1) ?? start));
  }
  return null;
}

/** Whether the file was not seen before; marks it as seen. */
function isNew(seen: Set<string>, file: string): boolean {
  const known = seen.has(file);
  seen.add(file);
  return !known;
}
