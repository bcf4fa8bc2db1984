import { TOOL_PATH } from "../../../simulated/providers/tool-path";
import { crashesAt, markPoint } from "./state";

/** Long enough for a commit to reach the disk, and for a request to reach the provider. */
const STEP_WAIT_MS = 30;

/**
 * `fetch` with crash points:
 * - `send.before`: the intent may not be on disk yet
 * - `send.intended`: the intent is on disk, and nothing is sent yet
 * - `send.sent`: the request is sent, and no headers have arrived
 * - `send.headers`: the headers of the reply have arrived
 * - `send.chunk`: a chunk of the reply has arrived
 * - `send.end`: the reply is complete, and nothing of it is settled yet
 * Requests to tools have the prefix `tool.`, for example `tool.send.before`.
 */
export function crashingFetch(real: typeof fetch): typeof fetch {
  return async (input, init) => {
    const point = `${isTool(input) ? "tool." : ""}send`;
    markPoint(`${point}.before`);
    if (crashesAt(`${point}.intended`)) await scheduler.wait(STEP_WAIT_MS);
    markPoint(`${point}.intended`);
    const sent = crashesAt(`${point}.sent`)
      ? setTimeout(() => markPoint(`${point}.sent`), STEP_WAIT_MS)
      : undefined;
    const response = await real(input, init);
    clearTimeout(sent);
    markPoint(`${point}.headers`);
    return crashesAt(`${point}.chunk`) || crashesAt(`${point}.end`)
      ? withBodyPoints(response, point)
      : response;
  };
}

const isTool = (input: RequestInfo | URL): boolean =>
  new URL(input instanceof Request ? input.url : input).pathname.startsWith(TOOL_PATH);

/** The response with a crash point after each chunk and at the end. */
function withBodyPoints(response: Response, point: string): Response {
  const chunks = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      controller.enqueue(chunk);
      markPoint(`${point}.chunk`);
    },
    flush: () => markPoint(`${point}.end`),
  });
  return new Response(response.body?.pipeThrough(chunks) ?? null, response);
}
