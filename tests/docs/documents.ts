import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** A document that people read. Some are generated, and some are records. */
export type Document = { file: string; text: string };

const ROOTS = ["README.md", "AGENTS.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];
const FOLDERS = ["docs", "cli", "client", "r2-layout"];

export const DOCUMENTS: readonly Document[] = [
  ...ROOTS,
  ...FOLDERS.flatMap((folder) => markdownIn(folder)),
].map((file) => ({ file, text: readFileSync(file, "utf8") }));

function markdownIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
      .map((file) => path.join(folder, file))
      .sort();
  } catch {
    return []; // the repository has no such folder
  }
}

/** The code in a document: the lines of fenced blocks, and the spans. */
export const codeOf = (text: string): string[] => [
  ...[...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n"),
  ),
  ...[...text.replaceAll(/^```\w*\n.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)].map(
    ([, span = ""]) => span,
  ),
];

/** The contents of a language's fenced blocks. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    ([, block = ""]) => block,
  );

/** Whether a page is a record of the past. Such pages may name removed parts. */
export const isRecord = ({ file }: Document): boolean =>
  file.startsWith(path.join("docs", "proof")) || file.startsWith(path.join("docs", "decisions"));
