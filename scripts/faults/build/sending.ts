import { awaits, reached } from "./state";

/** Long enough for a commit to reach the disk, and for a request to reach the provider. */
const A_WHILE_MS = 30;

/**
 * `fetch` with crash points: `send.before` the intent may not be on disk · `send.intended` it is, nothing has left ·
 * `send.sent` it has left, no headers yet · `send.headers` · `send.chunk` · `send.end` the reply is whole, nothing of it settled.
 */
export function crashingFetch(real: typeof fetch): typeof fetch {
  return async (input, init) => {
    reached("send.before");
    if (awaits("send.intended")) await scheduler.wait(A_WHILE_MS);
    reached("send.intended");
    const sent = awaits("send.sent") ? setTimeout(() => reached("send.sent"), A_WHILE_MS) : undefined;
    const response = await real(input, init);
    clearTimeout(sent);
    reached("send.headers");
    return awaits("send.chunk") || awaits("send.end") ? watched(response) : response;
  };
}

function watched(response: Response): Response {
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      controller.enqueue(piece);
      reached("send.chunk");
    },
    flush: () => reached("send.end"),
  });
  return new Response(response.body?.pipeThrough(pieces) ?? null, response);
}
