import { Visitor } from "rolldown/utils";
import { isParticiple, wordsIn } from "./diction";
import { lineAt, type Source } from "./source";

/** A text that people read. `line` is the number of its first line; lines are counted from 1. */
export type Passage = { path: string; line: number; text: string };

const DIRECTIVE = /^\s*(biome-ignore|@ts-|#|\/ <reference|istanbul|v8 ignore|@__PURE__)/;

/**
 * Replaces code by one word, because a name in code (such as `heard`) is an identifier and no word.
 */
const withoutCode = (text: string) => text.replace(/`[^`\n]+`/g, "code");

/**
 * The texts of comments, without `//` and `*`, and with code as one word. Line comments on
 * neighbouring lines are one passage.
 */
export function commentsOf({ path, text, ast }: Source): Passage[] {
  const passages: (Passage & { end: number })[] = [];
  for (const { type, value, start, end } of ast.comments) {
    if (DIRECTIVE.test(value)) continue;
    const last = passages.at(-1);
    const content = type === "Line" ? value.trim() : value.replace(/^\s*\* ?/gm, "").trim();
    if (type === "Line" && last && /^\s*$/.test(text.slice(last.end, start))) {
      last.text += `\n${content}`;
      last.end = end;
    } else {
      passages.push({ path, line: lineAt(text, start), text: content, end });
    }
  }
  return passages.map(({ end: _, ...passage }) => ({
    ...passage,
    text: withoutCode(passage.text),
  }));
}

/** The lines that contain a comment and are wider than `columns`. */
export function wideCommentsOf({ path, text, ast }: Source, columns: number): Passage[] {
  const lines = text.split("\n");
  const commented = new Set(
    ast.comments
      .filter(({ value }) => !DIRECTIVE.test(value))
      .flatMap(({ start, end }) => {
        const first = lineAt(text, start);
        return Array.from({ length: lineAt(text, end) - first + 1 }, (_, index) => first + index);
      }),
  );
  return [...commented]
    .map((line) => ({ path, line, text: lines[line - 1] ?? "" }))
    .filter((passage) => passage.text.length > columns);
}

/** A string with fewer words is no sentence. */
const SENTENCE_WORDS = 4;
/** SQL, which is not for people. */
const STATEMENT = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|DROP) /;
/** Replaces each inserted value of a template. It counts as no word. */
const PLACEHOLDER = "…";

/** The string literals and templates that are sentences: several words with spaces between them. */
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
      add(start, quasis.map(({ value }) => value.cooked ?? value.raw).join(PLACEHOLDER));
    },
  }).visit(ast.program);
  return passages;
}

/** The names of tests and of groups of tests. */
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
          text: name.quasis.map(({ value }) => value.raw).join(PLACEHOLDER),
        });
    },
  }).visit(ast.program);
  return passages;
}

/** The declared types whose name is only a participle. */
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

/** A comment in Markdown. It marks a figure or a generated part. */
const HIDDEN_COMMENT = /<!--.*?-->/g;
const isTableRule = (line: string) => /^\s*\|?[\s:|-]+\|?\s*$/.test(line) && line.includes("-");

/**
 * Divides a Markdown document into paragraphs of prose. Omits blocks of code; code inside a line
 * counts as one word. Every heading, list item and table cell is a paragraph.
 */
export function paragraphsOf(path: string, markdown: string): Passage[] {
  const passages: Passage[] = [];
  let current: Passage | null = null;
  let inCode = false;
  markdown.split("\n").forEach((raw, index) => {
    const line = index + 1;
    if (/^\s*(```|~~~)/.test(raw)) inCode = !inCode;
    const isBlank = raw.replace(HIDDEN_COMMENT, "").trim() === "";
    const isEnd = inCode || /^\s*(```|~~~)/.test(raw) || isBlank || isTableRule(raw);
    const startsParagraph = /^\s*(#|[-*+] |\d+[.)] |>|\|)/.test(raw);
    if (isEnd || startsParagraph) current = null;
    if (isEnd) return;
    if (raw.trimStart().startsWith("|")) {
      const cells = raw.split(/(?<!\\)\|/).map(plain);
      passages.push(...cells.filter(Boolean).map((text) => ({ path, line, text })));
    } else if (current) {
      current.text += `\n${plain(raw)}`;
    } else {
      current = { path, line, text: plain(raw) };
      passages.push(current);
    }
  });
  return passages;
}

/** A line of Markdown without its markup. */
function plain(line: string): string {
  return line
    .replace(HIDDEN_COMMENT, "")
    .replace(/^\s*(#+|[-*+]|\d+[.)]|>)\s+/, "")
    .replace(/(`+)(?:(?!\1).)+\1/g, "code")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_]{1,3}(\S(?:.*?\S)?)[*_]{1,3}/g, "$1")
    .trim();
}
