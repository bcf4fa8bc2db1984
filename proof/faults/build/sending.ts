import { TOOL_PATH } from "../../../simulated/providers/tool-path";
import { crashesAt, reached } from "./state";

/** Long enough for a commit to reach the disk, and for a request to reach the provider. */
const A_WHILE_MS = 30;

/**
 * `fetch` with crash points:
 * - `send.before`: the intent may not be on disk yet
 * - `send.intended`: the intent is on disk, nothing is sent
 * - `send.sent`: sent, no headers yet
 * - `send.headers`, `send.chunk`
 * - `send.end`: the reply is complete, none of it is settled
 * Requests to tools: `tool.send.before` and so on.
 */
export function crashingFetch(real: typeof fetch): typeof fetch {
  return async (input, init) => {
    const point = `${isTool(input) ? "tool." : ""}send`;
    reached(`${point}.before`);
    if (crashesAt(`${point}.intended`)) await scheduler.wait(A_WHILE_MS);
    reached(`${point}.intended`);
    const sent = crashesAt(`${point}.sent`)
      ? setTimeout(() => reached(`${point}.sent`), A_WHILE_MS)
      : undefined;
    const response = await real(input, init);
    clearTimeout(sent);
    reached(`${point}.headers`);
    return crashesAt(`${point}.chunk`) || crashesAt(`${point}.end`)
      ? watched(response, point)
      : response;
  };
}

const isTool = (input: RequestInfo | URL): boolean =>
  new URL(input instanceof Request ? input.url : input).pathname.startsWith(TOOL_PATH);

function watched(response: Response, point: string): Response {
  const pieces = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      controller.enqueue(piece);
      reached(`${point}.chunk`);
    },
    flush: () => reached(`${point}.end`),
  });
  return new Response(response.body?.pipeThrough(pieces) ?? null, response);
}
