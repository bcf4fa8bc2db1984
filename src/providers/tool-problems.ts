import { toolSchemaProblems } from "./gemini/tool-schema";
import type { ToolSpec } from "./provider";
import type { Format } from "./registry";

/**
 * A part of the schema of a tool that a format cannot express: the keyword, its JSON Pointer within
 * the parameters, and the reason as a clause.
 */
type ToolProblem = { pointer: string; keyword: string; detail: string };

/**
 * Formats that support only a subset of JSON Schema. Their adapters refuse a request with a tool
 * that has such a problem.
 */
const PROBLEMS_BY_FORMAT: Partial<Record<Format, (tool: ToolSpec) => ToolProblem[]>> = {
  gemini: toolSchemaProblems,
};

/**
 * The first reason why models with this wire format cannot use a tool; `null` if they can. Pure.
 * The work is limited for any schema.
 */
export function toolProblem(format: Format, tool: ToolSpec): ToolProblem | null {
  return PROBLEMS_BY_FORMAT[format]?.(tool)[0] ?? null;
}

/** The problem as a clause, for readers who cannot change the schema. */
export function whyUnfit({ pointer, keyword, detail }: ToolProblem): string {
  return `its schema is not supported by the agent's model: \`${keyword}\`${pointer === "" ? "" : ` at ${pointer}`}: ${detail}`;
}
