import type { Budget, TeamRules } from "../protocol/team";
import type { HostedTool } from "../providers/provider";
import type { Format } from "../providers/registry";
import type { RateLimits } from "../providers/rate-limits";
import type { HttpToolDefinition } from "../tools/http/definition";
import type { McpTools } from "../tools/mcp/server";
import type { CommandPatterns } from "../tools/shell";

/**
 * A validated team as plain data, the result of `parseTeam`. `rules` become part of the public log.
 * The other fields are stored in a private table of the session.
 */
export type Team = {
  rules: TeamRules;
  /** In the order of `rules.agents`. */
  agents: TeamAgent[];
  planningInstruction: string | null;
  personas: PersonaSettings | null;
  /**
   * Contexts of agents that take no part in the turn: the paths that they protect stay protected.
   * Omitted if there are none.
   */
  leftOut?: { workspace: Pick<WorkspaceSettings, "contexts"> }[];
};

export type TeamAgent = {
  id: string;
  systemMessage: string | null;
  votingSensitivity: "lenient" | "balanced" | "strict";
  backend: Backend;
  /** Omitted if the agent has no files. */
  workspace?: WorkspaceSettings;
  /** HTTP tools; omitted if there are none. */
  httpTools?: HttpToolDefinition[];
  /** Tool servers; omitted if there are none. */
  mcp?: McpTools;
  /** Names of tools in the registry; omitted if there are none. */
  registryTools?: string[];
  /**
   * Limits for tool results, in tokens. A result above `maxTokens` is stored in a file; the
   * conversation gets a preview. An omitted limit has its default.
   */
  toolResults?: { maxTokens?: number; previewTokens?: number };
};

export type WorkspaceSettings = {
  /** Whether the agent has file tools. */
  fileTools: boolean;
  /** Whether the agent may run commands. */
  shell: boolean;
  /** Patterns of allowed and blocked commands; omitted if all are allowed. */
  commands?: CommandPatterns;
  /** Maximum number of tasks in the agent's to-do list; omitted if the agent has no list. */
  tasks?: number;
  /** Whether a file that the agent did not write must be read before it can be deleted. */
  readBeforeDelete: boolean;
  /** The user's uploads that the agent sees, without duplicates. */
  contexts: ContextGrant[];
};

/**
 * A context that an agent sees. `write`: the agent may change the context if it presents; until
 * then, the context is read-only.
 */
export type ContextGrant = {
  /** Name of the upload. */
  name: string;
  permission: "read" | "write";
  /**
   * Files, folders and .gitignore patterns that no agent may change, from the same config entry as
   * the grant.
   */
  protectedPaths: string[];
  /**
   * Protected paths from the team's entry for the same context, if the agent has its own entry.
   * Omitted if there are none. Older sessions have all paths in `protectedPaths`.
   */
  teamProtectedPaths?: string[];
};

export type Backend = {
  /** The type in the config (`openai`, `chatcompletion` …); a key of `providers/registry.ts`. */
  type: string;
  /** Wire format. */
  format: Format;
  /**
   * Id of the host in `providers/hosts.ts`. It is stored because the address of a local endpoint
   * does not identify the host.
   */
  host: string;
  model: string;
  /** Address of the endpoint, without a trailing slash. */
  baseUrl: string;
  /**
   * `literal`: the caller's own key, which is sent only to this agent's `baseUrl`. `sealed`: the
   * caller's own key, encrypted for storage; never in a config. `stored`: the operator's key of
   * this name, which is sent only to the origin to which the key is bound. `none`: no key is sent.
   */
  key:
    | { from: "literal" | "sealed"; value: string }
    | { from: "stored"; name: string }
    | { from: "none" };
  /**
   * Whether the config limits the output tokens of a call. If not, the service sends a limit only
   * to keep a call within a budget.
   */
  capsOutput: boolean;
  /** Provider parameters by their config names; the format's adapter converts them. */
  params: Record<string, unknown>;
  /** Dated version of the endpoint's API; `null` for the current one. */
  apiVersion: string | null;
  /** Hosted tools with their maximum number of uses per call. */
  hostedTools: HostedTool[];
  /** Rate limits that all sessions of a tenant share; omitted if there are none. */
  rates?: RateLimits;
};

export type PersonaSettings = {
  diversityMode: "perspective" | "implementation" | "methodology";
  guidelines: string | null;
  afterFirstAnswer: "drop" | "soften" | "keep";
};

export type { Budget };
