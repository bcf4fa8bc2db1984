import { sha256 } from "../../local/sha256";
import type { Diff, DiffFile } from "../../src/protocol/api/diff";
import type { Files, Point, Trees, Turn } from "./state";

/**
 * How a diff differs from what two points have. Which files are added, deleted, changed or renamed
 * is predicted; of hunks and parts of texts, only the effect is: applied to the old text, they
 * give the new one.
 */

/** The state before the first turn, for a diff of `to` with its parent. */
export const beforeFirst = (to: Turn | null): Pick<Point, "trees" | "text"> => ({
  // The first turn has no parent: the context is that of the user's version.
  trees: { workspace: new Map(), context: to?.uploaded ?? new Map() },
  text: null,
});

type Side = Pick<Point, "trees" | "text">;

export function diffProblems(diff: Diff, from: Side, to: Side, context: string): string[] {
  const expected = [
    ...changesOf(from.trees, to.trees, "workspace", ""),
    ...changesOf(from.trees, to.trees, "context", `contexts/${context}/`),
  ];
  const found = diff.data.map(({ change, path, from_path }) => lineOf(change, path, from_path));
  const lines = expected.map(({ change, path, fromPath }) => lineOf(change, path, fromPath));
  if (found.toSorted().join("\n") !== lines.toSorted().join("\n"))
    return [`the files are ${JSON.stringify(found)}, expected ${JSON.stringify(lines)}`];
  const contents = diff.data.flatMap((file) => {
    const change = expected.find(({ path }) => path === file.path);
    return change ? fileProblems(file, change) : [];
  });
  return [...contents, ...textProblems(diff.answer, from.text, to.text)];
}

type Change = {
  change: DiffFile["change"];
  path: string;
  fromPath?: string;
  before: string | null;
  after: string | null;
};

const lineOf = (change: string, path: string, fromPath: string | undefined): string =>
  fromPath === undefined ? `${change} ${path}` : `${change} ${fromPath} to ${path}`;

/** The changes of one root. No two files of a tree have equal contents. */
function changesOf(from: Trees, to: Trees, root: keyof Trees, prefix: string): Change[] {
  const [before, after] = [from[root], to[root]];
  const movedFrom = (text: string): string | undefined =>
    [...before].find(([path, old]) => old === text && !after.has(path))?.[0];
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths.flatMap((path): Change[] => {
    const [old, text] = [before.get(path) ?? null, after.get(path) ?? null];
    const place = { path: `${prefix}${path}`, before: old, after: text };
    if (old === text) return [];
    if (old !== null && text !== null) return [{ ...place, change: "changed" }];
    if (text === null)
      return isMovedTo(before, after, old) ? [] : [{ ...place, change: "deleted" }];
    const source = movedFrom(text);
    return source === undefined
      ? [{ ...place, change: "added" }]
      : [{ ...place, change: "renamed", fromPath: `${prefix}${source}`, before: text }];
  });
}

const isMovedTo = (before: Files, after: Files, text: string | null): boolean =>
  [...after].some(([path, contents]) => contents === text && !before.has(path));

function fileProblems(file: DiffFile, { before, after }: Change): string[] {
  const sides = [
    [file.from, before],
    [file.to, after],
  ] as const;
  const wrong = sides.flatMap(([side, text]) =>
    (side?.sha256 ?? null) === (text === null ? null : sha256(text))
      ? []
      : [`a side of ${file.path} has another hash than its contents`],
  );
  const result = applied(before ?? "", file.hunks);
  return result === (after ?? "")
    ? wrong
    : [...wrong, `the hunks of ${file.path} make ${JSON.stringify(result)}`];
}

/** The text after the hunks, or why they do not fit. All lines of contents end in line feeds. */
function applied(before: string, hunks: DiffFile["hunks"]): string {
  const old = before.split("\n").slice(0, -1);
  const lines: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = hunk.from_lines === 0 ? hunk.from_start : hunk.from_start - 1;
    lines.push(...old.slice(at, start));
    at = start;
    for (const line of hunk.lines) {
      const [sign, text] = [line.slice(0, 1), line.slice(1)];
      if (sign !== "+" && old[at] !== text) return `no match at line ${at + 1}: ${line}`;
      if (sign !== "+") at += 1;
      if (sign !== "-") lines.push(text);
    }
  }
  return [...lines, ...old.slice(at), ""].join("\n");
}

function textProblems(answer: Diff["answer"], from: string | null, to: string | null): string[] {
  if (from === null && to === null)
    return answer === null ? [] : ["there are texts, but neither point has one"];
  const parts = answer?.parts ?? [];
  const without = (op: string): string =>
    parts.map((part) => (part.op === op ? "" : part.text)).join("");
  const found = [without("added"), without("deleted")];
  const expected = [from ?? "", to ?? ""];
  return JSON.stringify(found) === JSON.stringify(expected)
    ? []
    : [`the texts are ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}`];
}
