import { isJsonObject } from "../json";

/** Inlines the references and `allOf` parts of a schema, because the provider supports neither. */

export type Node = Readonly<Record<string, unknown>>;
/** `pointer` is a JSON Pointer into the schema of the tool. `detail` is a clause. */
export type SchemaProblem = { pointer: string; keyword: string; detail: string };
/** A resolved node and the references on its path, or why it cannot be resolved. */
type Resolution =
  | { node: Node; seen: readonly string[] }
  | { problem: Omit<SchemaProblem, "pointer"> };

/** Limits of an inlined schema, because nested references can grow exponentially. */
const MAX_NODES = 5_000;
const MAX_DEPTH = 32;
/**
 * Maximum number of parts of one `allOf`. The work grows with its square: each part is compared
 * with all earlier parts.
 */
const MAX_PARTS = 64;

/** State of inlining. `nodes` is the number of nodes written so far. */
export type Work = { root: unknown; nodes: number };
/** The references on the path to a node, and the depth of the node. */
type RefPath = { seen: readonly string[]; depth: number };

/** Annotations. They may differ between a reference and its target. */
const ANNOTATIONS = new Set([
  "title",
  "description",
  "default",
  "examples",
  "example",
  "deprecated",
  "$comment",
]);

/**
 * The node, merged with the target of its reference and all parts of `allOf`. A reference that
 * occurs again on its own path is refused, because inlining it would never end.
 */
export function resolve(node: Node, { seen, depth }: RefPath, work: Work): Resolution {
  work.nodes += 1;
  if (depth > MAX_DEPTH || work.nodes > MAX_NODES) {
    return {
      problem: { keyword: "type", detail: "the schema is too deep or too large when written out" },
    };
  }
  const { $ref, allOf, ...own } = node;
  const parts = allOf === undefined ? [] : allOf;
  if (!Array.isArray(parts)) return { problem: { keyword: "allOf", detail: "it is no list" } };
  if (parts.length > MAX_PARTS)
    return { problem: { keyword: "allOf", detail: `it has more than ${MAX_PARTS} parts` } };
  let resolved: Resolution = { node: own, seen };
  for (const [keyword, part] of [
    ...($ref === undefined ? [] : [["$ref", $ref] as const]),
    ...parts.map((part) => ["allOf", part] as const),
  ]) {
    const target =
      keyword === "$ref"
        ? follow(part, { seen, depth: depth + 1 }, work)
        : resolvePart(part, { seen, depth: depth + 1 }, work);
    if ("problem" in target) return target;
    resolved = merge(resolved, target, keyword);
    if ("problem" in resolved) return resolved;
  }
  return resolved;
}

function resolvePart(part: unknown, path: RefPath, work: Work): Resolution {
  if (part === true) return { node: {}, seen: path.seen };
  return isJsonObject(part)
    ? resolve(part, path, work)
    : { problem: { keyword: "allOf", detail: "a part of it is no schema" } };
}

function follow(ref: unknown, { seen, depth }: RefPath, work: Work): Resolution {
  const refuse = (detail: string): Resolution => ({ problem: { keyword: "$ref", detail } });
  if (typeof ref !== "string" || !/^#(?:\/|$)/.test(ref))
    return refuse("it points out of the schema; write the part into it");
  if (seen.includes(ref))
    return refuse("it leads back to itself; write it out to the depth that is needed");
  const target = ref.split("/").slice(1).map(decodedToken).reduce(childAt, work.root);
  if (target === true) return { node: {}, seen };
  return isJsonObject(target)
    ? resolve(target, { seen: [...seen, ref], depth }, work)
    : refuse("it points to no schema");
}

/** Decodes URI escapes and the two escapes of JSON Pointer. Invalid escapes are kept. */
function decodedToken(token: string): string {
  const pointer = token.replaceAll(/%[0-9a-f]{2}/gi, (code) =>
    String.fromCharCode(Number.parseInt(code.slice(1), 16)),
  );
  return pointer.replaceAll("~1", "/").replaceAll("~0", "~");
}

function childAt(value: unknown, token: string): unknown {
  if (Array.isArray(value)) return value[Number(token)];
  return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

type ResolvedNode = Extract<Resolution, { node: Node }>;

/**
 * Both schemas in one, or a problem if they contradict each other. Annotations of a schema take
 * precedence over the annotations of its reference.
 */
function merge(into: ResolvedNode, from: ResolvedNode, keyword: "$ref" | "allOf"): Resolution {
  const node: Record<string, unknown> = { ...from.node, ...into.node };
  for (const [key, value] of Object.entries(from.node)) {
    const own = into.node[key];
    if (own === undefined || ANNOTATIONS.has(key) || isSame(own, value)) continue;
    const united = uniteValues(key, own, value);
    if (united === undefined)
      return { problem: { keyword, detail: `two of its parts say \`${key}\` differently` } };
    node[key] = united;
  }
  return { node, seen: [...new Set([...into.seen, ...from.seen])] };
}

function uniteValues(key: string, one: unknown, other: unknown): unknown {
  if (key === "required" && Array.isArray(one) && Array.isArray(other))
    return [...new Set([...one, ...other])];
  if (key !== "properties" && key !== "$defs" && key !== "definitions") return undefined;
  if (!isJsonObject(one) || !isJsonObject(other)) return undefined;
  const clash = Object.keys(one).some(
    (name) => Object.hasOwn(other, name) && !isSame(one[name], other[name]),
  );
  return clash ? undefined : { ...other, ...one };
}

const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
