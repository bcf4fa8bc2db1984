import path from "node:path";
import { importsOf } from "./imports-of";
import { lineAt, type Problem, type Source } from "./source";

/** For each file, its imports: path of the imported file → offset of the import. */
type ImportGraph = ReadonlyMap<string, ReadonlyMap<string, number>>;

/**
 * Reports import cycles: files that import one another cannot be understood separately. Type
 * imports count too. If cycles share a file, only the shortest of them is reported.
 */
export function importCycleProblems(sources: readonly Source[]): Problem[] {
  const graph = importGraphOf(sources);
  const cycles = sources.flatMap(({ path, text }) => {
    const files = shortestCycle(graph, path);
    return files ? [{ path, text, files }] : [];
  });
  const reported = new Set<string>();
  return cycles
    .sort((one, other) => one.files.length - other.files.length)
    .flatMap(({ path, text, files }) => {
      if (files.some((file) => reported.has(file))) return [];
      for (const file of files) reported.add(file);
      const offset = graph.get(path)?.get(files[1] ?? path) ?? 0;
      return [
        {
          path,
          line: lineAt(text, offset),
          message: `import cycle: ${[...files, path].join(" → ")}`,
        },
      ];
    });
}

function importGraphOf(sources: readonly Source[]): ImportGraph {
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

/** The file that a relative specifier names; `null` for other specifiers. */
function targetOf(from: string, specifier: string, paths: ReadonlySet<string>): string | null {
  if (!specifier.startsWith(".")) return null;
  const basePath = path.posix.join(path.posix.dirname(from), specifier);
  return (
    [basePath, `${basePath}.ts`, `${basePath}.tsx`, `${basePath}/index.ts`].find((file) =>
      paths.has(file),
    ) ?? null
  );
}

/** The files of the shortest cycle that begins at `start`; `null` if there is none. */
function shortestCycle(graph: ImportGraph, start: string): string[] | null {
  const seen = new Set<string>();
  let chains = [[start]];
  while (chains.length > 0) {
    const longer = chains.flatMap((chain) =>
      [...(graph.get(chain.at(-1) ?? start)?.keys() ?? [])].map((next) => [...chain, next]),
    );
    const cycle = longer.find((chain) => chain.at(-1) === start);
    if (cycle) return cycle.slice(0, -1);
    chains = longer.filter((chain) => markSeen(seen, chain.at(-1) ?? start));
  }
  return null;
}

/** Marks a file as seen. Returns whether it was new. */
function markSeen(seen: Set<string>, file: string): boolean {
  const known = seen.has(file);
  seen.add(file);
  return !known;
}
