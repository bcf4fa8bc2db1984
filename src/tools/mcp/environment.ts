import type { ToolSpec } from "../../providers/provider";
import type { SecretUse } from "../secret-bindings";
import type { Mutex } from "../../async/mutex";
import type { NotOffered } from "./offer";
import type { Pins } from "./pins";
import type { TokenShelf } from "./renewed-tokens";
import type { ToolTrust } from "./trust";

/** There is no such secret, or it is not bound to that request. */
export class SecretMissing extends Error {
  override readonly name = "SecretMissing";
}

/** What a session gives its tool servers. */
export type McpEnvironment = {
  /** Guarded; the only way out. */
  fetch: typeof fetch;
  /**
   * The text of the secret of this name, if it may be sent so. Throws `SecretMissing` if there is none. Asked before each request, so
   * that a secret that was replaced or deleted counts from the next one on.
   */
  secretOf: (name: string, use: SecretUse) => string | Promise<string>;
  /**
   * Taken by each request that is no call while it waits for headers, given back by what it gives. Throws the signal's reason.
   * Absent: any number may wait.
   */
  enter?: (signal: AbortSignal) => Promise<() => void>;
  /** Where large replies wait for one another, with those of whatever else asks servers. Absent: these servers' alone. */
  large?: Mutex;
  /** How many tools the agent of this id has besides: providers take few altogether. Absent: none. */
  ownTools?: (agent: string) => number;
  /** Why the model of the agent of this id cannot be told of a tool, as a clause; null: it can. Absent: it can be told of any. `hash`: the tool's pin. */
  unfit?: (agent: string, tool: ToolSpec, hash: string) => string | null;
  /** What the operator knows of tools. */
  trust: ToolTrust;
  /** Unix ms. */
  now(): number;
  /** Where renewed OAuth tokens lie, in clear. Absent: in memory, for as long as these servers are known. */
  tokens?: TokenShelf;
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
