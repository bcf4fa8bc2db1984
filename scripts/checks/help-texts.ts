import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/** The width of a small terminal. */
const COLUMNS = 80;
/** Constants with a help text have such a name. */
const HELP = /(^|_)USAGE$/;

/**
 * Lines of help texts that a small terminal wraps. An inserted value counts with the length of its
 * expression. Help of commander is wrapped by commander.
 */
export function helpTextProblems(sources: readonly Source[]): Problem[] {
  return sources.flatMap((source) =>
    helpTextsOf(source).flatMap(({ line, text }) =>
      text.split("\n").flatMap((each, nth) => {
        const columns = each.length;
        const message = `has a help text of ${columns} columns; stop is ${COLUMNS}`;
        return columns > COLUMNS ? [{ path: source.path, line: line + nth, message }] : [];
      }),
    ),
  );
}

function helpTextsOf({ text, ast }: Source): { line: number; text: string }[] {
  const texts: { line: number; text: string }[] = [];
  new Visitor({
    VariableDeclarator: ({ id, init, start }) => {
      if (id.type !== "Identifier" || !HELP.test(id.name)) return;
      const line = lineAt(text, start);
      if (init?.type === "Literal" && typeof init.value === "string")
        texts.push({ line, text: init.value });
      if (init?.type !== "TemplateLiteral") return;
      const inserted = init.expressions.map(({ start, end }) => text.slice(start, end));
      const parts = init.quasis.map(({ value }) => value.cooked ?? value.raw);
      texts.push({
        line,
        text: parts.map((part, nth) => part + (inserted[nth] ?? "")).join(""),
      });
    },
  }).visit(ast.program);
  return texts;
}
