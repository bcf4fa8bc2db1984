import { type AnyNode, type Function as FunctionNode, type Node, parse, type Program } from "acorn";

/**
 * The model's code with calls of a guard function that counts steps. `guard` is the name of that
 * function; the model's code does not use this name. Line numbers are unchanged.
 */
type GuardedCode = { ok: true; text: string; guard: string } | { ok: false; problem: string };

/**
 * A text to insert before a node, or after the node if `isEnd`. `at` is an offset in the code.
 * `nth` is the node's index in the tree, parents first.
 */
type Insertion = { at: number; isEnd: boolean; nth: number; text: string };

/**
 * Inserts a guard call in each place where code can repeat without end: at the start of each loop
 * iteration and of each function. Also inserts a guard call into each expression that a function
 * call evaluates before or instead of a body: default values, computed parameter keys, class
 * fields. So code that catches the guard's error soon calls the guard again. `code` is the body of
 * an async function.
 */
export function guardedCode(code: string): GuardedCode {
  const parseResult = parseCode(code);
  if (!parseResult.ok) return parseResult;
  const nodes = allNodes(parseResult.program);
  if (nodes.some(isImport)) return { ok: false, problem: NO_IMPORTS };
  const guard = unusedName(nodes);
  const insertions = nodes.flatMap((node, nth) =>
    insertionsFor(node, guard).map((insertion) => ({ ...insertion, nth })),
  );
  return { ok: true, text: applyInsertions(code, insertions), guard };
}

const NO_IMPORTS =
  "There are no modules here: neither `import` nor `export`. The code must bring all that it needs.";

function parseCode(code: string): { ok: true; program: Program } | { ok: false; problem: string } {
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

/** The position at the end of a message of the parser. */
const POSITION = / \((\d+):(\d+)\)$/;

/** All nodes of a tree, parents before children. */
function allNodes(program: Program): AnyNode[] {
  const nodes: AnyNode[] = [];
  const pending: AnyNode[] = [program];
  for (let node = pending.pop(); node; node = pending.pop()) {
    nodes.push(node);
    const parts: unknown[] = Object.values(node).flat();
    for (const part of parts) if (isNode(part)) pending.push(part);
  }
  return nodes;
}

const isNode = (value: unknown): value is AnyNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";

const isImport = ({ type }: AnyNode): boolean => /^(Import|Export)/.test(type);

/**
 * A name that the code does not use. Compares names as the parser decodes them, because the code
 * may write a name with escapes.
 */
function unusedName(nodes: readonly AnyNode[]): string {
  const usedNames = new Set(
    nodes.flatMap((node) => (node.type === "Identifier" ? [node.name] : [])),
  );
  let name = "$step";
  for (let nth = 2; usedNames.has(name); nth += 1) name = `$step${nth}`;
  return name;
}

function insertionsFor(node: AnyNode, guard: string): Omit<Insertion, "nth">[] {
  switch (node.type) {
    case "ForStatement":
    case "ForInStatement":
    case "ForOfStatement":
    case "WhileStatement":
    case "DoWhileStatement":
      return node.body.type === "BlockStatement"
        ? [insertAtStart(node.body, guard)]
        : insertAround(node.body, `{${guard}();`, "}");
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return functionInsertions(node, guard);
    case "AssignmentPattern":
      return insertBefore(node.right, guard);
    case "PropertyDefinition":
      return node.value ? insertBefore(node.value, guard) : [];
    case "ObjectPattern":
      return node.properties.flatMap((property) => {
        return property.type === "Property" && property.computed
          ? insertBefore(property.key, guard)
          : [];
      });
    default:
      return [];
  }
}

const functionInsertions = ({ body }: FunctionNode, guard: string): Omit<Insertion, "nth">[] =>
  body.type === "BlockStatement" ? [insertAtStart(body, guard)] : insertBefore(body, guard);

const insertAtStart = (block: Node, guard: string) => ({
  at: block.start + 1,
  isEnd: false,
  text: `${guard}();`,
});

/**
 * Evaluates the guard before an expression: `(guard(),expression)`. A node's range does not include
 * parentheses around the node, so without these parentheses the comma could separate arguments.
 */
const insertBefore = (expression: Node, guard: string) =>
  insertAround(expression, `(${guard}(),`, ")");

const insertAround = ({ start, end }: Node, opening: string, closing: string) => [
  { at: start, isEnd: false, text: opening },
  { at: end, isEnd: true, text: closing },
];

/**
 * Inserts the texts into the code. At the same position, texts after a node come first, inner nodes
 * before outer nodes. Then come texts before a node, outer nodes before inner nodes.
 */
function applyInsertions(code: string, insertions: Insertion[]): string {
  const inOrder = insertions.toSorted((a, b) => {
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
