import { toolSchemaProblems } from "./gemini/tool-schema";
import type { ToolSpec } from "./provider";
import type { Format } from "./registry";

/** What of a tool cannot be said: the keyword, the JSON pointer of its schema within the parameters, and why, as a clause. */
export type ToolProblem = { pointer: string; keyword: string; detail: string };

/** Formats whose schemas are less than JSON Schema: their adapters refuse a request with a tool that has such a problem. */
const PROBLEMS: Partial<Record<Format, (tool: ToolSpec) => ToolProblem[]>> = {
  gemini: toolSchemaProblems,
};

/** Why models of a wire format cannot be offered a tool, the first reason; null: they can. Pure; bounded, whatever the schema. */
export function toolProblem(format: Format, tool: ToolSpec): ToolProblem | null {
  return PROBLEMS[format]?.(tool)[0] ?? null;
}

/** The same as a clause, for whoever cannot change the schema. */
export function whyUnfit({ pointer, keyword, detail }: ToolProblem): string {
  return `the agent's model cannot be told of it: \`${keyword}\`${pointer === "" ? "" : ` at ${pointer}`}: ${detail}`;
}
