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

/** Finds positions in a parsed document. A path through an alias ends at its anchor. */
export function locateIn(doc: Document, lines: LineCounter): Locate {
  return (path, target) => {
    let node: unknown = doc.contents;
    let offset = rangeStart(node) ?? 0;
    for (const [index, part] of path.entries()) {
      const step = stepInto(resolved(node, doc), part);
      if (!step) break;
      const keyOnly = target === "key" && index === path.length - 1;
      offset = (keyOnly ? null : rangeStart(step.value)) ?? rangeStart(step.key) ?? offset;
      node = step.value;
    }
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
}

function resolved(node: unknown, doc: Document): unknown {
  return isAlias(node) ? node.resolve(doc) : node;
}

function stepInto(node: unknown, part: string | number): { key: unknown; value: unknown } | null {
  if (isSeq(node) && typeof part === "number")
    return { key: node.items[part], value: node.items[part] };
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
  return pair ? { key: pair.key, value: pair.value } : null;
}

/** Start of a node; `null` for an empty value, whose range is only a possible position. */
function rangeStart(node: unknown): number | null {
  if (!isNode(node) || isEmpty(node)) return null;
  return node.range?.[0] ?? null;
}

function isEmpty(node: Node): boolean {
  return isScalar(node) && node.value === null && node.source === "";
}

/**
 * The last alias of a document. With too many aliases or a missing anchor, the rest could not be
 * read.
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
