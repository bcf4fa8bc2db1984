import { takenCallIds } from "../call-ids";
import { guarded, withParts } from "../guarded-stream";
import { jsonBody } from "../json";
import { toProviderError } from "../errors";
import {
  createOpenAiClient,
  isJsonReply,
  streamedObjects,
  unstreamedReply,
} from "../openai-client";
import type { ModelEvent, ModelRequest, Provider, ProviderOptions, ResumePoint } from "../provider";
import { cancelReply, type Events, inBackground, resumedEvents } from "./background";
import { createDecoder, type Decoder } from "./decode";
import { toBody } from "./request";

/** The Responses API through the official SDK. `apiKey` is empty if the endpoint needs none. */
export function createOpenAiResponses(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => toProviderError(error, secrets),
      (request, signal, onBytes, from) => {
        const call = { options, request, signal, onBytes: onBytes ?? ignore };
        // A reply that started in the background is resumed there, even if the operator has since
        // disabled background replies.
        return from || inBackground(options)
          ? backgroundReply({ ...call, from })
          : streamReply(call);
      },
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

async function* streamReply(call: Call): AsyncGenerator<ModelEvent> {
  const decoder = decoderFor(call, { yieldsPoints: false });
  yield* decodeAll(await requestEvents(call, false), decoder);
  yield decoder.end();
}

/**
 * A reply that the provider writes independently of our connection. If the caller stops early, the
 * reply is cancelled. If our own platform interrupts the call, the reply is kept, so that it can be
 * resumed.
 */
async function* backgroundReply(
  call: Call & { from: ResumePoint | undefined },
): AsyncGenerator<ModelEvent> {
  const { options, from } = call;
  const decoder = decoderFor(call, { yieldsPoints: true, from });
  let isInterrupted = false;
  try {
    const events = from ? resumedEvents({ ...call, from }) : requestEvents(call, true);
    yield* decodeAll(await events, decoder);
    yield decoder.end();
  } catch (error) {
    isInterrupted = toProviderError(error, [options.apiKey]).failureClass === "interrupted";
    throw error;
  } finally {
    const wasAbandoned = !isInterrupted && !decoder.isOver();
    if (wasAbandoned && decoder.replyId() !== "") cancelReply(options, decoder.replyId());
  }
}

function decoderFor(
  { options, request }: Call,
  resumeOptions: { yieldsPoints: boolean; from?: ResumePoint | undefined },
): Decoder {
  return createDecoder({
    takenIds: takenCallIds(request.messages),
    secrets: [options.apiKey],
    ...resumeOptions,
  });
}

/** The decoded events. Stops after the end of the reply, which ends the reading of its events. */
async function* decodeAll(events: Events, decoder: Decoder): AsyncGenerator<ModelEvent> {
  for await (const event of events) {
    // `yield*` would add an iterator per event
    for (const modelEvent of decoder.push(event)) yield modelEvent;
    if (decoder.isOver()) return;
  }
}

async function requestEvents(
  { options, request, signal, onBytes }: Call,
  background: boolean,
): Promise<Events> {
  const body = jsonBody(toBody(await withParts(request, signal), options.host, background));
  const response = await createOpenAiClient(options, onBytes)
    .post("/responses", { ...body, stream: true, signal })
    .asResponse();
  const secrets = [options.apiKey];
  if (!isJsonReply(response)) return streamedObjects(response, signal, secrets);
  const reply = await unstreamedReply(response, "output", secrets);
  return [{ type: `response.${String(reply["status"])}`, response: reply }];
}
