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
 * Imports against the layers, and names that only one folder may contain. Relative specifiers have
 * no extension.
 */
export function importProblems(sources: Source[]): Problem[] {
  const layered = sources.filter(({ path }) => layerOf(path) !== null);
  return [
    ...sources.flatMap(unlistedPlace),
    ...sources.flatMap(closedRooms),
    ...layered.flatMap((source) => [...forbiddenImports(source), ...forbiddenNames(source)]),
  ];
}

/** A file of `src/` without a layer, or a file of a top folder that is neither layer nor room. */
function unlistedPlace({ path }: Source): Problem[] {
  const folder = path.includes("/") ? path.slice(0, path.indexOf("/")) : null;
  const isListed =
    folder === null || layerOf(path) !== null || ROOMS.includes(folder) || path.endsWith(".d.ts");
  const message = `${folder === "src" ? path : folder} is in no list of import-rules.ts: add a layer or a room`;
  return isListed ? [] : [{ path, line: 1, message }];
}

function closedRooms(source: Source): Problem[] {
  return importsOf(source).flatMap(({ specifier, offset }) => {
    if (!specifier.startsWith(".")) return [];
    const target = path.posix.join(path.posix.dirname(source.path), specifier);
    const closed = CLOSED_ROOMS.find(
      ({ from, room }) => from.test(source.path) && room.test(target),
    );
    const line = lineAt(source.text, offset);
    return closed
      ? [{ path: source.path, line, message: `${target} may not be imported here: ${closed.why}` }]
      : [];
  });
}

function forbiddenImports(source: Source): Problem[] {
  return importsOf(source).flatMap((found) => {
    const message = found.specifier.startsWith(".")
      ? wrongDirection(source.path, found)
      : wrongModule(source.path, found);
    return message === null
      ? []
      : [{ path: source.path, line: lineAt(source.text, found.offset), message }];
  });
}

function wrongDirection(from: string, { specifier, typeOnly }: Import): string | null {
  const target = path.posix.join(path.posix.dirname(from), specifier);
  const [layer, wanted] = [layerOf(from), layerOf(target)];
  if (layer === null || layer === wanted) return null;
  const rule = LAYER_RULES[layer];
  if (wanted === null && rule.data?.some((folder) => target.startsWith(folder))) return null;
  if (wanted === null) return `${layer} may not import ${target}, which is no part of the service`;
  if (rule.uses.includes(wanted) || (typeOnly && rule.types?.includes(wanted))) return null;
  const below =
    LAYERS.indexOf(wanted) > LAYERS.indexOf(layer) &&
    rule.packages === undefined &&
    layer !== "cli";
  if (typeOnly && below) return null;
  return `${layer} may not import ${typeOnly ? "types " : ""}from ${wanted}; it may use ${rule.uses.join(", ") || "nothing"}`;
}

function wrongModule(from: string, { specifier }: Import): string | null {
  const layer = layerOf(from);
  const packages = layer === null ? undefined : LAYER_RULES[layer].packages;
  if (packages && !packages.includes(specifier))
    return `${layer} is pure: it may not import ${specifier}`;
  const closed = CLOSED_MODULES.find(
    ({ module, only }) => module.test(specifier) && !only.test(from),
  );
  return closed ? `${specifier} may not be imported here: ${closed.why}` : null;
}

function forbiddenNames(source: Source): Problem[] {
  const problems: Problem[] = [];
  const report = (offset: number, message: string) =>
    problems.push({ path: source.path, line: lineAt(source.text, offset), message });
  const checkType = (name: string, offset: number) => {
    const closed = CLOSED_TYPES.find(
      (rule) => rule.name.test(name) && !rule.only.test(source.path),
    );
    if (closed) report(offset, `${name} may not be named here: ${closed.why}`);
  };
  const checkVendor = (text: string, offset: number) => {
    const vendor =
      vendorsConcern(source.path) && !FORMATS.has(text) ? VENDORS.exec(text)?.[0] : undefined;
    if (vendor && !ownFolder(source.path, vendor))
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

/** Vendor names are restricted in the service's own code; the backend tables may contain them. */
function vendorsConcern(file: string): boolean {
  if (!/^(src|durable-objects|d1|r2-layout)\//.test(file)) return false;
  return file === "src/providers/provider.ts" || !/^src\/providers\/[^/]+$/.test(file);
}

function ownFolder(file: string, vendor: string): boolean {
  return file.startsWith(`src/providers/${vendor.toLowerCase()}`);
}

function layerOf(file: string): Layer | null {
  return (
    LAYERS.find(
      (layer) => file === layer || file === `${layer}.ts` || file.startsWith(`${layer}/`),
    ) ?? null
  );
}
