import { Visitor } from "rolldown/utils";
import { isParticiple, wordsIn } from "./diction";
import { lineAt, type Source } from "./source";

/** A piece of text that people read. `line`: where it begins, counted from 1. */
export type Passage = { path: string; line: number; text: string };

const DIRECTIVE = /^\s*(biome-ignore|@ts-|#|\/ <reference|istanbul|v8 ignore|@__PURE__)/;

/** Names in code are not words: `heard` is an identifier. Counts as one word. */
const withoutCode = (text: string) => text.replace(/`[^`\n]+`/g, "code");

/**
 * Comments without their signs, code in them as one word. Line comments on neighbouring lines are
 * one passage.
 */
export function commentsOf({ path, text, ast }: Source): Passage[] {
  const passages: (Passage & { end: number })[] = [];
  for (const { type, value, start, end } of ast.comments) {
    if (DIRECTIVE.test(value)) continue;
    const last = passages.at(-1);
    const bare = type === "Line" ? value.trim() : value.replace(/^\s*\* ?/gm, "").trim();
    if (type === "Line" && last && /^\s*$/.test(text.slice(last.end, start))) {
      last.text += `\n${bare}`;
      last.end = end;
    } else {
      passages.push({ path, line: lineAt(text, start), text: bare, end });
    }
  }
  return passages.map(({ end: _, ...passage }) => ({
    ...passage,
    text: withoutCode(passage.text),
  }));
}

/** Lines wider than `columns` that hold a comment. */
export function wideCommentsOf({ path, text, ast }: Source, columns: number): Passage[] {
  const lines = text.split("\n");
  const commented = new Set(
    ast.comments
      .filter(({ value }) => !DIRECTIVE.test(value))
      .flatMap(({ start, end }) => {
        const first = lineAt(text, start);
        return Array.from({ length: lineAt(text, end) - first + 1 }, (_, nth) => first + nth);
      }),
  );
  return [...commented]
    .map((line) => ({ path, line, text: lines[line - 1] ?? "" }))
    .filter((passage) => passage.text.length > columns);
}

/** At least so many words make a string a sentence. */
const SENTENCE_WORDS = 4;
/** SQL is not for people. */
const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|DROP) /;
/** Inserted values count as no word. */
const INSERTED = "…";

/** String literals and templates that are sentences: several words in a row, with spaces. */
export function sentenceStringsOf({ path, text, ast }: Source): Passage[] {
  const passages: Passage[] = [];
  const add = (start: number, value: string) => {
    if (STATEMENT.test(value)) return;
    if (wordsIn(value) < SENTENCE_WORDS || !/[A-Za-z,;:.] [A-Za-z]/.test(value)) return;
    passages.push({ path, line: lineAt(text, start), text: value });
  };
  new Visitor({
    Literal: ({ value, start }) => {
      if (typeof value === "string") add(start, value);
    },
    TemplateLiteral: ({ quasis, start }) => {
      add(start, quasis.map(({ value }) => value.cooked ?? value.raw).join(INSERTED));
    },
  }).visit(ast.program);
  return passages;
}

/** Names of tests and of groups of tests. */
export function testNamesOf({ path, text, ast }: Source): Passage[] {
  const passages: Passage[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: [name], start }) => {
      if (!/^(it|test|describe)\b/.test(text.slice(callee.start, callee.end))) return;
      const line = lineAt(text, name?.start ?? start);
      if (name?.type === "Literal" && typeof name.value === "string")
        passages.push({ path, line, text: name.value });
      if (name?.type === "TemplateLiteral")
        passages.push({
          path,
          line,
          text: name.quasis.map(({ value }) => value.raw).join(INSERTED),
        });
    },
  }).visit(ast.program);
  return passages;
}

/** Declared types whose name is a bare participle. */
export function participlesOf({ path, text, ast }: Source): Passage[] {
  const passages: Passage[] = [];
  const check = ({ id }: { id: { name: string; start: number } | null }) => {
    if (id && isParticiple(id.name))
      passages.push({ path, line: lineAt(text, id.start), text: id.name });
  };
  new Visitor({
    TSTypeAliasDeclaration: check,
    TSInterfaceDeclaration: check,
    ClassDeclaration: check,
  }).visit(ast.program);
  return passages;
}

/** Comments in Markdown: marks of figures and of generated parts. */
const HIDDEN_COMMENT = /<!--.*?-->/g;
const isTableRule = (line: string) => /^\s*\|?[\s:|-]+\|?\s*$/.test(line) && line.includes("-");

/**
 * A Markdown document as paragraphs of prose. Blocks of code are left out, code inside a line
 * counts as one word; every heading, list item and cell of a table is a paragraph.
 */
export function paragraphsOf(path: string, markdown: string): Passage[] {
  const passages: Passage[] = [];
  let open: Passage | null = null;
  let inCode = false;
  markdown.split("\n").forEach((raw, index) => {
    const line = index + 1;
    if (/^\s*(```|~~~)/.test(raw)) inCode = !inCode;
    const isBlank = raw.replace(HIDDEN_COMMENT, "").trim() === "";
    const ends = inCode || /^\s*(```|~~~)/.test(raw) || isBlank || isTableRule(raw);
    const startsOne = /^\s*(#|[-*+] |\d+[.)] |>|\|)/.test(raw);
    if (ends || startsOne) open = null;
    if (ends) return;
    if (raw.trimStart().startsWith("|")) {
      const cells = raw.split(/(?<!\\)\|/).map(plain);
      passages.push(...cells.filter(Boolean).map((text) => ({ path, line, text })));
    } else if (open) {
      open.text += `\n${plain(raw)}`;
    } else {
      open = { path, line, text: plain(raw) };
      passages.push(open);
    }
  });
  return passages;
}

/** A line of Markdown without its signs. */
function plain(line: string): string {
  return line
    .replace(HIDDEN_COMMENT, "")
    .replace(/^\s*(#+|[-*+]|\d+[.)]|>)\s+/, "")
    .replace(/(`+)(?:(?!\1).)+\1/g, "code")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}/g, "$1")
    .trim();
}
