import { takenCallIds } from "../call-ids";
import { guarded, readReply, withParts } from "../guarded-stream";
import { jsonBody } from "../json";
import { linkedAbort } from "../../async/abort";
import { toProviderError } from "../errors";
import {
  createOpenAiClient,
  isJsonReply,
  streamedObjects,
  unstreamedReply,
} from "../openai-client";
import type { ModelEvent, ModelRequest, Provider, ProviderOptions } from "../provider";
import { createDecoder } from "./decode";
import { toBody } from "./request";

/** Chat Completions through the official SDK. `apiKey` is empty if the endpoint needs none. */
export function createOpenAiChat(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => toProviderError(error, secrets),
      (request, signal, onBytes) =>
        streamReply({ options, request, signal, onBytes: onBytes ?? ignore }),
    ),
  };
}

const ignore = () => undefined;

type Call = {
  options: ProviderOptions;
  request: ModelRequest;
  signal: AbortSignal;
  onBytes: () => void;
};

async function* streamReply({
  options,
  request,
  signal,
  onBytes,
}: Call): AsyncGenerator<ModelEvent> {
  const link = linkedAbort(signal);
  const decoder = createDecoder(takenCallIds(request.messages));
  try {
    const secrets = [options.apiKey];
    const response = await createOpenAiClient(options, onBytes)
      .post(pathOf(options, request), {
        ...jsonBody(toBody(await withParts(request, link.signal), options.host)),
        stream: true,
        signal: link.signal,
      })
      .asResponse();
    const chunks = isJsonReply(response)
      ? [await unstreamedReply(response, "choices", secrets)]
      : streamedObjects(response, link.signal, secrets);
    yield* readReply(chunks, decoder, link.abort);
    yield decoder.end();
  } finally {
    link.unlink();
  }
}

/**
 * The path of the request. Endpoints with dated API versions have one path per deployment, and the
 * config names the deployment as its model.
 */
function pathOf({ apiVersion }: ProviderOptions, { model }: ModelRequest): string {
  return apiVersion === null
    ? "/chat/completions"
    : `/deployments/${encodeURIComponent(model)}/chat/completions`;
}
