import { z } from "zod";
import { PatternError } from "../../patterns";
import type { AgentFiles } from "../../workspace/agent-files";
import { FileError } from "../../workspace/types";
import type { Tool, ToolContext, ToolResult } from "../tool";

/**
 * A tool over an agent's files as its author writes it: a schema and a function. What the model gets wrong (arguments, paths) comes
 * back as an error result that says what to do; anything else that is thrown is a fault of ours, for whoever runs the tool to deal with.
 */
export type FileToolDefinition<Schema extends z.ZodObject> = {
  name: string;
  /** What the model is told: what it does, its limits, no more. */
  description: string;
  schema: Schema;
  /** As of `Tool`; absent: it does. */
  staysInside?: boolean;
  /** The text of the result. Throws `FileError` for what the model did wrong. */
  run(args: z.infer<Schema>, files: AgentFiles, context: ToolContext): Promise<string | ToolResult>;
};

/** What it changes is staged until the call settles, so a repeated call does no more than one: `idempotent` to the rules. */
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

/** Tools are made anew for each call of an agent, their schemas are not: turning one into JSON Schema takes longer than all else. */
const parametersOf = new WeakMap<z.ZodObject, Record<string, unknown>>();

function knownParameters(schema: z.ZodObject): Record<string, unknown> {
  const known = parametersOf.get(schema) ?? toParameters(schema);
  parametersOf.set(schema, known);
  return known;
}

/** JSON Schema as providers take it: no `$schema`, and no bound that only says that a number is one. */
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

/** Some models write `null` for an argument they leave out. */
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
