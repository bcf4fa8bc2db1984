import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/**
 * Hard limits of the style guide. A larger file or function must be split, or listed with a reason.
 */
const LIMITS = { file: 400, function: 60, depth: 3, params: 4 } as const;
type Limit = keyof typeof LIMITS;

/** A file that may exceed one limit, with the reason. */
export type Allowance = { path: string; limit: Limit; reason: string };
type Finding = Problem & { limit: Limit };

/** Reports everything that exceeds a limit without an allowance, and every unused allowance. */
export function budgetProblems(sources: Source[], allowances: Allowance[]): Problem[] {
  const findings = sources.flatMap(findingsOf);
  const covers = (allowance: Allowance, finding: Finding) =>
    allowance.path === finding.path && allowance.limit === finding.limit;
  const exceeded = findings.filter(
    (finding) => !allowances.some((allowance) => covers(allowance, finding)),
  );
  const unusedAllowances = allowances.filter(
    (allowance) => !findings.some((finding) => covers(allowance, finding)),
  );
  return [
    ...exceeded.map(({ path, line, message }) => ({ path, line, message })),
    ...unusedAllowances.map(({ path, limit }) => ({
      path,
      line: 1,
      message: `no longer needs an allowance for its ${limit} limit; remove it from the list`,
    })),
  ];
}

/** Median and maximum of the numbers of lines of the files in a folder. */
export function sizesIn(
  folder: string,
  sources: readonly Source[],
): { median: number; max: number } {
  const lines = sources
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ text }) => text.trimEnd().split("\n").length)
    .sort((a, b) => a - b);
  return { median: lines[Math.floor(lines.length / 2)] ?? 0, max: lines.at(-1) ?? 0 };
}

/** Allowed median of a folder. With a lower median, a change needs many small files. */
const MEDIAN_RANGE = { min: 90, max: 120 } as const;

/** Reports a median outside the allowed range. */
export function medianProblems(folder: string, median: number): Problem[] {
  const { min, max } = MEDIAN_RANGE;
  if (median >= min && median <= max) return [];
  const remedy =
    median < min
      ? "merge small files into their only importer"
      : "split large files by responsibility";
  const message = `has a median of ${median} lines a file, which must be ${min} to ${max}: ${remedy}`;
  return [{ path: folder, line: 1, message }];
}

function findingsOf(source: Source): Finding[] {
  const lines = source.text.trimEnd().split("\n").length;
  const message = `has ${lines} lines; limit is ${LIMITS.file}`;
  const file: Finding[] =
    lines > LIMITS.file ? [{ path: source.path, line: 1, limit: "file", message }] : [];
  return [...file, ...functionFindings(source)];
}

type FunctionNode = { start: number; end: number; params: unknown[] };

/** Receives the nodes of a source in order. */
type Walker = {
  enterFunction(node: FunctionNode): void;
  leaveFunction(): void;
  enterBlock(node: { start: number }): void;
  leaveBlock(node: { start: number }): void;
  /** Marks a node that counts neither as a function nor as a further level. */
  exempt(node: { start: number }): void;
};

function functionFindings(source: Source): Finding[] {
  const findings: Finding[] = [];
  const addFinding = (limit: Limit, offset: number, message: string) =>
    findings.push({
      path: source.path,
      line: lineAt(source.text, offset),
      limit,
      message: `${message}; limit is ${LIMITS[limit]}`,
    });
  const depths = [0]; // depth of nested control flow, with one entry per enclosing function
  const exempted = new Set<number>(); // starts of `else if` statements and of test groups

  visit(source, {
    exempt: (node) => void exempted.add(node.start),
    enterFunction(node) {
      depths.push(0);
      const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
      if (lines > LIMITS.function && !exempted.has(node.start))
        addFinding("function", node.start, `function has ${lines} lines`);
      if (node.params.length > LIMITS.params)
        addFinding("params", node.start, `function has ${node.params.length} parameters`);
    },
    leaveFunction: () => void depths.pop(),
    enterBlock(node) {
      if (exempted.has(node.start)) return;
      const depth = (depths.pop() ?? 0) + 1;
      depths.push(depth);
      if (depth === LIMITS.depth + 1)
        addFinding("depth", node.start, `control flow is nested ${depth} deep`);
    },
    leaveBlock(node) {
      if (!exempted.has(node.start)) depths.push((depths.pop() ?? 0) - 1);
    },
  });
  return findings;
}

function visit(source: Source, walker: Walker): void {
  const { enterFunction, leaveFunction, enterBlock, leaveBlock, exempt } = walker;
  new Visitor({
    // A group of tests is a list and no control flow, so its length is not limited.
    CallExpression: (node) => {
      if (/^describe\b/.test(source.text.slice(node.callee.start, node.callee.end)))
        for (const arg of node.arguments) exempt(arg);
    },
    FunctionDeclaration: enterFunction,
    "FunctionDeclaration:exit": leaveFunction,
    FunctionExpression: enterFunction,
    "FunctionExpression:exit": leaveFunction,
    ArrowFunctionExpression: enterFunction,
    "ArrowFunctionExpression:exit": leaveFunction,
    IfStatement: (node) => {
      if (node.alternate?.type === "IfStatement") exempt(node.alternate);
      enterBlock(node);
    },
    "IfStatement:exit": leaveBlock,
    ForStatement: enterBlock,
    "ForStatement:exit": leaveBlock,
    ForInStatement: enterBlock,
    "ForInStatement:exit": leaveBlock,
    ForOfStatement: enterBlock,
    "ForOfStatement:exit": leaveBlock,
    WhileStatement: enterBlock,
    "WhileStatement:exit": leaveBlock,
    DoWhileStatement: enterBlock,
    "DoWhileStatement:exit": leaveBlock,
    SwitchStatement: enterBlock,
    "SwitchStatement:exit": leaveBlock,
    TryStatement: enterBlock,
    "TryStatement:exit": leaveBlock,
  }).visit(source.ast.program);
}
