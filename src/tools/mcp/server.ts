/** An MCP server as a team's config names it, checked: plain data that lies in a session's private table. */
export type McpServer = {
  /** Unique in its agent; stands in the names of its tools. */
  name: string;
  url: string;
  /** Sent with each request to `url`, to no other address. `${NAME}` stands for a secret that is bound to `url`. Names in lower case. */
  headers: Readonly<Record<string, string>>;
  auth: McpAuth | null;
  /** For connecting and listing, ms. */
  connectMs: number;
  /** For one call without news of its progress, ms. */
  callMs: number;
  /** Names of tools, bare or full; null: all. */
  allowedTools: readonly string[] | null;
  excludeTools: readonly string[];
  /** Names, bare or full, of tools that the config says only read; a trailing `*` stands for any ending. Absent: none. */
  readOnlyTools?: readonly string[];
};

/** Names the pins of a server: another address is another server. */
export const serverId = ({ name, url }: McpServer): string => `${name} ${url}`;

/**
 * How the service shows who it is, beyond static headers. Secrets are named. `issuer` is the only authorisation
 * server that ever sees one, and only at addresses that they are bound to.
 */
export type McpAuth =
  | {
      type: "client_credentials";
      issuer: string;
      clientId: string;
      clientSecret: string;
      scope: string | null;
    }
  /** A person has consented before, elsewhere; the tokens are kept fresh here. */
  | {
      type: "authorization_code";
      issuer: string;
      clientId: string;
      clientSecret: string | null;
      accessToken: string | null;
      refreshToken: string | null;
    };

/** An agent's servers, and the filters that hold for all of them. */
export type McpTools = {
  servers: readonly McpServer[];
  allowedTools: readonly string[] | null;
  excludeTools: readonly string[];
};
