import { z } from "zod";
import { ToolRuleSchema } from "../team";
import { ofAgent, ofTool } from "./fields";

/**
 * What a tool server sends to people while one of its tools runs. The texts are untrusted and
 * already sanitized for display.
 */

/** Origin of the tool server: scheme, host and port. */
const origin = z.string();

/** One request of a tool server to a person. */
const RequestToPersonSchema = z.object({
  /** To fill in a form, to open an address, or something else that `message` names. */
  kind: z.enum(["form", "url", "other"]),
  /** The server's text. */
  message: z.string(),
  /** https address for the person to open; `null` if there is none or it is not shown. */
  url: z.string().nullable(),
  /** Why the address is not shown, as a clause; `null` if there is none or it is shown. */
  refused: z.string().nullable(),
});
export type RequestToPerson = z.infer<typeof RequestToPersonSchema>;

export const InputRequiredSchema = z.object({
  origin,
  requests: z.array(RequestToPersonSchema),
  /** Number of further requests that are not listed. */
  more: z.number().int().optional(),
});
export type InputRequired = z.infer<typeof InputRequiredSchema>;

export const ToolProgressSchema = z.object({
  origin,
  progress: z.number(),
  /** Final value of `progress`; `null` if unknown. */
  total: z.number().nullable(),
  message: z.string().nullable(),
});
export type ToolProgress = z.infer<typeof ToolProgressSchema>;

/** `elicitation`: the server requested input from a person; the service does not answer it. */
export type ToolNotification =
  | ({ type: "progress" } & ToolProgress)
  | ({ type: "elicitation" } & InputRequired);

/** A tool of a tool server, as an agent is offered it. */
const ListedToolSchema = ToolRuleSchema.extend({
  /** As the server calls it; `name` is what the agent knows it by. */
  tool: z.string(),
  /** SHA-256 of its name, title, description and schemas, in hex. */
  hash: z.string(),
});
export type ListedTool = z.infer<typeof ListedToolSchema>;

/** What one tool server has for one agent. */
const ToolsListingSchema = z.object({
  /** By its name in the config. */
  server: z.string(),
  /** The revision of the protocol that it speaks; null: nobody knows. */
  version: z.string().nullable(),
  /** Why it cannot be used, as a sentence; null: it can. */
  problem: z.string().nullable(),
  tools: z.array(ListedToolSchema),
  /** Tools that are not offered, and why, as a clause. `changed`: not what it was when the session first saw it. */
  refused: z.array(z.object({ tool: z.string(), why: z.string(), changed: z.boolean() })),
  /** Tools that are not offered, beyond those listed. */
  more_refused: z.number().int().optional(),
});
export type ToolsListing = z.infer<typeof ToolsListingSchema>;

/** Events of agents' own tools and of their servers. */
export const TOOL_EVENTS = [
  /**
   * What a tool server has for an agent, from now on: in the turn it takes the place of what was listed before. A tool is pinned
   * for the session by the first event that names it.
   */
  z.object({ type: z.literal("tools.listed"), ...ofAgent, ...ToolsListingSchema.shape }),
  z.object({ type: z.literal("tool.started"), ...ofTool }),
  /** How far a running tool is, by its server; now and then, not each time the server says so. */
  z.object({ type: z.literal("tool.progressed"), ...ofTool, ...ToolProgressSchema.shape }),
  /** What a tool's server wants of a person. Nobody is asked and nothing is answered: it is shown. */
  z.object({ type: z.literal("tool.input_required"), ...ofTool, ...InputRequiredSchema.shape }),
  z.object({
    type: z.literal("tool.completed"),
    ...ofTool,
    outcome: z.enum(["ok", "error", "planned", "refused"]),
  }),
  /** Cut off by a restart and safe to repeat: it is owed again. */
  z.object({ type: z.literal("tool.interrupted"), ...ofTool }),
  /** Whether it did its work is not known. `message`: what it said, the beginning; absent where it said nothing. */
  z.object({ type: z.literal("tool.unknown"), ...ofTool, message: z.string().optional() }),
] as const;
