import { type AnyNode, type Function as FunctionNode, type Node, parse, type Program } from "acorn";

/** Code that counts its steps by calling `guard`, a name it does not use itself; lines are where they were. */
export type GuardedCode =
  | { ok: true; text: string; guard: string }
  | { ok: false; problem: string };

/** Something put before or behind a node. `nth`: the node's place in the tree, parents first. */
type Insert = { at: number; isEnd: boolean; nth: number; text: string };

/**
 * Puts a call of the guard wherever code can come by for ever: at the beginning of each round of a loop and of each function, and
 * into what a call evaluates before its body or instead of one (default values, computed keys of parameters, values of a class's
 * fields). So whatever catches the guard's error meets the guard again as soon as it goes on. `code` is the body of an async function.
 */
export function guardedCode(code: string): GuardedCode {
  const parsed = parsedCode(code);
  if (!parsed.ok) return parsed;
  const nodes = nodesOf(parsed.program);
  if (nodes.some(isImport)) return { ok: false, problem: NO_IMPORTS };
  const guard = freeName(nodes);
  const inserts = nodes.flatMap((node, nth) =>
    insertsOf(node, guard).map((insert) => ({ ...insert, nth })),
  );
  return { ok: true, text: withInserts(code, inserts), guard };
}

const NO_IMPORTS =
  "There are no modules here: neither `import` nor `export`. The code must bring all that it needs.";

function parsedCode(code: string): { ok: true; program: Program } | { ok: false; problem: string } {
  try {
    const program = parse(code, {
      ecmaVersion: "latest",
      sourceType: "module",
      allowReturnOutsideFunction: true,
      allowAwaitOutsideFunction: true,
      allowHashBang: false,
    });
    return { ok: true, program };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return {
      ok: false,
      problem: `SyntaxError: ${error.message.replace(POSITION, " (line $1, column $2)")}`,
    };
  }
}

/** Where the parser found it, at the end of its message. */
const POSITION = / \((\d+):(\d+)\)$/;

/** All nodes of a tree, parents before what is in them. */
function nodesOf(program: Program): AnyNode[] {
  const nodes: AnyNode[] = [];
  const open: AnyNode[] = [program];
  for (let node = open.pop(); node; node = open.pop()) {
    nodes.push(node);
    const parts: unknown[] = Object.values(node).flat();
    for (const part of parts) if (isNode(part)) open.push(part);
  }
  return nodes;
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const isImport = ({ type }: AnyNode): boolean => /^(Import|Export)/.test(type);

/** Names are compared as the parser reads them: written with escapes they are the same. */
function freeName(nodes: readonly AnyNode[]): string {
  const taken = new Set(nodes.flatMap((node) => (node.type === "Identifier" ? [node.name] : [])));
  let name = "$step";
  for (let nth = 2; taken.has(name); nth += 1) name = `$step${nth}`;
  return name;
}

function insertsOf(node: AnyNode, guard: string): Omit<Insert, "nth">[] {
  switch (node.type) {
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      return node.body.type === "BlockStatement"
        ? [into(node.body, guard)]
        : around(node.body, `{${guard}();`, "}");
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return ofFunction(node, guard);
    case "AssignmentPattern":
      return before(node.right, guard);
    case "PropertyDefinition":
      return node.value ? before(node.value, guard) : [];
    case "ObjectPattern":
      return node.properties.flatMap((property) => {
        return property.type === "Property" && property.computed ? before(property.key, guard) : [];
      });
    default:
      return [];
  }
}

const ofFunction = ({ body }: FunctionNode, guard: string): Omit<Insert, "nth">[] =>
  body.type === "BlockStatement" ? [into(body, guard)] : before(body, guard);

const into = (block: Node, guard: string) => ({
  at: block.start + 1,
  isEnd: false,
  text: `${guard}();`,
});

/** A node's range is without the parentheses around it, so a comma is none that separates arguments. */
const before = (expression: Node, guard: string) => around(expression, `(${guard}(),`, ")");

const around = ({ start, end }: Node, opening: string, closing: string) => [
  { at: start, isEnd: false, text: opening },
  { at: end, isEnd: true, text: closing },
];

/** At one place what closes comes first, the inner before the outer; what opens follows, the outer before the inner. */
function withInserts(code: string, inserts: Insert[]): string {
  const inOrder = inserts.toSorted((a, b) => {
    return (
      a.at - b.at || Number(b.isEnd) - Number(a.isEnd) || (a.isEnd ? b.nth - a.nth : a.nth - b.nth)
    );
  });
  const pieces: string[] = [];
  let from = 0;
  for (const { at, text } of inOrder) {
    pieces.push(code.slice(from, at), text);
    from = at;
  }
  return pieces.join("") + code.slice(from);
}
