import { Visitor } from "rolldown/utils";
import type { Source } from "./source";

/** An import as written, with its offset in the file. */
export type Import = { specifier: string; typeOnly: boolean; offset: number };

/** All imports of a file: statements, re-exports, dynamic imports and types. */
export function importsOf({ ast, text }: Source): Import[] {
  const { staticImports, staticExports, dynamicImports } = ast.module;
  return [
    ...staticImports.map(({ moduleRequest, entries, start }) => ({
      specifier: moduleRequest.value,
      typeOnly: entries.length > 0 && entries.every((entry) => entry.isType),
      offset: start,
    })),
    ...staticExports.flatMap(({ entries, start }) =>
      entries.flatMap(({ moduleRequest, isType }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, typeOnly: isType, offset: start }] : [],
      ),
    ),
    ...dynamicImports.map(({ moduleRequest, start }) => ({
      specifier: text.slice(moduleRequest.start + 1, moduleRequest.end - 1),
      typeOnly: false,
      offset: start,
    })),
    ...typeImportsOf(ast),
  ];
}

/** `import("./x").T` in a type position. */
function typeImportsOf(ast: Source["ast"]): Import[] {
  const found: Import[] = [];
  new Visitor({
    TSImportType: (node) => {
      found.push({ specifier: node.source.value, typeOnly: true, offset: node.start });
    },
  }).visit(ast.program);
  return found;
}
