import type { FailureClass, StopReason, Usage } from "../../src/protocol/events";
import type { Citation, HostedToolName, HostedUse } from "../../src/protocol/hosted-tools";
import type { Provider, ProviderOptions } from "../../src/providers/provider";

/** What a model replies, in no format: each list holds the pieces in which it streams. */
export type Reply = {
  reasoning?: string[];
  /** Uses of hosted tools, before the text. */
  hosted?: HostedUse[];
  text?: string[];
  /** Sources of the text. */
  citations?: Citation[];
  calls?: { id: string; name: string; pieces: string[] }[];
  stop: StopReason;
  usage?: Usage;
};

/** An HTTP error of the format, and the class the adapter must give it. */
type ErrorCase = { name: string; status: number; body: unknown; failureClass: FailureClass };

/**
 * All that the contract suite must know of a wire format. A new format writes one of these and runs
 * through the same tests.
 */
export type Wire = {
  name: string;
  /** What follows the server's origin in the base URL. */
  basePath: string;
  /** Where requests must arrive. */
  path: string;
  create(options: ProviderOptions): Provider;
  /** The header the key travels in. */
  keyHeader: { name: string; value(key: string): string };
  /** The reply as frames of a stream of events, the last one ending it. */
  encode(reply: Reply): string[];
  /** Whether the reply is complete once this frame has come. */
  completes(frame: string): boolean;
  errors: readonly ErrorCase[];
  /** An error inside a running stream. */
  midStreamError: { frame: string; failureClass: FailureClass };
  /** The reasons the format has words for. */
  stops: readonly StopReason[];
  /** Hosted tools of the endpoint; empty where the format has none. */
  hostedTools: readonly HostedToolName[];
  /** The name of a wire with the same frames, under which every cut of them is tested. */
  framesOf?: string;
  /** False where calls may come without ids, so that the adapter gives them some. Default: true. */
  givesCallIds?: boolean;
  /** Whether usage reports cache writes. Default: false. */
  reportsCacheWrites?: boolean;
  /**
   * A frame of a type that the adapter reads, with data that is not JSON. Default: a frame without
   * an event name.
   */
  brokenFrame?: string;
  /**
   * Checks the conversation in this request's body by the provider's rules: matching ids, a result
   * for each call, the required order, and the items that must be sent back. Returns `null` if it
   * is valid, else the error.
   */
  acceptsHistory(body: unknown): string | null;
  /**
   * What the provider's cache compares of this request's body, in its order: tools, instructions,
   * messages, part by part.
   */
  prefixOf(body: unknown): readonly unknown[];
};
