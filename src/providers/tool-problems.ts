import { toolSchemaProblems } from "./gemini/tool-schema";
import type { ToolSpec } from "./provider";
import type { Format } from "./registry";

/**
 * A part of a tool's schema that a format cannot express: the keyword, the JSON pointer within the
 * parameters, and the reason as a clause.
 */
type ToolProblem = { pointer: string; keyword: string; detail: string };

/**
 * Formats whose schemas are a subset of JSON Schema. Their adapters refuse a request with such a
 * tool.
 */
const PROBLEMS: Partial<Record<Format, (tool: ToolSpec) => ToolProblem[]>> = {
  gemini: toolSchemaProblems,
};

/**
 * The first reason why models of a wire format cannot use a tool; `null` if they can. Pure, and
 * bounded for any schema.
 */
export function toolProblem(format: Format, tool: ToolSpec): ToolProblem | null {
  return PROBLEMS[format]?.(tool)[0] ?? null;
}

/** The same as a clause, for readers who cannot change the schema. */
export function whyUnfit({ pointer, keyword, detail }: ToolProblem): string {
  return `its schema is not supported by the agent's model: \`${keyword}\`${pointer === "" ? "" : ` at ${pointer}`}: ${detail}`;
}
