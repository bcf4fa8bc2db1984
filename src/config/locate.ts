import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type LineCounter,
  type Node,
  visit,
} from "yaml";
import type { Locate } from "./problems";

/**
 * Returns a function that finds positions in a parsed document. A path that passes an alias leads
 * to the node with the anchor.
 */
export function locateIn(doc: Document, lines: LineCounter): Locate {
  return (path, target) => {
    let node: unknown = doc.contents;
    let offset = rangeStart(node) ?? 0;
    for (const [index, part] of path.entries()) {
      const step = stepInto(withoutAlias(node, doc), part);
      if (!step) break;
      const keyOnly = target === "key" && index === path.length - 1;
      offset = (keyOnly ? null : rangeStart(step.value)) ?? rangeStart(step.key) ?? offset;
      node = step.value;
    }
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

function withoutAlias(node: unknown, doc: Document): unknown {
  return isAlias(node) ? node.resolve(doc) : node;
}

function stepInto(node: unknown, part: string | number): { key: unknown; value: unknown } | null {
  if (isSeq(node) && typeof part === "number")
    return { key: node.items[part], value: node.items[part] };
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair ? { key: pair.key, value: pair.value } : null;
}

/** The offset of a node. `null` for an empty value: its range is not a position of written text. */
function rangeStart(node: unknown): number | null {
  if (!isNode(node) || isEmpty(node)) return null;
  return node.range?.[0] ?? null;
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.value === null && node.source === "";
}

/**
 * The position of the last alias in a document. Errors about too many aliases point to it.
 */
export function lastAlias(doc: Document, lines: LineCounter): { line: number; column: number } {
  let offset = 0;
  visit(doc, {
    Alias: (_, alias) => {
      offset = alias.range?.[0] ?? offset;
    },
  });
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
