import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Every document that people read, with its text. Generated and recorded pages included. */
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

/** What people type or read as code: fenced blocks and spans. */
export const codeOf = (text: string): string[] => [
  ...[...text.matchAll(/^```\w*\n(.*?)^```/gms)].flatMap(([, block = ""]) =>
    block.replaceAll("\\\n", " ").split("\n"),
  ),
  ...[...text.replaceAll(/^```\w*\n.*?^```/gms, "").matchAll(/`([^`\n]+)`/g)].map(
    ([, span = ""]) => span,
  ),
];

/** Fenced blocks of a language. */
export const blocksOf = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "gms"))].map(
    ([, block = ""]) => block,
  );

/** Pages about the past, which may name removed parts. */
export const isRecord = ({ file }: Document): boolean =>
  file.startsWith(path.join("docs", "proof")) || file.startsWith(path.join("docs", "decisions"));
