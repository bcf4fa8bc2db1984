import { Visitor } from "rolldown/utils";
import { lineAt, type Problem, type Source } from "./source";

/** The width of a small terminal, in columns. */
const MAX_COLUMNS = 80;
/** The names of constants with a help text. */
const HELP_TEXT_NAME = /(^|_)USAGE$/;

/**
 * Reports lines of help texts that a small terminal wraps. An inserted value counts with the length
 * of its expression. Commander wraps its own help texts, so they are not checked.
 */
export function helpTextProblems(sources: readonly Source[]): Problem[] {
  return sources.flatMap((source) =>
    helpTextsOf(source).flatMap(({ line, text }) =>
      text.split("\n").flatMap((helpLine, index) => {
        const columns = helpLine.length;
        const message = `has a help text of ${columns} columns; limit is ${MAX_COLUMNS}`;
        return columns > MAX_COLUMNS ? [{ path: source.path, line: line + index, message }] : [];
      }),
    ),
  );
}

function helpTextsOf({ text, ast }: Source): { line: number; text: string }[] {
  const texts: { line: number; text: string }[] = [];
  new Visitor({
    VariableDeclarator: ({ id, init, start }) => {
      if (id.type !== "Identifier" || !HELP_TEXT_NAME.test(id.name)) return;
      const line = lineAt(text, start);
      if (init?.type === "Literal" && typeof init.value === "string")
        texts.push({ line, text: init.value });
      if (init?.type !== "TemplateLiteral") return;
      const inserted = init.expressions.map(({ start, end }) => text.slice(start, end));
      const parts = init.quasis.map(({ value }) => value.cooked ?? value.raw);
      texts.push({
        line,
        text: parts.map((part, index) => part + (inserted[index] ?? "")).join(""),
      });
    },
  }).visit(ast.program);
  return texts;
}
