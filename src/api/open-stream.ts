import {
  STREAM_CODE_HEADER,
  type StreamCode,
  type StreamRequest,
  streamUrl,
} from "../protocol/stream-request";
import { ApiError } from "./errors";
import type { SessionStub } from "./services";

/** Whether a stream is open, and if not, why. */
export type OpenedStream = { code: StreamCode; response: Response };

const CODES: Record<StreamCode, true> = {
  open: true,
  over: true,
  session_not_found: true,
  turn_not_found: true,
  event_id_ahead: true,
  too_many_readers: true,
};

/** Asks a session for its stream. The response is ready to be sent on, without the code between us and the object. */
export async function openStream(stub: SessionStub, asked: StreamRequest): Promise<OpenedStream> {
  const answer = await stub.fetch(streamUrl(asked));
  const code = answer.headers.get(STREAM_CODE_HEADER);
  if (!isStreamCode(code)) throw new ApiError("internal", "The session did not open its stream.");
  const headers = new Headers(answer.headers);
  headers.delete(STREAM_CODE_HEADER);
  return { code, response: new Response(answer.body, { headers }) };
}

const isStreamCode = (code: string | null): code is StreamCode =>
  code !== null && Object.hasOwn(CODES, code);
