import type { ToolSpec } from "../../providers/provider";
import type { SecretUse } from "../secret-bindings";
import type { Mutex } from "../../async/mutex";
import type { WithheldTool } from "./offer";
import type { Pins } from "./pins";
import type { TokenStorage } from "./renewed-tokens";
import type { ToolTrust } from "./trust";

/** A secret does not exist, or it is not bound to the request. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError";
}

/** Functions and settings that a session provides to its tool servers. */
export type McpEnvironment = {
  /** Access to the network. It checks each address before a request. */
  fetch: typeof fetch;
  /** The same over the relay with this number, see `RelaySlot`. Omitted: `fetch`. */
  fetchOver?: (relay: number) => typeof fetch;
  /**
   * Returns the value of a secret if it may be sent with this request. Otherwise throws
   * `MissingSecretError`. Called before each request, so that a replaced or deleted secret takes
   * effect with the next request.
   */
  secretOf: (name: string, use: SecretUse) => string | Promise<string>;
  /**
   * Acquires a slot for a request that is not a call. The request has the slot until its headers
   * arrive. Throws the signal's reason. Omitted: no limit.
   */
  enter?: (signal: AbortSignal) => Promise<RequestSlot>;
  /**
   * Serializes large replies, together with other tools that use this mutex. Omitted: only the
   * replies of these servers are serialized.
   */
  large?: Mutex;
  /** The number of the agent's other tools; providers limit the total. Omitted: 0. */
  ownTools?: (agent: string) => number;
  /**
   * Why the agent's model cannot use a tool, as a clause; `null` if the model can use it. `hash` is
   * the tool's pin. Omitted: the model can use each tool.
   */
  unfit?: (agent: string, tool: ToolSpec, hash: string) => string | null;
  /** The operator's statements about tools. */
  trust: ToolTrust;
  /** The current time in Unix ms. */
  now(): number;
  /**
   * Storage of renewed OAuth tokens, in clear text. Omitted: tokens are stored in memory as long as
   * the `McpServers` object exists.
   */
  tokens?: TokenStorage;
  /** Called after each listing of a server's tools. */
  listed?: (listing: ServerListing) => void;
};

/** A slot for one request. `relay`: sends the request; omitted: the session sends it itself. */
export type RequestSlot = { relay?: number; release: () => void };

/** The last known state of one server. */
export type ServerListing = {
  /** The same during the whole session. The server's pins are stored under this id. */
  id: string;
  name: string;
  url: string;
  /** The negotiated protocol revision; `null` before the first connection. */
  version: string | null;
  /** Why the server cannot be used, as a sentence; `null` if it can be used. */
  problem: string | null;
  /** Bare names of the tools that may be offered. */
  tools: readonly string[];
  /** Tools that are not offered, with reasons. */
  refused: readonly WithheldTool[];
  pins: Pins;
  /** Names of the tools that the last listing has pinned. */
  added: readonly string[];
  /** Number of tools above the limit. They are ignored. */
  more: number;
};
