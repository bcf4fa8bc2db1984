import type { ToolSpec } from "../../providers/provider";
import type { SecretUse } from "../secret-bindings";
import type { Mutex } from "../../async/mutex";
import type { WithheldTool } from "./offer";
import type { Pins } from "./pins";
import type { TokenStorage } from "./renewed-tokens";
import type { ToolTrust } from "./trust";

/** The secret does not exist, or is not bound to that request. */
export class MissingSecretError extends Error {
  override readonly name = "MissingSecretError";
}

/** What a session provides to its tool servers. */
export type McpEnvironment = {
  /** Guarded; the only access to the network. */
  fetch: typeof fetch;
  /**
   * The value of a secret, if it may be sent this way. Throws `MissingSecretError` otherwise.
   * Called before each request, so that a replaced or deleted secret takes effect with the next
   * one.
   */
  secretOf: (name: string, use: SecretUse) => string | Promise<string>;
  /**
   * Acquires a slot for a request other than a call while it waits for headers; call the result to
   * free it. Throws the signal's reason. Omitted: not limited.
   */
  enter?: (signal: AbortSignal) => Promise<() => void>;
  /**
   * Serializes large replies, together with other tools that use it. Omitted: of these servers
   * only.
   */
  large?: Mutex;
  /** Number of the agent's other tools: providers limit the total. Omitted: none. */
  ownTools?: (agent: string) => number;
  /**
   * Why the agent's model cannot use a tool, as a clause; `null` if it can. Omitted: it can use any
   * tool. `hash` is the tool's pin.
   */
  unfit?: (agent: string, tool: ToolSpec, hash: string) => string | null;
  /** The operator's statements about tools. */
  trust: ToolTrust;
  /** Unix ms. */
  now(): number;
  /**
   * Storage of renewed OAuth tokens, in clear text. Omitted: in memory, as long as this object
   * exists.
   */
  tokens?: TokenStorage;
  /** Called after each listing of a server's tools. */
  listed?: (listing: ServerListing) => void;
};

/** The last known state of one server. */
export type ServerListing = {
  /** Constant during a session; the key of its pins. */
  id: string;
  name: string;
  url: string;
  /** The protocol revision; `null` if never connected. */
  version: string | null;
  /** A sentence that explains why it cannot be used; `null` if it can. */
  problem: string | null;
  /** Bare names of the tools that may be offered. */
  tools: readonly string[];
  refused: readonly WithheldTool[];
  pins: Pins;
  /** Names that the last listing pinned. */
  added: readonly string[];
  /** Number of tools beyond the limit, which are ignored. */
  more: number;
};
