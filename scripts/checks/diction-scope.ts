/** Decides which texts the language check reads. It does not check texts that only models read. */

/** Folders with strings that people read: in responses, on a terminal, on a page. */
const STRING_FOLDERS = ["src/", "cli/", "scripts/", "local/", "client/", "durable-objects/", "d1/"];

/** A folder, whose path ends in `/`, or a file, and the kind of its strings. */
type Exclusion = { path: string; reason: string };

/**
 * Parts of those folders whose strings people do not read. Texts for models must not change,
 * because models behave differently after another wording.
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

/** Whether people read the sentences among the strings of this file. */
export function isForPeople(path: string): boolean {
  return (
    STRING_FOLDERS.some((folder) => path.startsWith(folder)) &&
    !path.endsWith(".test.ts") &&
    !NOT_FOR_PEOPLE.some((excluded) => path.startsWith(excluded.path))
  );
}

/**
 * The folder in which a file is counted: a subfolder of `src/` or `durable-objects/`, else a top
 * folder.
 */
export function folderOf(path: string): string {
  const segments = path.split("/").slice(0, -1);
  const isDeep = segments[0] === "src" || segments[0] === "durable-objects";
  return segments.slice(0, isDeep ? 2 : 1).join("/") || ".";
}
