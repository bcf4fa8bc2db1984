import { toParts } from "../../../src/agents/attached";
import type { Attachment } from "../../../src/protocol/attachments";
import type { ModelRequest } from "../../../src/providers/provider";
import { HEADER_PATIENCE_MS } from "../../shared/limits";
import { type Release, Slots } from "./semaphore";

/** `sent`: the request has left, or never will. To be called at least once for each time it was read. */
export type AttachedRequest = Pick<ModelRequest, "attached"> & { sent: () => void };

/**
 * What a turn brought, read for one request at a time: until a request leaves, what is made of its parts (base64, JSON, bytes) is
 * several times their size, and a team sends many at once.
 */
export class AttachedParts {
  readonly #read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>;
  readonly #turnstile = new Slots(1, HEADER_PATIENCE_MS);

  constructor(read: (attachment: Attachment) => Promise<Uint8Array<ArrayBuffer>>) {
    this.#read = read;
  }

  /** `nonce` marks the blocks of the agent that is asked. */
  for(nonce: string, attachments: readonly Attachment[]): AttachedRequest {
    if (attachments.length === 0) return { sent: () => undefined };
    let release: Release = () => undefined;
    return {
      attached: async (signal) => {
        release = await this.#turnstile.take(signal, null);
        return toParts(nonce, attachments, this.#read);
      },
      sent: () => release(),
    };
  }
}
