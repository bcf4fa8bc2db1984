import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/**
 * Files that may cast: schemas, which give a type to unknown data, and tests with invalid values.
 */
const MAY_CAST = /(\/schema\.ts$|^simulated\/disk\.ts$|\.test\.ts$|^tests\/)/;

/**
 * Reports type assertions outside these files, which must parse values instead. Allows `as const`.
 */
export function castProblems(sources: Source[]): Problem[] {
  return sources.filter(({ path }) => !MAY_CAST.test(path)).flatMap(castsIn);
}

function castsIn(source: Source): Problem[] {
  const problems: Problem[] = [];
  const report = ({ start, end }: { start: number; end: number }) => {
    const message = `cast \`${source.text.slice(start, end).split("\n")[0]}\`: parse it in a schema.ts, or narrow it`;
    problems.push({ path: source.path, line: lineAt(source.text, start), message });
  };
  new Visitor({
    TSAsExpression: (node) => {
      const { typeAnnotation } = node;
      if (source.text.slice(typeAnnotation.start, typeAnnotation.end) !== "const") report(node);
    },
    TSTypeAssertion: report,
  }).visit(source.ast.program);
  return problems;
}
