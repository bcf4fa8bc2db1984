import { counting } from "../../uploads/read-tar";
import { UploadRefusal } from "../../uploads/refusals";
import { ApiError } from "../errors";
import { CONTEXT_LIMITS } from "../../protocol/context-limits";

/** Media type of the body, without parameters. */
export const typeOf = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/**
 * Callbacks for a body. `onWait` is called before waiting for a chunk. `onBytes` is called with the
 * size of each chunk before the chunk is used.
 */
type UploadListener = { onWait: () => void; onBytes: (bytes: number) => void };

/**
 * The body of an upload as a stream. Throws ApiError if the declared length is too large. If the
 * body ends too early, the stream fails with `UploadRefusal`.
 */
export function uploadBody(request: Request, listener: UploadListener): ReadableStream<Uint8Array> {
  if (request.headers.has("content-encoding"))
    throw new ApiError(
      "unsupported_media_type",
      "`content-encoding` is not supported. Send the body without it; `content-type` states how it is packed.",
    );
  if (Number(request.headers.get("content-length") ?? 0) > CONTEXT_LIMITS.bytes)
    throw new ApiError(
      "context_too_large",
      `The upload is larger than ${CONTEXT_LIMITS.bytes / 1_000_000} MB, the limit of a context.`,
    );
  return streamOf(completeBody(request.body, listener)).pipeThrough(counting(listener.onBytes));
}

/** A stream of the chunks. It reads a chunk only on demand. */
const streamOf = (chunks: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return(undefined);
    },
  });

/**
 * The chunks of the body. Throws `upload_broken` for every read error, because the platform reports
 * the same error for a disconnected client and for a restart of the service.
 */
async function* completeBody(
  body: ReadableStream<Uint8Array> | null,
  { onWait, onBytes }: UploadListener,
): AsyncGenerator<Uint8Array> {
  try {
    onWait();
    for await (const chunk of body ?? []) {
      yield chunk;
      onWait();
    }
  } catch {
    throw new UploadRefusal(
      "upload_broken",
      "The upload ended too early. Nothing was changed. Retry.",
    );
  }
  onBytes(0); // reports that the whole body has arrived
}

/** Waits for `work`. Throws an `UploadRefusal` as an ApiError, and other errors unchanged. */
export async function orRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toApiError(error);
  }
}

const toApiError = (error: unknown): unknown =>
  error instanceof UploadRefusal ? new ApiError(error.code, error.message) : error;
