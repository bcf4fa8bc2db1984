import { takenCallIds } from "../call-ids";
import { guarded, withParts } from "../guarded-stream";
import { jsonBody } from "../json";
import { createOpenAiClient, explainFailure, isJsonReply, wholeReply } from "../openai-client";
import type { ModelEvent, ModelRequest, Provider, ProviderOptions, ResumePoint } from "../provider";
import { cancelReply, type Events, inBackground, resumedEvents } from "./background";
import { createDecoder, type Decoder } from "./decode";
import { toBody } from "./request";

/** The Responses API over the official SDK. An empty `apiKey` means an endpoint that wants none. */
export function createOpenAiResponses(options: ProviderOptions): Provider {
  const secrets = [options.apiKey];
  return {
    id: options.host.id,
    stream: guarded(
      (error) => explainFailure(error, secrets),
      (request, signal, heard, from) => {
        const call = { options, request, signal, heard: heard ?? ignore };
        // A reply begun in the background is taken up there, although the operator wants no more of them by now.
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
  heard: () => void;
};

async function* streamReply(call: Call): AsyncGenerator<ModelEvent> {
  const decoder = decoderFor(call, { points: false });
  yield* decodeAll(await sentEvents(call, false), decoder);
  yield decoder.end();
}

/**
 * A reply that goes on without us. Whoever leaves it before its end has it cancelled; only an interruption of our own platform
 * leaves it to be taken up.
 */
async function* backgroundReply(
  call: Call & { from: ResumePoint | undefined },
): AsyncGenerator<ModelEvent> {
  const { options, from } = call;
  const decoder = decoderFor(call, { points: true, from });
  let interrupted = false;
  try {
    const events = from ? resumedEvents({ ...call, from }) : sentEvents(call, true);
    yield* decodeAll(await events, decoder);
    yield decoder.end();
  } catch (error) {
    interrupted = explainFailure(error, [options.apiKey]).failureClass === "interrupted";
    throw error;
  } finally {
    const left = !interrupted && !decoder.isOver();
    if (left && decoder.replyId() !== "") cancelReply(options, decoder.replyId());
  }
}

function decoderFor(
  { options, request }: Call,
  where: { points: boolean; from?: ResumePoint | undefined },
): Decoder {
  return createDecoder({
    takenIds: takenCallIds(request.messages),
    secrets: [options.apiKey],
    ...where,
  });
}

/** Nothing after the end counts. Leaving the loop early makes the SDK close the connection. */
async function* decodeAll(events: Events, decoder: Decoder): AsyncGenerator<ModelEvent> {
  for await (const event of events) {
    for (const one of decoder.push(event)) yield one; // `yield*` would wrap every event in an iterator of its own
    if (decoder.isOver()) return;
  }
}

async function sentEvents(
  { options, request, signal, heard }: Call,
  background: boolean,
): Promise<Events> {
  const body = jsonBody(toBody(await withParts(request, signal), options.host, background));
  const { data, response } = await createOpenAiClient(options, heard)
    .post<AsyncIterable<unknown>>("/responses", { ...body, stream: true, signal })
    .withResponse();
  if (!isJsonReply(response)) return data;
  const reply = await wholeReply(response, "output", [options.apiKey]);
  return [{ type: `response.${String(reply["status"])}`, response: reply }];
}
