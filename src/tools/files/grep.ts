import * as z from "zod";
import { type Pattern, WorkBudget } from "../../patterns";
import type { AgentFiles } from "../../workspace/agent-files";
import { beforePair, showControls } from "../large-results";
import type { Tool, ToolContext } from "../tool";
import { defineFileTool } from "./define-tool";
import { compileModelPattern, matchingPaths } from "./glob";
import { type FileToolLimits, reducedLimits } from "./file-limits";
import { decodeText, fitLines, linesOf } from "./page";

const schema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe(
      "A regular expression in RE2's grammar (no look-around, no back-references), matched line by line.",
    ),
  path: z
    .string()
    .optional()
    .describe("A file or directory; default /workspace. / searches peers and contexts too."),
  glob: z.string().optional().describe("Only files whose path matches, e.g. *.py or src/**."),
  literal: z.boolean().optional().describe("Takes the pattern as plain text."),
  ignore_case: z.boolean().optional(),
  context_lines: z
    .int()
    .min(0)
    .max(10)
    .optional()
    .describe("Lines to show before and after each match."),
  files_only: z
    .boolean()
    .optional()
    .describe("Only lists the files, with the number of matching lines."),
});
type Args = z.infer<typeof schema>;

/**
 * `grep`: finds the lines that match. The work of patterns is limited, and other work can run
 * between two lines.
 */
export const grepTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "grep",
    description:
      "Searches the contents of files for lines that match. Results are path:line:text. Binary files are passed over.",
    schema,
    async run(args, files, context) {
      const callLimits = reducedLimits(limits, context);
      const budget = new WorkBudget();
      const matcher = lineMatcher(args, budget);
      const found = await search(
        { files, args, limits: callLimits, signal: context.signal, budget },
        matcher,
      );
      return reportOf(found, args, files.resolve(args.path ?? "/workspace"), callLimits);
    },
  });

type LineMatcher = {
  matches(line: string): boolean;
  /** Returns where the match starts within a matching line. */
  positionIn(line: string): number;
};

function lineMatcher({ pattern, literal, ignore_case }: Args, budget: WorkBudget): LineMatcher {
  const ignoreCase = ignore_case ?? false;
  if (literal && !ignoreCase) return literalMatcher(pattern, budget);
  const expression = literal ? pattern.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&") : pattern;
  const compiled: Pattern = compileModelPattern(expression, pattern, { ignoreCase, budget });
  return {
    matches: (line) => compiled.test(line, budget),
    positionIn: (line) => compiled.find(line, budget)?.[0] ?? 0,
  };
}

/**
 * Work units of a search for a plain text in one line: `perLine` units, and one unit for each
 * `charsPerUnit` characters.
 */
const LITERAL_WORK = { perLine: 8, charsPerUnit: 32 };

function literalMatcher(searchedText: string, budget: WorkBudget): LineMatcher {
  return {
    matches(line) {
      budget.spend(LITERAL_WORK.perLine + Math.ceil(line.length / LITERAL_WORK.charsPerUnit));
      return line.includes(searchedText);
    },
    positionIn: (line) => line.indexOf(searchedText),
  };
}

type Search = {
  files: AgentFiles;
  args: Args;
  limits: FileToolLimits;
  signal: ToolContext["signal"];
  budget: WorkBudget;
};
type SearchReport = {
  /** Lines of the result: matching lines and their context. */
  lines: string[];
  /** Number of matching lines in `lines`. */
  matches: number;
  /** Number of files that were searched, binary files included. */
  searched: number;
  /** Number of binary files. */
  binary: number;
  /** Which part was searched, if the search is incomplete; `null` if it is complete. */
  limitReached: string | null;
};

async function search(
  { files, args, limits, signal, budget }: Search,
  matcher: LineMatcher,
): Promise<SearchReport> {
  const root = files.resolve(args.path ?? "/workspace");
  const { paths, more } = await files.walk(root, limits.searchedFiles);
  const searchedPaths =
    args.glob === undefined
      ? paths
      : await matchingPaths({ pattern: args.glob, paths, root }, budget, signal);
  const found: SearchReport = {
    lines: [],
    matches: 0,
    searched: 0,
    binary: 0,
    limitReached: more ? `only the first ${limits.searchedFiles} files` : null,
  };
  let bytes = 0;
  for (const path of searchedPaths) {
    signal.throwIfAborted();
    bytes += (await files.withTree(path, () => files.stat(path))).size;
    if (bytes > limits.searchedBytes)
      found.limitReached = `only ${limits.searchedBytes} bytes of files`;
    if (found.matches >= limits.entries)
      found.limitReached = `only until ${limits.entries} lines matched`;
    if (bytes > limits.searchedBytes || found.matches >= limits.entries) break;
    await addMatches(found, path, decodeText(await files.read(path)), {
      args,
      limits,
      matcher,
      signal,
      budget,
    });
  }
  return found;
}

type LineSearch = Omit<Search, "files"> & { matcher: LineMatcher };

/** Searches one file and adds its matches to the report. `text` is `null` for a binary file. */
async function addMatches(
  found: SearchReport,
  path: string,
  text: string | null,
  search: LineSearch,
): Promise<void> {
  const { args, limits, matcher } = search;
  found.searched++;
  if (text === null) {
    found.binary++;
    return;
  }
  const lines = linesOf(text);
  const hits = await matchingLines(lines, search);
  if (hits.length === 0) return;
  const shown = hits.slice(0, limits.entries - found.matches);
  if (shown.length < hits.length) found.limitReached = `only until ${limits.entries} lines matched`;
  found.matches += shown.length;
  if (args.files_only) found.lines.push(`${path}: ${hits.length}`);
  else
    found.lines.push(
      ...withContext(lines, shown, args.context_lines ?? 0).map(
        formatLine({ path, lines, maxChars: limits.shownLine, matcher }),
      ),
    );
}

/** Returns the indexes of the matching lines. */
async function matchingLines(
  lines: readonly string[],
  { matcher, budget, signal }: LineSearch,
): Promise<number[]> {
  const hits: number[] = [];
  for (const [index, line] of lines.entries()) {
    if (matcher.matches(line.replace(/\r$/, ""))) hits.push(index);
    if (budget.isPauseDue) await budget.pause(signal);
  }
  return hits;
}

type ResultLine = { index: number; isMatch: boolean } | "gap";

/**
 * The matching lines and `contextLines` lines before and after each, without duplicates. A gap
 * separates groups of lines that are not adjacent.
 */
function withContext(
  lines: readonly string[],
  hits: readonly number[],
  contextLines: number,
): ResultLine[] {
  const matching = new Set(hits);
  const shown: ResultLine[] = [];
  let last = -1;
  for (const hit of hits) {
    const first = Math.max(hit - contextLines, last + 1, 0);
    if (contextLines > 0 && last >= 0 && first > last + 1) shown.push("gap");
    for (let index = first; index <= Math.min(hit + contextLines, lines.length - 1); index++) {
      shown.push({ index, isMatch: matching.has(index) });
      last = index;
    }
  }
  return shown;
}

type DisplayOptions = {
  path: string;
  lines: readonly string[];
  maxChars: number;
  matcher: LineMatcher;
};

/** Formats a line as grep does: `path:12:text` for a match, `path-12-text` for context. */
const formatLine =
  ({ path, lines, maxChars, matcher }: DisplayOptions) =>
  (shown: ResultLine): string => {
    if (shown === "gap") return "--";
    const mark = shown.isMatch ? ":" : "-";
    const line = (lines[shown.index] ?? "").replace(/\r$/, "");
    const startOf = () => (shown.isMatch ? matcher.positionIn(line) : 0);
    const text = line.length > maxChars ? excerptOf(line, startOf(), maxChars) : line;
    return `${path}${mark}${shown.index + 1}${mark}${showControls(text)}`;
  };

/** The part of a long line around `position`, where its match starts. */
function excerptOf(line: string, position: number, maxChars: number): string {
  const start = beforePair(
    line,
    Math.max(0, Math.min(position - Math.floor(maxChars / 4), line.length - maxChars)),
  );
  const end = beforePair(line, start + maxChars);
  const where = `[characters ${start} to ${end} of ${line.length} of this line]`;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""} ${where}`;
}

function reportOf(
  { lines, matches, searched, binary, limitReached }: SearchReport,
  args: Args,
  root: string,
  limits: FileToolLimits,
): string {
  const passedOver =
    binary > 0 ? ` ${binary} binary file${binary === 1 ? " was" : "s were"} passed over.` : "";
  const stopped =
    limitReached === null
      ? ""
      : ` The search took in ${limitReached}; narrow the path, the glob or the pattern.`;
  if (matches === 0)
    return `No line matches ${args.pattern} in ${searched} files at ${root}.${passedOver}${stopped}`;
  const { text, hiddenLines } = fitLines(lines, limits.resultBytes);
  const hidden =
    hiddenLines > 0
      ? ` ${hiddenLines} more lines are not shown; narrow the path, the glob or the pattern.`
      : "";
  const notes = `${hidden}${passedOver}${stopped}`.trim();
  return notes === "" ? text : `${text}\n[${notes}]`;
}
