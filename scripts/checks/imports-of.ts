import { Visitor } from "rolldown/utils";
import type { Source } from "./source";

/** An import: the specifier as in the source, and the offset of the import in the file. */
export type Import = { specifier: string; isTypeOnly: boolean; offset: number };

/**
 * All imports of a file: import statements, re-exports, dynamic imports and inline type imports.
 */
export function importsOf({ ast, text }: Source): Import[] {
  const { staticImports, staticExports, dynamicImports } = ast.module;
  return [
    ...staticImports.map(({ moduleRequest, entries, start }) => ({
      specifier: moduleRequest.value,
      isTypeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
      offset: start,
    })),
    ...staticExports.flatMap(({ entries, start }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest
          ? [{ specifier: moduleRequest.value, isTypeOnly: isType, offset: start }]
          : [],
      ),
    ),
    ...dynamicImports.map(({ moduleRequest, start }) => ({
      specifier: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
      isTypeOnly: false,
      offset: start,
    })),
    ...typeImportsOf(ast),
  ];
}

/** The inline type imports of a file, such as `import("./x").T`. */
function typeImportsOf(ast: Source["ast"]): Import[] {
  const found: Import[] = [];
  new Visitor({
    TSImportType: (node) => {
      found.push({ specifier: node.source.value, isTypeOnly: true, offset: node.start });
    },
  }).visit(ast.program);
  return found;
}
