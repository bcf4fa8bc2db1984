/** A validated MCP server of a team's config. Plain data, stored in a session's private table. */
export type McpServer = {
  /** Unique in its agent; part of its tools' names. */
  name: string;
  url: string;
  /**
   * Sent with each request to `url`, and to no other address. `${NAME}` is replaced by a secret
   * that is bound to `url`. Header names are in lower case.
   */
  headers: Readonly<Record<string, string>>;
  auth: McpAuth | null;
  /** Timeout for connecting and listing, ms. */
  connectMs: number;
  /** Timeout of a call without progress, ms. */
  callMs: number;
  /** Names of tools, bare or full; `null` for all. */
  allowedTools: readonly string[] | null;
  excludeTools: readonly string[];
  /**
   * Names, bare or full, of tools that the config declares read-only; a trailing `*` matches any
   * ending. Omitted: none.
   */
  readOnlyTools?: readonly string[];
};

/** The key of a server's pins. A server with another address is a different server. */
export const serverId = ({ name, url }: McpServer): string => `${name} ${url}`;

/**
 * Authentication beyond static headers. Secrets are given by name. Only the authorisation server
 * `issuer` receives them, and only at addresses that they are bound to.
 */
export type McpAuth =
  | {
      type: "client_credentials";
      issuer: string;
      clientId: string;
      clientSecret: string;
      scope: string | null;
    }
  /** A person has consented elsewhere; the tokens are renewed here. */
  | {
      type: "authorization_code";
      issuer: string;
      clientId: string;
      clientSecret: string | null;
      accessToken: string | null;
      refreshToken: string | null;
    };

/** An agent's servers, and the filters that apply to all of them. */
export type McpTools = {
  servers: readonly McpServer[];
  allowedTools: readonly string[] | null;
  excludeTools: readonly string[];
};
