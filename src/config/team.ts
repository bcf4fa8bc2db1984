import type { Budget, TeamRules } from "../protocol/team";
import type { HostedTool } from "../providers/provider";
import type { Format } from "../providers/registry";
import type { RateLimits } from "../providers/rate-limits";
import type { HttpToolDefinition } from "../tools/http/definition";
import type { McpTools } from "../tools/mcp/server";
import type { CommandPatterns } from "../tools/shell";

/**
 * A validated team as plain data, the result of `parseTeam`. `rules` are part of the public log;
 * the rest is stored in the session's private table.
 */
export type Team = {
  rules: TeamRules;
  /** In the order of `rules.agents`. */
  agents: TeamAgent[];
  planningInstruction: string | null;
  personas: PersonaSettings | null;
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
   * Limits in tokens: results above `maxTokens` are stored in a file, with a preview. Omitted:
   * defaults.
   */
  toolResults?: { maxTokens?: number; previewTokens?: number };
};

export type WorkspaceSettings = {
  fileTools: boolean;
  shell: boolean;
  /** Patterns of allowed and blocked commands; omitted if all are allowed. */
  commands?: CommandPatterns;
  /** Maximum number of tasks in its to-do list; omitted if it has none. */
  tasks?: number;
  /** Whether a file that the agent did not write must be read before it can be deleted. */
  readBeforeDelete: boolean;
  /** The user's uploads that the agent sees, without duplicates. */
  contexts: ContextGrant[];
};

/** `write`: the presenter may change it; before the presentation it is read-only. */
export type ContextGrant = {
  name: string;
  permission: "read" | "write";
  /**
   * Files, folders and .gitignore patterns that no agent may change, from the entry that grants it.
   */
  protectedPaths: string[];
  /**
   * The team's protected paths of a context that the agent lists itself. Omitted: none, or all are
   * in `protectedPaths`, as in older sessions.
   */
  teamProtectedPaths?: string[];
};

export type Backend = {
  /** The type in the config (`openai`, `chatcompletion` …); a key of `providers/registry.ts`. */
  type: string;
  /** Wire format. */
  format: Format;
  /**
   * Id of the row in `providers/hosts.ts`. For a local endpoint it cannot be derived from the
   * address.
   */
  host: string;
  model: string;
  /** Without a trailing slash. */
  baseUrl: string;
  /**
   * `literal`: the caller's own key, sent to this agent's `baseUrl` only. `sealed`: the same as
   * stored; never in a config. `stored`: the operator's key of this name, sent only to the origin
   * that it is bound to. `none`: the endpoint needs no key.
   */
  key:
    | { from: "literal" | "sealed"; value: string }
    | { from: "stored"; name: string }
    | { from: "none" };
  /**
   * Whether the config caps the output of a call. If not, a cap is sent only to keep within a
   * budget.
   */
  capsOutput: boolean;
  /** Provider parameters by their config names; the format's adapter converts them. */
  params: Record<string, unknown>;
  /** Dated version of the endpoint's API; `null` for the current one. */
  apiVersion: string | null;
  /** Hosted tools with the maximum uses per call. */
  hostedTools: HostedTool[];
  /** Rate limits of the endpoint for all sessions of a tenant together; omitted if not limited. */
  rates?: RateLimits;
};

export type PersonaSettings = {
  diversityMode: "perspective" | "implementation" | "methodology";
  guidelines: string | null;
  afterFirstAnswer: "drop" | "soften" | "keep";
};

export type { Budget };
