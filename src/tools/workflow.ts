import { WORKFLOW_TOOLS, type WorkflowTool } from "../coordination/tool/offers";
import type { ToolSpec } from "../providers/provider";

/** Names, descriptions and schemas of the coordination tools. The rules are in `coordination/`. */

type JsonSchema = Record<string, unknown>;

/** The tools of each team so far, by its aliases. Every call of a team uses the same few. */
const toolsOfTeams = new WeakMap<readonly string[], Map<WorkflowTool, ToolSpec>>();

/**
 * The coordination tools in `names`, always in the same order: providers cache prompts by prefix.
 * The same `aliases` give the same objects, which must not be changed.
 */
export function workflowTools(names: readonly string[], aliases: readonly string[]): ToolSpec[] {
  const tools = toolsOfTeams.get(aliases) ?? new Map<WorkflowTool, ToolSpec>();
  toolsOfTeams.set(aliases, tools);
  return WORKFLOW_TOOLS.filter((name) => names.includes(name)).map((name) => {
    const tool = tools.get(name) ?? toolSpec(name, aliases.toSorted(byNumber));
    tools.set(name, tool);
    return tool;
  });
}

/**
 * Sorts aliases by number: `agent10` follows `agent9`. Compares strings, because this is faster.
 */
const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);

function toolSpec(name: WorkflowTool, aliases: readonly string[]): ToolSpec {
  switch (name) {
    case "new_answer":
      return {
        name,
        description:
          "Submit your complete answer to the original message. It replaces your earlier answer, if you gave one.",
        parameters: objectSchema({
          content: textSchema(
            "The whole answer as the reader should see it. Nothing outside this field is seen by anyone.",
          ),
        }),
      };
    case "vote":
      return {
        name,
        description: "Vote for the agent whose newest answer serves the original message best.",
        parameters: objectSchema({
          agent_id: {
            type: "string",
            enum: [...aliases],
            description: "The agent whose answer you vote for.",
          },
          reason: textSchema("What makes it the best of the current answers, in a few sentences."),
        }),
      };
    case "submit":
      return {
        name,
        description: "Accept the final reply: it goes to the user.",
        parameters: objectSchema({
          confirmed: { type: "boolean", description: "true: the reply serves the user well." },
        }),
      };
    case "restart_orchestration":
      return {
        name,
        description:
          "Reject the final reply: the team begins again with your reason and instructions.",
        parameters: objectSchema({
          reason: textSchema("What is wrong with the reply, exactly."),
          instructions: textSchema("What the team must do differently in the next attempt."),
        }),
      };
    case "assign_personas":
      return {
        name,
        description: "Give each agent of the team its persona.",
        parameters: objectSchema({
          personas: {
            type: "array",
            items: personaSchema(aliases),
            description: "One entry for every agent.",
          },
        }),
      };
  }
}

function personaSchema(aliases: readonly string[]): JsonSchema {
  return objectSchema({
    agent_id: { type: "string", enum: [...aliases], description: "The agent the persona is for." },
    persona: textSchema("Two to five sentences in the second person."),
  });
}

const textSchema = (description: string): JsonSchema => ({ type: "string", description });

/** An object schema that requires every property and allows no others. */
function objectSchema(properties: Record<string, JsonSchema>): JsonSchema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}
