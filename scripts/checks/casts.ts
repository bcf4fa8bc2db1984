import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/** Where unknown data becomes typed, and where tests build invalid values. */
const MAY_CAST = /(\/schema\.ts$|^simulated\/disk\.ts$|\.test\.ts$|^tests\/)/;

/** Type assertions outside the schemas: parse values instead. `as const` is allowed. */
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
