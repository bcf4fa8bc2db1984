import { DurableObject } from "cloudflare:workers";
import { randomUUID } from "node:crypto";
import type { Env } from "../../src/env";
import { ownFetch } from "../shared/own-fetch";
import { FAILURE_HEADER, INSTANCE_HEADER, type RelayApi } from "./relay-api";

/**
 * Sends requests of one session to providers and tool servers, and returns their responses
 * unchanged. The platform limits how many requests of one object may wait for response headers, so
 * a session has several relays. A relay checks nothing and stores nothing: the session has checked
 * the address before, and decides about each outcome. The runtime copies the bodies, so no code of
 * this class runs per chunk.
 */
export class RelayObject extends DurableObject<Env> implements RelayApi {
  readonly #instance = randomUUID();

  override async fetch(request: Request): Promise<Response> {
    // The runtime ignores a request's own signal if that is passed to `fetch` directly.
    const abort = new AbortController();
    request.signal.addEventListener("abort", () => abort.abort(request.signal.reason));
    try {
      const sent = await ownFetch(request, { redirect: "manual", signal: abort.signal });
      const response = new Response(sent.body, sent);
      response.headers.delete(FAILURE_HEADER);
      response.headers.set(INSTANCE_HEADER, this.#instance);
      return response;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const headers = {
        [INSTANCE_HEADER]: this.#instance,
        [FAILURE_HEADER]: encodeURIComponent(message.toWellFormed()),
      };
      return new Response(null, { status: 502, headers });
    }
  }

  async instance(): Promise<string> {
    return this.#instance;
  }
}
