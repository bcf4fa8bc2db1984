/** A validated MCP server of a team's config. Plain data, stored in a session's private table. */
export type McpServer = {
  /** Unique among the servers of an agent. It is a part of the names of the server's tools. */
  name: string;
  url: string;
  /**
   * Headers for each request to `url`. They are not sent to other addresses. `${NAME}` in a value
   * is replaced by a secret that is bound to `url`. Header names are in lower case.
   */
  headers: Readonly<Record<string, string>>;
  auth: McpAuth | null;
  /** Time limit in ms for connecting, and for listing. */
  connectMs: number;
  /** Time limit of a call in ms. Each progress notification starts it again. */
  callMs: number;
  /** Bare or full names of the only tools that may be offered; `null` allows all tools. */
  allowedTools: readonly string[] | null;
  /** Bare or full names of tools that are not offered. */
  excludeTools: readonly string[];
  /**
   * Bare or full names of tools that the config declares read-only. A `*` at the end matches any
   * ending. Omitted: no tools.
   */
  readOnlyTools?: readonly string[];
};

/** The id under which pins are stored. A server with another address is another server. */
export const serverId = ({ name, url }: McpServer): string => `${name} ${url}`;

/**
 * Authentication with OAuth. `issuer` is the URL of the authorisation server. `clientSecret`,
 * `accessToken` and `refreshToken` are names of secrets. The access token is sent to the MCP
 * server, the others to the authorisation server, and only to addresses that the secret is bound
 * to.
 */
export type McpAuth =
  | {
      type: "client_credentials";
      issuer: string;
      clientId: string;
      clientSecret: string;
      scope: string | null;
    }
  /** A person has already consented outside of this service. The service only renews the tokens. */
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
