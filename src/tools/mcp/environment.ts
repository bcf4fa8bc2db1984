import type { StoredOAuthTokens } from "@modelcontextprotocol/client";
import type { NotOffered } from "./offer";
import type { Pins } from "./pins";
import type { McpServer } from "./server";
import type { ToolTrust } from "./trust";

/** What a session gives its tool servers. */
export type McpEnvironment = {
  /** Guarded; the only way out. */
  fetch: typeof fetch;
  /** The text of the operator's secret of this name; which may be sent to the server is checked already. Throws if it is not set. */
  secretOf: (name: string, server: McpServer) => string;
  /** What the operator knows of tools. */
  trust: ToolTrust;
  /** Unix ms. */
  now(): number;
  /** Told of renewed OAuth tokens, so that a later connection can begin with them; absent: they last as long as this one. */
  renewed?: (server: McpServer, tokens: StoredOAuthTokens) => void;
  /** Told whenever a server's tools were listed, at first or anew. */
  listed?: (listing: ServerListing) => void;
};

/** What one server has, as it was last seen. */
export type ServerListing = {
  /** Stable over the session's life; the key of its pins. */
  id: string;
  name: string;
  url: string;
  /** The protocol's revision; null: never connected. */
  version: string | null;
  /** A sentence on why it cannot be used; null: it can. */
  problem: string | null;
  /** Bare names of tools that may be offered. */
  tools: readonly string[];
  refused: readonly NotOffered[];
  pins: Pins;
  /** Names that the last listing pinned. */
  added: readonly string[];
  /** Tools beyond what is looked at. */
  more: number;
};
