import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/**
 * Hard limits of the style guide. A larger file or function must be split, or listed with a reason.
 */
const STOPS = { file: 400, function: 60, depth: 3, params: 4 } as const;
type Stop = keyof typeof STOPS;

/** A file that may exceed one limit, with the reason. */
export type Allowance = { path: string; stop: Stop; reason: string };
type Finding = Problem & { stop: Stop };

/** Everything over a limit, and every unused allowance. */
export function budgetProblems(sources: Source[], allowances: Allowance[]): Problem[] {
  const findings = sources.flatMap(findingsOf);
  const covers = (allowance: Allowance, finding: Finding) =>
    allowance.path === finding.path && allowance.stop === finding.stop;
  const open = findings.filter(
    (finding) => !allowances.some((allowance) => covers(allowance, finding)),
  );
  const idle = allowances.filter(
    (allowance) => !findings.some((finding) => covers(allowance, finding)),
  );
  return [
    ...open.map(({ path, line, message }) => ({ path, line, message })),
    ...idle.map(({ path, stop }) => ({
      path,
      line: 1,
      message: `needs no allowance for its ${stop} stop any more; take it off the list`,
    })),
  ];
}

/** Median and maximum of the lines of the files in a folder. */
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

/** Limits of the median of a folder. A lower median means many small files to read per change. */
const MEDIAN = { least: 90, most: 120 } as const;

/** A median outside the range. */
export function medianProblems(folder: string, median: number): Problem[] {
  const { least, most } = MEDIAN;
  if (median >= least && median <= most) return [];
  const remedy =
    median < least
      ? "merge small files into their only importer"
      : "split large files by responsibility";
  const message = `has a median of ${median} lines a file, which must be ${least} to ${most}: ${remedy}`;
  return [{ path: folder, line: 1, message }];
}

function findingsOf(source: Source): Finding[] {
  const lines = source.text.trimEnd().split("\n").length;
  const message = `has ${lines} lines; stop is ${STOPS.file}`;
  const file: Finding[] =
    lines > STOPS.file ? [{ path: source.path, line: 1, stop: "file", message }] : [];
  return [...file, ...functionFindings(source)];
}

type FunctionNode = { start: number; end: number; params: unknown[] };

/** Receives the nodes of a source in order. */
type Walker = {
  enterFunction(node: FunctionNode): void;
  leaveFunction(): void;
  enterBlock(node: { start: number }): void;
  leaveBlock(node: { start: number }): void;
  /** Does not count as a function or as a further level. */
  exempt(node: { start: number }): void;
};

function functionFindings(source: Source): Finding[] {
  const findings: Finding[] = [];
  const find = (stop: Stop, offset: number, message: string) =>
    findings.push({
      path: source.path,
      line: lineAt(source.text, offset),
      stop,
      message: `${message}; stop is ${STOPS[stop]}`,
    });
  const depths = [0]; // of nested control flow, one entry per open function
  const exempted = new Set<number>(); // starts of `else if` statements and of test groups

  visit(source, {
    exempt: (node) => void exempted.add(node.start),
    enterFunction(node) {
      depths.push(0);
      const lines = lineAt(source.text, node.end) - lineAt(source.text, node.start) + 1;
      if (lines > STOPS.function && !exempted.has(node.start))
        find("function", node.start, `function has ${lines} lines`);
      if (node.params.length > STOPS.params)
        find("params", node.start, `function has ${node.params.length} parameters`);
    },
    leaveFunction: () => void depths.pop(),
    enterBlock(node) {
      if (exempted.has(node.start)) return;
      const depth = (depths.pop() ?? 0) + 1;
      depths.push(depth);
      if (depth === STOPS.depth + 1)
        find("depth", node.start, `control flow is nested ${depth} deep`);
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
    // A group of tests is a list, not a control flow.
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
