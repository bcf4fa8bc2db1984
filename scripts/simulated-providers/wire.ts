import { type Fixture, LLMock } from "@copilotkit/aimock";
import { argumentsText, CHARACTERS_PER_TOKEN, type Reply, type ReportedUsage } from "./reply";
import { type ChatRequest, FrameSchema } from "./schema";

/**
 * Turns a reply into the bytes of the real wire format. The format is aimock's: it is asked over its own socket, at full speed,
 * and what it says is cut into frames here. It does not pace them, because its pace belongs to a fixture and not to a request,
 * drifts by the length of every timer, and has no silence, no `retry-after` but for 429 and no ear for a client that leaves.
 */
export type Wire = {
  render(request: ChatRequest, reply: Reply, usage: ReportedUsage): Promise<WireReply>;
  close(): Promise<void>;
};
export type WireReply = { status: number; contentType: string; frames: Frame[] };
/** A piece that is written at once. `usage`: this piece tells the client what it is charged. */
export type Frame = { bytes: string; tokens: number; usage: boolean };

type MockResponse = Exclude<Fixture["response"], (...args: never[]) => unknown>;

/** Starts aimock on a free loopback port. */
export async function startWire(): Promise<Wire> {
  const prepared = new Map<string, MockResponse>();
  const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: CHARACTERS_PER_TOKEN, journalMaxEntries: 1 });
  mock.on({ predicate: () => true }, (request) => {
    const response = prepared.get(String(request["simulated_call"]));
    if (!response) throw new Error("aimock was asked something that nobody prepared");
    return response;
  });
  const url = await mock.start();
  let calls = 0;
  return {
    async render(request, reply, usage) {
      const key = `call-${++calls}`;
      prepared.set(key, toMockResponse(reply, usage));
      try {
        const body = JSON.stringify({ ...request, simulated_call: key });
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
        return toFrames(response.status, await response.text(), usage);
      } finally {
        prepared.delete(key);
      }
    },
    close: () => mock.stop(),
  };
}

function toMockResponse(reply: Reply, usage: ReportedUsage): MockResponse {
  const { text, reasoning, calls = [], fail, finishReason } = reply;
  if (fail) {
    const { status, message = `Simulated failure with status ${status}.`, type = "api_error", code } = fail;
    return { status, error: { message, type, ...(code && { code }) } };
  }
  const envelope = {
    usage: { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens },
    ...(reasoning && { reasoning }),
    ...(finishReason && { finishReason }),
  };
  if (calls.length === 0) return { content: text ?? "", ...envelope };
  const toolCalls = calls.map((call) => ({ name: call.name, arguments: argumentsText(call) }));
  return text ? { content: text, toolCalls, ...envelope } : { toolCalls, ...envelope };
}

function toFrames(status: number, body: string, usage: ReportedUsage): WireReply {
  if (!body.startsWith("data: ")) {
    const whole = status === 200 ? { bytes: withDetails(body, usage), tokens: usage.outputTokens } : { bytes: body, tokens: 0 };
    return { status, contentType: "application/json", frames: [{ ...whole, usage: status === 200 }] };
  }
  const events = body.split("\n\n").filter((event) => event !== "");
  return {
    status,
    contentType: "text/event-stream",
    frames: events.map((event) => toFrame(event.slice("data: ".length), usage)),
  };
}

function toFrame(data: string, usage: ReportedUsage): Frame {
  if (data === "[DONE]") return { bytes: "data: [DONE]\n\n", tokens: 0, usage: false };
  const { choices, usage: reported } = FrameSchema.parse(JSON.parse(data));
  if (reported) return { bytes: `data: ${withDetails(data, usage)}\n\n`, tokens: 0, usage: true };
  const delta = choices[0]?.delta;
  const output = delta?.content || delta?.reasoning_content || delta?.tool_calls?.[0]?.function?.arguments;
  return { bytes: `data: ${data}\n\n`, tokens: output ? 1 : 0, usage: false };
}

/** aimock leaves out what part of the usage was cached or reasoning; the real provider always says so. */
function withDetails(json: string, { cachedTokens = 0, reasoningTokens = 0 }: ReportedUsage): string {
  const message = FrameSchema.pick({ usage: true }).parse(JSON.parse(json));
  const prompt_tokens_details = { cached_tokens: cachedTokens };
  const completion_tokens_details = { reasoning_tokens: reasoningTokens };
  return JSON.stringify({ ...message, usage: { ...message.usage, prompt_tokens_details, completion_tokens_details } });
}
