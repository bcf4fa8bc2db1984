import { counting } from "../../uploads/read-tar";
import { UploadRefusal } from "../../uploads/refusals";
import { ApiError } from "../errors";
import { CONTEXT_LIMITS } from "../../protocol/context-limits";

/** A body's type without what follows it. */
export const typeOf = (request: Request): string =>
  (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

/** `waits`: called before each wait for a piece. `came`: called with its size, before anything is done with it. */
export type Arrival = { waits: () => void; came: (bytes: number) => void };

/**
 * The body of an upload as it comes in. One that says beforehand that it is too large is not read at all. Throws ApiError; while it
 * is read, `UploadRefusal`.
 */
export function uploadBody(request: Request, arrival: Arrival): ReadableStream<Uint8Array> {
  if (request.headers.has("content-encoding"))
    throw new ApiError(
      "unsupported_media_type",
      "Send the body as it is, and say by its type what it is packed with.",
    );
  if (Number(request.headers.get("content-length") ?? 0) > CONTEXT_LIMITS.bytes)
    throw new ApiError(
      "context_too_large",
      `The upload is larger than ${CONTEXT_LIMITS.bytes / 1_000_000} MB.`,
    );
  return streamOf(whole(request.body, arrival)).pipeThrough(counting(arrival.came));
}

/** Read only as fast as somebody takes it. */
const streamOf = (pieces: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> =>
  new ReadableStream({
    async pull(controller) {
      const { done, value } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  });

/** In the platform's words a client that went away is a lost connection, as a restart of ours is. */
async function* whole(
  body: ReadableStream<Uint8Array> | null,
  { waits, came }: Arrival,
): AsyncGenerator<Uint8Array> {
  try {
    waits();
    for await (const piece of body ?? []) {
      yield piece;
      waits();
    }
  } catch {
    throw new UploadRefusal(
      "upload_broken",
      "The upload broke off before its end. Nothing was changed: send it again.",
    );
  }
  came(0); // the service waits for nothing more
}

/** What was found wrong with an upload, as an error of the API; any other error as it is. */
export async function orRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw toApiError(error);
  }
}

const toApiError = (error: unknown): unknown =>
  error instanceof UploadRefusal ? new ApiError(error.code, error.message) : error;
