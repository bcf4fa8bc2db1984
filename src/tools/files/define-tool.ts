import * as z from "zod";
import { PatternError } from "../../patterns";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import type { Tool, ToolContext, ToolResult } from "../tool";

/**
 * Definition of a file tool: a schema and a function. A mistake of the model (arguments, paths)
 * becomes an error result that says how to correct it. Any other error is thrown.
 */
export type FileToolDefinition<Schema extends z.ZodObject> = {
  name: string;
  /** The text for the model: only the purpose and the limits of the tool. */
  description: string;
  schema: Schema;
  /** See `Tool.staysInside`. Default: true. */
  staysInside?: boolean;
  /** Returns the result, or its text. Throws `FileError` for mistakes of the model. */
  run(args: z.infer<Schema>, files: AgentFiles, context: ToolContext): Promise<string | ToolResult>;
};

/**
 * Creates a tool from its definition. The tool is `idempotent`: file changes are staged until the
 * call settles, so a repeated call has no further effect.
 */
export function defineFileTool<Schema extends z.ZodObject>(
  definition: FileToolDefinition<Schema>,
): Tool {
  const { name, description, schema, staysInside = true } = definition;
  return {
    spec: { name, description, parameters: cachedParameters(schema) },
    rule: { name, acts_outside: false, idempotent: true },
    staysInside,
    async run(args, context) {
      const parsed = schema.safeParse(withoutNulls(args));
      if (!parsed.success) return errorResult(argumentProblems(name, parsed.error));
      if (!context.files)
        return errorResult(
          "There is no workspace here, so there are no files to work on. Answer without them.",
        );
      try {
        const result = await definition.run(parsed.data, context.files, context);
        return typeof result === "string" ? { outcome: "ok", text: result } : result;
      } catch (error) {
        if (error instanceof FileError || error instanceof PatternError)
          return errorResult(error.message);
        throw error;
      }
    },
  };
}

const errorResult = (text: string): ToolResult => ({ outcome: "error", text });

/**
 * Cache of converted schemas. Tools are created for each call of an agent, and the conversion of a
 * schema to JSON Schema is the slowest part.
 */
const PARAMETERS_BY_SCHEMA = new WeakMap<z.ZodObject, Record<string, unknown>>();

function cachedParameters(schema: z.ZodObject): Record<string, unknown> {
  const parameters = PARAMETERS_BY_SCHEMA.get(schema) ?? toParameters(schema);
  PARAMETERS_BY_SCHEMA.set(schema, parameters);
  return parameters;
}

/**
 * Converts a schema to JSON Schema in the form that providers accept: without `$schema`, and
 * without the bounds of safe integers.
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

/** Removes arguments that are `null`: some models write `null` for an omitted argument. */
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
