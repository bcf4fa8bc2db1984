/** Which texts the check of the language reads, and which it leaves to their readers: models. */

/** Folders whose strings people read: in replies, on a terminal, on a page. */
const STRING_FOLDERS = ["src/", "cli/", "scripts/", "local/", "client/", "durable-objects/", "d1/"];

/** A folder, with `/` at its end, or a file, and why its strings do not count. */
type Exclusion = { path: string; reason: string };

/**
 * Strings in those folders that people do not read. Texts for models stay byte for byte, because
 * another wording is another behaviour.
 */
const NOT_FOR_PEOPLE: readonly Exclusion[] = [
  { path: "src/prompts/", reason: "prompts" },
  { path: "src/tools/", reason: "descriptions, results and refusals of tools" },
  { path: "src/coordination/attempt/", reason: "instructions and nudges for agents" },
  { path: "src/coordination/decision/", reason: "refusals of answers and votes" },
  { path: "src/coordination/call/compaction.ts", reason: "the notice in place of a summary" },
  { path: "src/coordination/tool/", reason: "results of tools that did not run" },
  { path: "src/agents/", reason: "parts of conversations with models" },
  { path: "src/workspace/", reason: "refusals of file tools" },
  { path: "src/patterns/", reason: "refusals of patterns that agents write" },
  { path: "src/providers/gemini/parts.ts", reason: "parts of conversations with models" },
  { path: "scripts/checks/diction.ts", reason: "the list of these words" },
  { path: "scripts/demo/", reason: "the scripted replies of simulated models" },
];

/** Whether sentences among the strings of this file are for people. */
export function isForPeople(path: string): boolean {
  return (
    STRING_FOLDERS.some((folder) => path.startsWith(folder)) &&
    !path.endsWith(".test.ts") &&
    !NOT_FOR_PEOPLE.some((excluded) => path.startsWith(excluded.path))
  );
}

/** The folder a file is counted in: a room of `src/` or `durable-objects/`, else a top folder. */
export function folderOf(path: string): string {
  const segments = path.split("/").slice(0, -1);
  const isDeep = segments[0] === "src" || segments[0] === "durable-objects";
  return segments.slice(0, isDeep ? 2 : 1).join("/") || ".";
}
