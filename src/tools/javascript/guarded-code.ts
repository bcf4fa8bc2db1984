import { type AnyNode, type Function as FunctionNode, type Node, parse, type Program } from "acorn";

/**
 * Code that counts its steps by calling `guard`, a name that it does not use itself. Line numbers
 * are unchanged.
 */
type GuardedCode = { ok: true; text: string; guard: string } | { ok: false; problem: string };

/** Text inserted before or after a node. `nth` is the node's index in the tree, parents first. */
type Insert = { at: number; isEnd: boolean; nth: number; text: string };

/**
 * Inserts a guard call wherever code can run forever: at the start of each loop iteration and
 * function. Also into expressions that a call evaluates before or instead of a body: default
 * values, computed parameter keys, class fields. So code that catches the guard's error meets the
 * guard again. `code` is the body of an async function.
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

/** Position at the end of the parser's messages. */
const POSITION = / \((\d+):(\d+)\)$/;

/** All nodes of a tree, parents before children. */
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

/** Compares names as the parser decodes them, so that escapes make no difference. */
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

/** A node's range excludes parentheses around it, so the comma cannot separate arguments. */
const before = (expression: Node, guard: string) => around(expression, `(${guard}(),`, ")");

const around = ({ start, end }: Node, opening: string, closing: string) => [
  { at: start, isEnd: false, text: opening },
  { at: end, isEnd: true, text: closing },
];

/** At the same position, ends come first, inner before outer; then starts, outer before inner. */
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
