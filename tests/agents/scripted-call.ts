import { type CallDelta, performCall } from "../../src/agents/perform-call";
import {
  type ModelEvent,
  type ModelRequest,
  type Provider,
  ProviderError,
  type ResumePoint,
} from "../../src/providers/provider";

export const usage = { input_tokens: 3, output_tokens: 2, reasoning_tokens: 0, cached_tokens: 0 };
export const request: ModelRequest = {
  model: "m",
  system: "",
  messages: [{ role: "user", text: "Hi" }],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 9,
  params: {},
  hostedTools: [],
  continues: false,
};
export const text = (words: string): ModelEvent => ({ type: "text", text: words });
export const stop: Extract<ModelEvent, { type: "stop" }> = {
  type: "stop",
  reason: "stop",
  items: [
    { type: "text", text: "Hi " },
    { type: "reasoning", text: "hm" },
    { type: "text", text: "you" },
  ],
  usage,
};

/**
 * A provider that yields these events. It throws at the first error; "bytes" stands for raw bytes.
 */
export function scripted(script: (ModelEvent | Error | "bytes")[]): Provider {
  return {
    id: "scripted",
    async *stream(_request, _signal, onBytes) {
      for (const step of script) {
        if (step instanceof Error) throw step;
        if (step === "bytes") onBytes?.();
        else yield step;
      }
    },
  };
}

export type PerformOptions = {
  signal?: AbortSignal;
  wasSent?: () => boolean;
  from?: ResumePoint;
};

/** Performs a call with this provider, and collects its deltas. */
export function perform(provider: Provider, options: PerformOptions = {}) {
  const deltas: CallDelta[] = [];
  const signal = options.signal ?? new AbortController().signal;
  const result = performCall({
    provider,
    request,
    onDelta: (delta) => void deltas.push(delta),
    ...options,
    signal,
  });
  return result.then((performed) => ({ performed, deltas }));
}

/** The error of a failed call. */
export const failed = (
  failureClass: "transient" | "quota" | "bad_request",
  code: string,
  details = {},
) => new ProviderError(failureClass, code, "Said so.", details);
