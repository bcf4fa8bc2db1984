import { WORKFLOW_TOOLS, type WorkflowTool } from "../coordination/tool/offers";
import type { ToolSpec } from "../providers/provider";

/**
 * Names, descriptions and schemas of the coordination tools. Their rules are in `coordination/`.
 */

type JsonSchema = Record<string, unknown>;

/** Schemas of the named tools, always in the same order, because prompt caches depend on it. */
export function workflowTools(names: readonly string[], aliases: readonly string[]): ToolSpec[] {
  const team = aliases.toSorted(byNumber);
  return WORKFLOW_TOOLS.filter((name) => names.includes(name)).map((name) => toolSpec(name, team));
}

/** By number: `agent10` follows `agent9`. Compares strings, because this runs for every request. */
const byNumber = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : 1);

function toolSpec(name: WorkflowTool, aliases: readonly string[]): ToolSpec {
  switch (name) {
    case "new_answer":
      return {
        name,
        description:
          "Submit your complete answer to the original message. It replaces your earlier answer, if you gave one.",
        parameters: object({
          content: text(
            "The whole answer as the reader should see it. Nothing outside this field is seen by anyone.",
          ),
        }),
      };
    case "vote":
      return {
        name,
        description: "Vote for the agent whose newest answer serves the original message best.",
        parameters: object({
          agent_id: {
            type: "string",
            enum: [...aliases],
            description: "The agent whose answer you vote for.",
          },
          reason: text("What makes it the best of the current answers, in a few sentences."),
        }),
      };
    case "submit":
      return {
        name,
        description: "Accept the final reply: it goes to the user.",
        parameters: object({
          confirmed: { type: "boolean", description: "true: the reply serves the user well." },
        }),
      };
    case "restart_orchestration":
      return {
        name,
        description:
          "Reject the final reply: the team begins again with your reason and instructions.",
        parameters: object({
          reason: text("What is wrong with the reply, exactly."),
          instructions: text("What the team must do differently in the next attempt."),
        }),
      };
    case "assign_personas":
      return {
        name,
        description: "Give each agent of the team its persona.",
        parameters: object({
          personas: {
            type: "array",
            items: persona(aliases),
            description: "One entry for every agent.",
          },
        }),
      };
  }
}

function persona(aliases: readonly string[]): JsonSchema {
  return object({
    agent_id: { type: "string", enum: [...aliases], description: "The agent the persona is for." },
    persona: text("Two to five sentences in the second person."),
  });
}

const text = (description: string): JsonSchema => ({ type: "string", description });

/** An object schema that requires every property and allows no others. */
function object(properties: Record<string, JsonSchema>): JsonSchema {
  return {
    type: "object",
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}
