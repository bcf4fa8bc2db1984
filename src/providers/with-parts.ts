import type { Message, ModelRequest } from "./provider";

/**
 * The request with all that its question brought, read anew each time: it is megabytes, so nobody but the request that is sent
 * may hold on to it. Throws what reading throws.
 */
export async function withParts(request: ModelRequest, signal: AbortSignal): Promise<ModelRequest> {
  if (!request.attached) return request;
  const parts = await request.attached(signal);
  const [first, ...rest]: Message[] = request.messages;
  if (first?.role !== "user" || parts.length === 0) return request;
  return { ...request, messages: [{ ...first, parts }, ...rest] };
}
