import { z } from "zod";
import { PatternError } from "../../patterns";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import type { Tool, ToolContext, ToolResult } from "../tool";

/**
 * A file tool as its author writes it: a schema and a function. Mistakes of the model (arguments,
 * paths) become error results with a remedy. Any other error is a fault of ours and is thrown.
 */
export type FileToolDefinition<Schema extends z.ZodObject> = {
  name: string;
  /** Shown to the model: purpose and limits, nothing else. */
  description: string;
  schema: Schema;
  /** As in `Tool`; default true. */
  staysInside?: boolean;
  /** The text of the result. Throws `FileError` for mistakes of the model. */
  run(args: z.infer<Schema>, files: AgentFiles, context: ToolContext): Promise<string | ToolResult>;
};

/**
 * Changes are staged until the call settles, so repeating a call has no further effect:
 * `idempotent`.
 */
export function defineFileTool<Schema extends z.ZodObject>(
  definition: FileToolDefinition<Schema>,
): Tool {
  const { name, description, schema, staysInside = true } = definition;
  return {
    spec: { name, description, parameters: knownParameters(schema) },
    rule: { name, acts_outside: false, idempotent: true },
    staysInside,
    async run(args, context) {
      const parsed = schema.safeParse(withoutNulls(args));
      if (!parsed.success) return failed(argumentProblems(name, parsed.error));
      if (!context.files)
        return failed(
          "There is no workspace here, so there are no files to work on. Answer without them.",
        );
      try {
        const result = await definition.run(parsed.data, context.files, context);
        return typeof result === "string" ? { outcome: "ok", text: result } : result;
      } catch (error) {
        if (error instanceof FileError || error instanceof PatternError)
          return failed(error.message);
        throw error;
      }
    },
  };
}

const failed = (text: string): ToolResult => ({ outcome: "error", text });

/**
 * Tools are created for each call of an agent, but schemas are cached: converting one to JSON
 * Schema is the slowest part.
 */
const parametersOf = new WeakMap<z.ZodObject, Record<string, unknown>>();

function knownParameters(schema: z.ZodObject): Record<string, unknown> {
  const known = parametersOf.get(schema) ?? toParameters(schema);
  parametersOf.set(schema, known);
  return known;
}

/**
 * JSON Schema in the form that providers accept: without `$schema`, and without the bounds of safe
 * integers.
 */
function toParameters(schema: z.ZodObject): Record<string, unknown> {
  const { $schema: _, ...parameters } = z.toJSONSchema(schema, {
    io: "input",
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
    },
  });
  return parameters;
}

/** Some models write `null` for an omitted argument. */
function withoutNulls(args: unknown): unknown {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return args;
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

function argumentProblems(tool: string, error: z.ZodError): string {
  const problems = error.issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`);
  return `The arguments of ${tool} are not right, so nothing was done. ${problems.join("; ")}.`;
}
