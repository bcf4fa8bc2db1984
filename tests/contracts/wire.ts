import type { FailureClass, StopReason, Usage } from "../../src/protocol/events";
import type { Citation, HostedToolName, HostedUse } from "../../src/protocol/hosted-tools";
import type { Provider, ProviderOptions } from "../../src/providers/provider";

/**
 * The content of a reply, independent of any format. Each list contains the pieces in which the
 * reply is streamed.
 */
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

/** An HTTP error of the format, and the failure class that the adapter must give it. */
type ErrorCase = { name: string; status: number; body: unknown; failureClass: FailureClass };

/**
 * Everything that the contract suite must know about a wire format. For a new format, write one
 * such object; all tests of the suite then apply to it.
 */
export type Wire = {
  name: string;
  /** The part of the base URL after the origin of the server. */
  basePath: string;
  /** The path, after `basePath`, to which requests must be sent. */
  path: string;
  create(options: ProviderOptions): Provider;
  /** The header that contains the key. */
  keyHeader: { name: string; value(key: string): string };
  /** The reply as the frames of a stream of events. The last frame ends the stream. */
  encode(reply: Reply): string[];
  /** Whether the reply is complete after this frame. */
  completes(frame: string): boolean;
  errors: readonly ErrorCase[];
  /** An error inside a running stream. */
  midStreamError: { frame: string; failureClass: FailureClass };
  /** The stop reasons that the format can express. */
  stops: readonly StopReason[];
  /** Hosted tools of the endpoint; empty if it has none. */
  hostedTools: readonly HostedToolName[];
  /**
   * The name of another wire with the same frames. The tests of incomplete streams run only for
   * that wire. Omitted if there is none.
   */
  framesOf?: string;
  /**
   * Whether calls always have ids of the provider. If not, the adapter makes ids. Default: true.
   */
  givesCallIds?: boolean;
  /** Whether usage reports cache writes. Default: false. */
  reportsCacheWrites?: boolean;
  /**
   * A frame whose data is not JSON, of a type that the adapter reads. Default: a frame without an
   * event name.
   */
  brokenFrame?: string;
  /**
   * Checks the conversation in the body of a request by the rules of the provider: matching ids, a
   * result for each call, the required order, and the items that must be sent back. Returns `null`
   * if the conversation is valid, otherwise the error.
   */
  acceptsHistory(body: unknown): string | null;
  /**
   * The parts of a request body that the prompt cache of the provider compares, in its order:
   * tools, instructions, messages.
   */
  prefixOf(body: unknown): readonly unknown[];
};
