/** An MCP server as a team's config names it, as plain data. */

/**
 * `literal`: written in the config, the caller's own. `sealed`: the same as it is kept; a config makes none. `stored`: the
 * operator's secret of this name, sent to the origins that it is bound to and nowhere else.
 */
export type McpSecret = { from: "literal" | "sealed"; value: string } | { from: "stored"; name: string };

/** How the service shows who it is, beyond static headers. `issuer` is the only authorisation server that ever sees a secret. */
export type McpAuth =
  | { type: "client_credentials"; issuer: string; clientId: string; clientSecret: McpSecret; scope: string | null }
  /** A person has consented before, elsewhere; the tokens are kept fresh here. */
  | {
      type: "authorization_code";
      issuer: string;
      clientId: string;
      clientSecret: McpSecret | null;
      accessToken: McpSecret | null;
      refreshToken: McpSecret | null;
    };

export type McpServer = {
  /** Unique in its agent; stands in the names of its tools. */
  name: string;
  url: string;
  /** Sent with each request to `url`, to no other address. */
  headers: readonly { name: string; value: McpSecret }[];
  auth: McpAuth | null;
  /** For connecting and listing, ms. */
  connectMs: number;
  /** For one call without news of its progress, ms. */
  callMs: number;
  /** Names of tools, bare or full; null: all. */
  allowedTools: readonly string[] | null;
  excludeTools: readonly string[];
};

/** An agent's servers, and the filters that hold for all of them. */
export type McpTools = { servers: readonly McpServer[]; allowedTools: readonly string[] | null; excludeTools: readonly string[] };
