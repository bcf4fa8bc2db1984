import type { AnyNode, CallExpression } from "acorn";

/** Traversal of acorn's tree, and queries for the edits of the shell. */

export type FunctionNode = Extract<
  AnyNode,
  { type: "FunctionDeclaration" | "FunctionExpression" | "ArrowFunctionExpression" }
>;

/** Visits a node and its descendants, parents first. `parents` begins with the root. */
export function walk(
  root: AnyNode,
  visit: (node: AnyNode, parents: readonly AnyNode[]) => void,
): void {
  const stack: { node: AnyNode; parents: readonly AnyNode[] }[] = [{ node: root, parents: [] }];
  for (let next = stack.pop(); next; next = stack.pop()) {
    const { node, parents } = next;
    visit(node, parents);
    const childParents = [...parents, node];
    for (const child of childrenOf(node).reverse())
      stack.push({ node: child, parents: childParents });
  }
}

const childrenOf = (node: AnyNode): AnyNode[] =>
  Object.values(node).flatMap((value: unknown) =>
    Array.isArray(value) ? value.filter(isNode) : isNode(value) ? [value] : [],
  );

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

export const isFunction = (node: AnyNode): node is FunctionNode =>
  node.type === "FunctionDeclaration" ||
  node.type === "FunctionExpression" ||
  node.type === "ArrowFunctionExpression";

/** The function that is declared with this name. Throws unless there is exactly one. */
export function functionNamed(root: AnyNode, name: string): FunctionNode {
  const found: FunctionNode[] = [];
  walk(root, (node) => {
    if (node.type === "FunctionDeclaration" && node.id?.name === name) found.push(node);
  });
  return requireOne(found, `function ${name}`);
}

/** The innermost function that contains an offset. Throws if there is none. */
export function functionAround(root: AnyNode, offset: number): FunctionNode {
  let found: FunctionNode | null = null;
  walk(root, (node) => {
    if (isFunction(node) && node.start <= offset && offset < node.end) found = node;
  });
  return requireOne(found === null ? [] : [found], `function around ${offset}`);
}

/** The function of the method with this name. Throws unless there is exactly one. */
export function methodNamed(root: AnyNode, name: string): FunctionNode {
  const found: FunctionNode[] = [];
  walk(root, (node) => {
    if (
      node.type === "MethodDefinition" &&
      node.key.type === "Identifier" &&
      node.key.name === name
    )
      found.push(node.value);
  });
  return requireOne(found, `method ${name}`);
}

/** All calls of a function by its name, each with the function that contains the call. */
export function callsOf(
  root: AnyNode,
  name: string,
): { call: CallExpression; caller: FunctionNode }[] {
  const found: { call: CallExpression; caller: FunctionNode }[] = [];
  walk(root, (node, parents) => {
    if (
      node.type !== "CallExpression" ||
      node.callee.type !== "Identifier" ||
      node.callee.name !== name
    )
      return;
    found.push({
      call: node,
      caller: requireOne(parents.filter(isFunction).slice(-1), `caller of ${name}`),
    });
  });
  return found;
}

function requireOne<T>(found: readonly T[], description: string): T {
  const [first] = found;
  if (first === undefined || found.length > 1)
    throw new Error(`The shell has ${found.length} matches of ${description}; expected 1.`);
  return first;
}
