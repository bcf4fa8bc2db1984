import path from "node:path";
import { Visitor } from "rolldown/utils";
import {
  CLOSED_MODULES,
  CLOSED_ROOMS,
  CLOSED_TYPES,
  FORMATS,
  LAYER_RULES,
  LAYERS,
  type Layer,
  ROOMS,
  VENDORS,
} from "./import-rules";
import { type Import, importsOf } from "./imports-of";
import { lineAt, type Problem, type Source } from "./source";

/**
 * Reports imports that the layers and rooms forbid, and names that only one folder may contain.
 * Relative specifiers must have no extension.
 */
export function importProblems(sources: Source[]): Problem[] {
  const layered = sources.filter(({ path }) => layerOf(path) !== null);
  return [
    ...sources.flatMap(unlistedFolderProblems),
    ...sources.flatMap(closedRoomProblems),
    ...layered.flatMap((source) => [...forbiddenImports(source), ...forbiddenNames(source)]),
  ];
}

/**
 * Reports a file of `src/` without a layer, or a file of a top folder that is no layer and no room.
 */
function unlistedFolderProblems({ path }: Source): Problem[] {
  const folder = path.includes("/") ? path.slice(0, path.indexOf("/")) : null;
  const isListed =
    folder === null || layerOf(path) !== null || ROOMS.includes(folder) || path.endsWith(".d.ts");
  const message = `${folder === "src" ? path : folder} is in no list of import-rules.ts: add a layer or a room`;
  return isListed ? [] : [{ path, line: 1, message }];
}

function closedRoomProblems(source: Source): Problem[] {
  return importsOf(source).flatMap(({ specifier, offset }) => {
    if (!specifier.startsWith(".")) return [];
    const target = path.posix.join(path.posix.dirname(source.path), specifier);
    const forbidden = CLOSED_ROOMS.find(
      ({ from, room }) => from.test(source.path) && room.test(target),
    );
    const line = lineAt(source.text, offset);
    return forbidden
      ? [
          {
            path: source.path,
            line,
            message: `${target} may not be imported here: ${forbidden.why}`,
          },
        ]
      : [];
  });
}

function forbiddenImports(source: Source): Problem[] {
  return importsOf(source).flatMap((imported) => {
    const message = imported.specifier.startsWith(".")
      ? directionProblem(source.path, imported)
      : moduleProblem(source.path, imported);
    return message === null
      ? []
      : [{ path: source.path, line: lineAt(source.text, imported.offset), message }];
  });
}

function directionProblem(from: string, { specifier, isTypeOnly }: Import): string | null {
  const target = path.posix.join(path.posix.dirname(from), specifier);
  const [layer, targetLayer] = [layerOf(from), layerOf(target)];
  if (layer === null || layer === targetLayer) return null;
  const rule = LAYER_RULES[layer];
  if (targetLayer === null && rule.data?.some((folder) => target.startsWith(folder))) return null;
  if (targetLayer === null)
    return `${layer} may not import ${target}, which is no part of the service`;
  if (rule.uses.includes(targetLayer) || (isTypeOnly && rule.types?.includes(targetLayer)))
    return null;
  const isLowerLayer =
    LAYERS.indexOf(targetLayer) > LAYERS.indexOf(layer) &&
    rule.packages === undefined &&
    layer !== "cli";
  if (isTypeOnly && isLowerLayer) return null;
  return `${layer} may not import ${isTypeOnly ? "types " : ""}from ${targetLayer}; it may use ${rule.uses.join(", ") || "nothing"}`;
}

function moduleProblem(from: string, { specifier }: Import): string | null {
  const layer = layerOf(from);
  const packages = layer === null ? undefined : LAYER_RULES[layer].packages;
  if (packages && !packages.includes(specifier))
    return `${layer} is pure: it may not import ${specifier}`;
  const forbidden = CLOSED_MODULES.find(
    ({ module, only }) => module.test(specifier) && !only.test(from),
  );
  return forbidden ? `${specifier} may not be imported here: ${forbidden.why}` : null;
}

function forbiddenNames(source: Source): Problem[] {
  const problems: Problem[] = [];
  const report = (offset: number, message: string) =>
    problems.push({ path: source.path, line: lineAt(source.text, offset), message });
  const checkType = (name: string, offset: number) => {
    const forbidden = CLOSED_TYPES.find(
      (rule) => rule.name.test(name) && !rule.only.test(source.path),
    );
    if (forbidden) report(offset, `${name} may not be named here: ${forbidden.why}`);
  };
  const checkVendor = (text: string, offset: number) => {
    const vendor =
      restrictsVendors(source.path) && !FORMATS.has(text) ? VENDORS.exec(text)?.[0] : undefined;
    if (vendor && !isFolderOf(source.path, vendor))
      report(offset, `"${vendor}" is known only to its folder and the tables in src/providers/`);
  };
  new Visitor({
    Identifier: (node) => {
      checkType(node.name, node.start);
      checkVendor(node.name, node.start);
    },
    Literal: (node) => {
      if (typeof node.value === "string") checkVendor(node.value, node.start);
    },
    TemplateElement: (node) => checkVendor(node.value.raw, node.start),
  }).visit(source.ast.program);
  return problems;
}

/**
 * Whether a file must not contain vendor names: code of the service, except the tables of backends.
 */
function restrictsVendors(file: string): boolean {
  if (!/^(src|durable-objects|d1|r2-layout)\//.test(file)) return false;
  return file === "src/providers/provider.ts" || !/^src\/providers\/[^/]+$/.test(file);
}

function isFolderOf(file: string, vendor: string): boolean {
  return file.startsWith(`src/providers/${vendor.toLowerCase()}`);
}

function layerOf(file: string): Layer | null {
  return (
    LAYERS.find(
      (layer) => file === layer || file === `${layer}.ts` || file.startsWith(`${layer}/`),
    ) ?? null
  );
}
