import { z } from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import { beforePair, showControls } from "../results";
import type { Tool, ToolContext } from "../tool";
import { defineFileTool } from "./define-tool";
import { below, compilePattern, globMatcher } from "./glob";
import { fittingInto, type FileToolLimits } from "./limits";
import { fittingLines } from "./page";
import { decodeText, linesOf } from "./text";

const schema = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .describe("A regular expression in RE2's grammar (no look-around, no back-references), matched line by line."),
  path: z.string().optional().describe("A file or directory; default /workspace. / searches peers and contexts too."),
  glob: z.string().optional().describe("Only files whose path matches, e.g. *.py or src/**."),
  literal: z.boolean().optional().describe("Takes the pattern as plain text."),
  ignore_case: z.boolean().optional(),
  context_lines: z.int().min(0).max(10).optional().describe("Lines to show before and after each match."),
  files_only: z.boolean().optional().describe("Only lists the files, with the number of matching lines."),
});
type Args = z.infer<typeof schema>;

/** `grep`: lines that match, in time that grows with the size of the files only. */
export const grepTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "grep",
    description: "Searches the contents of files for lines that match. Results are path:line:text. Binary files are passed over.",
    schema,
    async run(args, files, context) {
      const room = fittingInto(limits, context);
      const found = await search({ files, args, limits: room, signal: context.signal }, lineMatcher(args));
      return reportOf(found, args, files.resolve(args.path ?? "/workspace"), room);
    },
  });

type LineMatcher = {
  matches(line: string): boolean;
  /** Where the match of a line that matches begins. */
  positionIn(line: string): number;
};

function lineMatcher({ pattern, literal, ignore_case }: Args): LineMatcher {
  const ignoreCase = ignore_case ?? false;
  if (literal && !ignoreCase) return { matches: (line) => line.includes(pattern), positionIn: (line) => line.indexOf(pattern) };
  const expression = literal ? pattern.replaceAll(/[\\^$.|?*+()[\]{}]/g, "\\$&") : pattern;
  const compiled = compilePattern(expression, pattern, { ignoreCase });
  const positionIn = (line: string): number => {
    const matcher = compiled.matcher(line);
    return matcher.find() ? matcher.start() : 0;
  };
  return { matches: (line) => compiled.test(line), positionIn };
}

type Search = { files: AgentFiles; args: Args; limits: FileToolLimits; signal: ToolContext["signal"] };
type Found = {
  /** Lines to show, and how many of them match. */
  lines: string[];
  matches: number;
  searched: number;
  binary: number;
  /** Why not everything was searched; null if it was. */
  cut: string | null;
};

async function search({ files, args, limits, signal }: Search, matcher: LineMatcher): Promise<Found> {
  const root = files.resolve(args.path ?? "/workspace");
  const isWanted = args.glob === undefined ? () => true : globMatcher(args.glob);
  const { paths, more } = files.walk(root, limits.searchedFiles);
  const found: Found = {
    lines: [],
    matches: 0,
    searched: 0,
    binary: 0,
    cut: more ? `only the first ${limits.searchedFiles} files` : null,
  };
  let bytes = 0;
  for (const path of paths.filter((file) => isWanted(below(file, root)))) {
    signal.throwIfAborted();
    bytes += files.stat(path).size;
    if (bytes > limits.searchedBytes) found.cut = `only ${limits.searchedBytes} bytes of files`;
    if (found.matches >= limits.entries) found.cut = `only until ${limits.entries} lines matched`;
    if (bytes > limits.searchedBytes || found.matches >= limits.entries) break;
    addMatches(found, path, decodeText(await files.read(path)), { args, limits, matcher });
  }
  return found;
}

type Matching = { args: Args; limits: FileToolLimits; matcher: LineMatcher };

function addMatches(found: Found, path: string, text: string | null, { args, limits, matcher }: Matching): void {
  found.searched++;
  if (text === null) {
    found.binary++;
    return;
  }
  const lines = linesOf(text);
  const hits = lines.flatMap((line, index) => (matcher.matches(line.replace(/\r$/, "")) ? [index] : []));
  if (hits.length === 0) return;
  const shown = hits.slice(0, limits.entries - found.matches);
  if (shown.length < hits.length) found.cut = `only until ${limits.entries} lines matched`;
  found.matches += shown.length;
  if (args.files_only) found.lines.push(`${path}: ${hits.length}`);
  else
    found.lines.push(
      ...withContext(lines, shown, args.context_lines ?? 0).map(shownLine({ path, lines, most: limits.shownLine, matcher })),
    );
}

type Shown = { index: number; isMatch: boolean } | "gap";

/** Matching lines and those around them, each once; groups that do not touch are set apart. */
function withContext(lines: readonly string[], hits: readonly number[], around: number): Shown[] {
  const matching = new Set(hits);
  const shown: Shown[] = [];
  let last = -1;
  for (const hit of hits) {
    const first = Math.max(hit - around, last + 1, 0);
    if (around > 0 && last >= 0 && first > last + 1) shown.push("gap");
    for (let index = first; index <= Math.min(hit + around, lines.length - 1); index++) {
      shown.push({ index, isMatch: matching.has(index) });
      last = index;
    }
  }
  return shown;
}

type Showing = { path: string; lines: readonly string[]; most: number; matcher: LineMatcher };

/** As grep writes them: `path:12:text` for a match, `path-12-text` for what is around it. */
const shownLine =
  ({ path, lines, most, matcher }: Showing) =>
  (shown: Shown): string => {
    if (shown === "gap") return "--";
    const mark = shown.isMatch ? ":" : "-";
    const line = (lines[shown.index] ?? "").replace(/\r$/, "");
    const isLong = line.length > most;
    const text = isLong ? around(line, shown.isMatch ? matcher.positionIn(line) : 0, most) : line;
    return `${path}${mark}${shown.index + 1}${mark}${showControls(text)}`;
  };

/** The part of a long line in which the match begins. */
function around(line: string, position: number, most: number): string {
  const start = beforePair(line, Math.max(0, Math.min(position - Math.floor(most / 4), line.length - most)));
  const end = beforePair(line, start + most);
  const where = `[characters ${start} to ${end} of ${line.length} of this line]`;
  return `${start > 0 ? "…" : ""}${line.slice(start, end)}${end < line.length ? "…" : ""} ${where}`;
}

function reportOf({ lines, matches, searched, binary, cut }: Found, args: Args, root: string, limits: FileToolLimits): string {
  const passedOver = binary > 0 ? ` ${binary} binary file${binary === 1 ? " was" : "s were"} passed over.` : "";
  const stopped = cut === null ? "" : ` The search took in ${cut}; narrow the path, the glob or the pattern.`;
  if (matches === 0) return `No line matches ${args.pattern} in ${searched} files at ${root}.${passedOver}${stopped}`;
  const { text, left } = fittingLines(lines, limits.resultBytes);
  const hidden = left > 0 ? ` ${left} more lines are not shown; narrow the path, the glob or the pattern.` : "";
  const notes = `${hidden}${passedOver}${stopped}`.trim();
  return notes === "" ? text : `${text}\n[${notes}]`;
}
