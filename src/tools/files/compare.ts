import { createTwoFilesPatch } from "diff";
import { z } from "zod";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import type { Tool } from "../tool";
import { defineFileTool } from "./define-tool";
import type { FileToolLimits } from "./limits";
import { fittingLines } from "./page";
import { decodeText, linesOf } from "./text";

/** Lines that may differ in all; the time of a comparison grows with the square of it. */
const MOST_CHANGES = 4_000;

const schema = z.strictObject({
  first: z.string().describe("e.g. app.py"),
  second: z.string().describe("e.g. /peers/agent2/app.py"),
});

/** `compare_files`: what differs, as a unified diff. */
export const compareFilesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_files",
    description: "Compares two text files and shows what differs as a unified diff.",
    schema,
    async run({ first, second }, files) {
      const [left, right] = [files.resolve(first), files.resolve(second)];
      const [before, after] = [await files.read(left), await files.read(right)];
      if (files.stat(left).hash === files.stat(right).hash) return `${left} and ${right} are the same.`;
      const [old, now] = [decodeText(before), decodeText(after)];
      if (old === null || now === null)
        return `${left} (${before.length} bytes) and ${right} (${after.length} bytes) differ, and are not both text.`;
      const patch = createTwoFilesPatch(left, right, old, now, undefined, undefined, { maxEditLength: MOST_CHANGES });
      if (patch === undefined) return `${left} and ${right} differ in more than ${MOST_CHANGES} lines: too many to show.`;
      return diffText(patch, limits);
    },
  });

function diffText(patch: string, { resultBytes }: FileToolLimits): string {
  const lines = linesOf(patch).filter((line) => !/^=+$/.test(line));
  const { text, left } = fittingLines(lines, resultBytes);
  return left === 0 ? text : `${text}\n[${left} more lines of the difference are not shown.]`;
}

/** `compare_directories`: which files differ, told by their hashes, without reading them. */
export const compareDirectoriesTool = (limits: FileToolLimits): Tool =>
  defineFileTool({
    name: "compare_directories",
    description:
      "Compares two directories with all that is in them: which files are only in one, and which differ. Then use compare_files.",
    schema,
    async run({ first, second }, files) {
      const [left, right] = [treeAt(files, first, limits), treeAt(files, second, limits)];
      const changes = differences(left.hashes, right.hashes);
      if (changes.length === 0) return `${left.root} and ${right.root} hold the same ${left.hashes.size} files.`;
      const head = `- only in ${left.root}\n+ only in ${right.root}\n! in both, with other contents`;
      const { text, left: hidden } = fittingLines(changes.slice(0, limits.entries), limits.resultBytes);
      const more = hidden + Math.max(0, changes.length - limits.entries);
      return `${head}\n\n${text}${more > 0 ? `\n[${more} more differ. Compare directories further down.]` : ""}`;
    },
  });

type Hashes = ReadonlyMap<string, string | null>;

function treeAt(files: AgentFiles, path: string, { searchedFiles }: FileToolLimits): { root: string; hashes: Hashes } {
  const root = files.resolve(path);
  if (files.stat(root).kind === "file") throw new FileError("not_a_directory", `${root} is a file. Use compare_files.`);
  const { paths, more } = files.walk(root, searchedFiles);
  if (more)
    throw new FileError("too_many_files", `${root} holds more than ${searchedFiles} files. Compare directories further down.`);
  return { root, hashes: new Map(paths.map((file) => [file.slice(root === "/" ? 1 : root.length + 1), files.stat(file).hash])) };
}

function differences(left: Hashes, right: Hashes): string[] {
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.flatMap((path) => {
    if (!right.has(path)) return [`- ${path}`];
    if (!left.has(path)) return [`+ ${path}`];
    return left.get(path) === right.get(path) ? [] : [`! ${path}`];
  });
}
