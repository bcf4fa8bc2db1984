import { type Line, segment, type Tone } from "../terminal/output";
import { spellOut, toLine } from "../terminal/sanitize";
import { formatBytes } from "../files/show-files";
import type { DiffFacts, DiffFileFacts } from "./read-diff";

/** A diff as lines for people: each file with its hunks, and the answers by words. */
export const diffLines = (diff: DiffFacts): Line[] => [
  ...diff.data.flatMap(fileLines),
  ...answerLines(diff),
];

function fileLines(file: DiffFileFacts): Line[] {
  const counts = countsOf(file);
  const title: Line = [
    segment(`${file.change} ${nameOf(file)}`, "bold"),
    ...(counts === "" ? [] : [segment(`  ${counts}`, "dim")]),
  ];
  return [title, ...modeLines(file), ...notComparedLines(file), ...hunkLines(file), []];
}

/** The path on one line; for a renamed file both paths. */
export const nameOf = ({ path, from_path }: DiffFileFacts): string =>
  from_path === undefined ? toLine(path) : `${toLine(from_path)} → ${toLine(path)}`;

function countsOf({ added, deleted }: DiffFileFacts): string {
  const counts = [added ? `+${added}` : "", deleted ? `-${deleted}` : ""];
  return counts.filter((count) => count !== "").join(" ");
}

const modeLines = ({ change, from, to }: DiffFileFacts): Line[] => {
  if (change === "deleted" || Boolean(from?.executable) === Boolean(to?.executable)) return [];
  return [[segment(to?.executable ? "executable" : "no longer executable", "dim")]];
};

const REASONS: Readonly<Record<string, string>> = {
  binary: "not text",
  too_large: "over 1 MB",
  too_many_changes: "too many changes to show",
  limit_reached: "not shown: the diff is too long",
  unavailable: "no longer stored",
};

function notComparedLines({ not_compared, from, to }: DiffFileFacts): Line[] {
  if (not_compared === undefined) return [];
  const reason = REASONS[not_compared] ?? toLine(not_compared);
  return [
    [segment(reason, "dim")],
    ...(from ? [[segment(`-${sideText(from)}`, "bad")]] : []),
    ...(to ? [[segment(`+${sideText(to)}`, "good")]] : []),
  ];
}

const HASH_CHARS = 16;
const sideText = ({ size, sha256 }: { size: number; sha256: string }): string =>
  `${formatBytes(size)}, sha256 ${toLine(sha256).slice(0, HASH_CHARS)}…`;

const hunkLines = ({ hunks }: DiffFileFacts): Line[] =>
  hunks.flatMap((hunk) => [
    [
      segment(
        `@@ -${hunk.from_start},${hunk.from_lines} +${hunk.to_start},${hunk.to_lines} @@`,
        "busy",
      ),
    ],
    ...hunk.lines.map((line) => [segment(spellOut(line), toneOf(line))]),
  ]);

const toneOf = (line: string): Tone =>
  line.startsWith("+") ? "good" : line.startsWith("-") ? "bad" : "plain";

/**
 * The answers by words, as lines: deleted text in `[-…-]`, added text in `{+…+}`. Of long same
 * parts only the lines next to a change are shown. Empty if the answers are equal.
 */
export function answerLines({ answer, from, to }: DiffFacts): Line[] {
  if (answer === null || answer.from?.sha256 === answer.to?.sha256) return [];
  const title = [segment(`answer ${toLine(from.reference)} → ${toLine(to.reference)}`, "bold")];
  if (answer.parts === null)
    return [
      title,
      ...(answer.from ? [[segment(`-${sideText(answer.from)}`, "bad")]] : []),
      ...(answer.to ? [[segment(`+${sideText(answer.to)}`, "good")]] : []),
    ];
  const lines: Line[] = [[]];
  for (const [index, { op, text }] of answer.parts.entries()) {
    const isFirst = index === 0;
    const isLast = index === answer.parts.length - 1;
    const shown = op === "same" ? shortened(text, { isFirst, isLast }) : marked(op, text);
    for (const [nth, part] of shown.split("\n").entries()) {
      if (nth > 0) lines.push([]);
      if (part !== "") lines.at(-1)?.push(segment(spellOut(part), TONES[op]));
    }
  }
  return [title, ...lines];
}

const TONES = { same: "plain", deleted: "bad", added: "good" } as const;
const marked = (op: "deleted" | "added", text: string): string =>
  op === "deleted" ? `[-${text}-]` : `{+${text}+}`;

/** Lines of a same part that are shown next to a change. */
const CONTEXT_LINES = 2;

function shortened(text: string, { isFirst, isLast }: { isFirst: boolean; isLast: boolean }) {
  const lines = text.split("\n");
  const head = isFirst ? 0 : CONTEXT_LINES;
  const tail = isLast ? 0 : CONTEXT_LINES;
  if (lines.length <= head + tail + 1) return text;
  const end = tail === 0 ? [] : lines.slice(-tail);
  return [...lines.slice(0, head), "…", ...end].join("\n");
}
