import * as z from "zod";
import { ToolRuleSchema } from "../team";
import { count, ofAgent, ofTool } from "./fields";

/**
 * Events of tools, and the notifications for people that a tool server sends while one of its tools
 * runs. The texts of a notification are untrusted, but already sanitized for display.
 */

const origin = z.string().describe("Origin of the tool server: scheme, host and port");

/** One request of a tool server for input by a person. */
const RequestToPersonSchema = z.object({
  kind: z
    .enum(["form", "url", "other"])
    .describe("`form`: fill in a form. `url`: open an address. `other`: see `message`"),
  message: z.string().describe("Text from the tool server"),
  url: z
    .string()
    .nullable()
    .describe("https address for the person to open; `null` if there is none or it is not shown"),
  refused: z
    .string()
    .nullable()
    .describe("Why the address is not shown, as a clause; `null` if there is none or it is shown"),
});
export type RequestToPerson = z.infer<typeof RequestToPersonSchema>;

export const InputRequiredSchema = z.object({
  origin,
  requests: z.array(RequestToPersonSchema).describe("The requests of the tool server"),
  more: count
    .optional()
    .describe("Number of further requests that are not listed. Omitted if all are listed"),
});
export type InputRequired = z.infer<typeof InputRequiredSchema>;

export const ToolProgressSchema = z.object({
  origin,
  progress: z.number().describe("Progress so far, in the tool server's unit"),
  total: z.number().nullable().describe("Final value of `progress`; `null` if unknown"),
  message: z.string().nullable().describe("Text from the tool server; `null` if there is no text"),
});
export type ToolProgress = z.infer<typeof ToolProgressSchema>;

/**
 * A notification of a tool server. `elicitation`: the server requests input from a person; the
 * service does not answer the request.
 */
export type ToolNotification =
  | ({ type: "progress" } & ToolProgress)
  | ({ type: "elicitation" } & InputRequired);

/** A tool of a tool server that an agent is offered. */
const ListedToolSchema = ToolRuleSchema.extend({
  tool: z.string().describe("Name of the tool on the server; `name` is the agent's name for it"),
  hash: z
    .string()
    .describe("SHA-256 of the tool's name, title, description and schemas, in lower-case hex"),
});
export type ListedTool = z.infer<typeof ListedToolSchema>;

const RefusedToolSchema = z.object({
  tool: z.string().describe("Name of the tool on the server"),
  why: z.string().describe("Why the tool is not offered, as a clause"),
  changed: z
    .boolean()
    .describe("Whether the tool differs from the one that the session first listed"),
});

/** The tools of one tool server for one agent. */
const ToolsListingSchema = z.object({
  server: z.string().describe("Name of the tool server in the config"),
  version: z
    .string()
    .nullable()
    .describe("Revision of MCP that the server uses; `null` if it is not known"),
  problem: z
    .string()
    .nullable()
    .describe("Why the server cannot be used, as a sentence; `null` if it can be used"),
  tools: z.array(ListedToolSchema).describe("The tools that the agent is offered"),
  refused: z.array(RefusedToolSchema).describe("The tools that are not offered"),
  more_refused: count
    .optional()
    .describe("Number of refused tools that are not listed. Omitted if all are listed"),
});
export type ToolsListing = z.infer<typeof ToolsListingSchema>;

/** Events of agents' own tools and of their servers. */
export const TOOL_EVENTS = [
  /**
   * Replaces the earlier listing of the same server in this turn. The first listing with a tool
   * pins that tool for the session: if the tool changes later, it is not offered.
   */
  z.object({ type: z.literal("tools.listed"), ...ofAgent, ...ToolsListingSchema.shape }),
  z.object({ type: z.literal("tool.started"), ...ofTool }),
  /** Recorded at intervals, not for each notification of the server. */
  z.object({ type: z.literal("tool.progressed"), ...ofTool, ...ToolProgressSchema.shape }),
  /** For display only: the service does not wait for input and does not answer the server. */
  z.object({ type: z.literal("tool.input_required"), ...ofTool, ...InputRequiredSchema.shape }),
  z.object({
    type: z.literal("tool.completed"),
    ...ofTool,
    outcome: z
      .enum(["ok", "error", "planned", "refused"])
      .describe(
        "`planned`: not run, because the tool acts outside and the team is in planning mode. `refused`: not run, because a limit of the reply or of the turn is reached",
      ),
  }),
  /** A restart interrupted the tool. It is safe to repeat, so it runs again. */
  z.object({ type: z.literal("tool.interrupted"), ...ofTool }),
  z.object({
    type: z.literal("tool.unknown"),
    ...ofTool,
    message: z
      .string()
      .optional()
      .describe("Start of the tool's output. Omitted if there is no output"),
  }),
] as const;
