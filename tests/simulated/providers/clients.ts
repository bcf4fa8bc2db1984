import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";
import type { Format } from "../../../simulated/providers/dialect";
import type { SimulatedProviders } from "../../../simulated/providers/server";

/**
 * The same small conversation by every official SDK: a question, and what a client answers to calls. `history` is kept in the
 * format's own words, so that a reply goes back as the SDK gave it.
 */
export type Heard = {
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: unknown }[];
  finish: string;
  usage: unknown;
  /** Pieces that carried text. */
  pieces: number;
  sources: string[];
  /** Kinds of items that hosted tools left. */
  hosted: string[];
};

export type Client = {
  ask(): Promise<Heard>;
  /** Answers each call of the last reply. */
  results(change?: (results: string[]) => string[]): void;
  say(text: string): void;
  /** Changes what lies in the history before it is sent again. */
  tamper(change: (json: string) => string): void;
  /** Adds a field to the next requests. */
  extra: Record<string, unknown>;
};

export type Options = { providers: SimulatedProviders; tools?: string[]; searches?: boolean };

const PARAMETERS = { type: "object", properties: { content: { type: "string" } } } as const;

export const CLIENTS: Readonly<
  Record<Exclude<Format, "openai-chat">, (options: Options) => Client>
> = {
  "openai-responses": responsesClient,
  anthropic: anthropicClient,
  gemini: geminiClient,
};

const nothingHeard = (): Heard => ({
  text: "",
  reasoning: "",
  calls: [],
  finish: "",
  usage: null,
  pieces: 0,
  sources: [],
  hosted: [],
});

function responsesClient({ providers, tools = [], searches = false }: Options): Client {
  const client = new OpenAI({
    apiKey: "any",
    baseURL: providers.baseUrls["openai-responses"],
    maxRetries: 0,
  });
  let input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Hi!" }];
  let last: Heard = nothingHeard();
  const self: Client = {
    extra: {},
    say: (content) => void input.push({ role: "user", content }),
    tamper: (change) => (input = JSON.parse(change(JSON.stringify(input)))),
    results(change = (ids) => ids) {
      for (const call_id of change(last.calls.map(({ id }) => id)))
        input.push({ type: "function_call_output", call_id, output: "done" });
    },
    async ask() {
      const functions = tools.map((name) => ({
        type: "function" as const,
        name,
        parameters: PARAMETERS,
        strict: false,
      }));
      const stream = await client.responses.create({
        model: "gpt-5",
        input,
        instructions: "Be brief.",
        stream: true,
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoning: { summary: "auto" },
        tools: [
          ...functions,
          ...(searches
            ? [
                { type: "web_search" as const },
                { type: "code_interpreter" as const, container: { type: "auto" as const } },
              ]
            : []),
        ],
        ...self.extra,
      });
      const heard = nothingHeard();
      let number = 0;
      for await (const event of stream) {
        if (event.sequence_number !== number++)
          throw new Error(`event ${number} has number ${event.sequence_number}`);
        if (event.type === "response.output_text.delta")
          [heard.text, heard.pieces] = [heard.text + event.delta, heard.pieces + 1];
        if (event.type === "response.reasoning_summary_text.delta") heard.reasoning += event.delta;
        if (event.type === "response.output_text.annotation.added")
          heard.sources.push(JSON.stringify(event.annotation));
        if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
        const { output, status, usage, incomplete_details } = event.response;
        heard.finish = incomplete_details?.reason ?? String(status);
        heard.usage = usage;
        heard.hosted = output
          .map(({ type }) => type)
          .filter((type) => /web_search|code_interpreter/.test(type));
        heard.calls = output.flatMap((item) =>
          item.type === "function_call"
            ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }]
            : [],
        );
        input.push(...(output as OpenAI.Responses.ResponseInput));
      }
      last = heard;
      return heard;
    },
  };
  return self;
}

function anthropicClient({ providers, tools = [], searches = false }: Options): Client {
  const client = new Anthropic({
    apiKey: "any",
    baseURL: providers.baseUrls.anthropic,
    maxRetries: 0,
  });
  let messages: Anthropic.MessageParam[] = [{ role: "user", content: "Hi!" }];
  let last = nothingHeard();
  const self: Client = {
    extra: {},
    say: (content) => void messages.push({ role: "user", content }),
    tamper: (change) => (messages = JSON.parse(change(JSON.stringify(messages)))),
    results(change = (ids) => ids) {
      const ids = change(last.calls.map(({ id }) => id));
      messages.push({
        role: "user",
        content:
          ids.length > 0
            ? ids.map((tool_use_id) => ({
                type: "tool_result" as const,
                tool_use_id,
                content: "done",
              }))
            : "Well?",
      });
    },
    async ask() {
      const functions = tools.map((name) => ({ name, input_schema: PARAMETERS }));
      const stream = client.messages.stream({
        model: "claude-sonnet-4-5",
        max_tokens: 5_000,
        system: "Be brief.",
        messages,
        thinking: { type: "enabled", budget_tokens: 1_024 },
        tools: [
          ...functions,
          ...(searches
            ? [
                { type: "web_search_20250305" as const, name: "web_search" as const },
                { type: "code_execution_20250825" as const, name: "code_execution" as const },
              ]
            : []),
        ],
        ...self.extra,
      });
      const heard = nothingHeard();
      stream.on(
        "text",
        (delta) => ([heard.text, heard.pieces] = [heard.text + delta, heard.pieces + 1]),
      );
      stream.on("thinking", (delta) => (heard.reasoning += delta));
      const message = await stream.finalMessage();
      heard.finish = String(message.stop_reason);
      heard.usage = message.usage;
      heard.hosted = message.content
        .map(({ type }) => type)
        .filter((type) => /server_tool|_tool_result/.test(type));
      heard.calls = message.content.flatMap((block) =>
        block.type === "tool_use"
          ? [{ id: block.id, name: block.name, arguments: block.input }]
          : [],
      );
      heard.sources = message.content.flatMap((block) =>
        block.type === "text" ? (block.citations ?? []).map((one) => JSON.stringify(one)) : [],
      );
      messages.push({
        role: "assistant",
        content: message.content as Anthropic.ContentBlockParam[],
      });
      last = heard;
      return heard;
    },
  };
  return self;
}

function geminiClient({ providers, tools = [], searches = false }: Options): Client {
  const client = new GoogleGenAI({
    apiKey: "any",
    apiVersion: "v1beta",
    httpOptions: { baseUrl: providers.baseUrls.gemini },
  });
  let contents: Content[] = [{ role: "user", parts: [{ text: "Hi!" }] }];
  let last = nothingHeard();
  const self: Client = {
    extra: {},
    say: (text) => void contents.push({ role: "user", parts: [{ text }] }),
    tamper: (change) => (contents = JSON.parse(change(JSON.stringify(contents)))),
    results(change = (ids) => ids) {
      const nameOf = (id: string) => last.calls.find((call) => call.id === id)?.name ?? "unknown";
      const ids = change(last.calls.map(({ id }) => id));
      const parts = ids.map((id) => ({
        functionResponse: { id, name: nameOf(id), response: { output: "done" } },
      }));
      contents.push({ role: "user", parts: parts.length > 0 ? parts : [{ text: "Well?" }] });
    },
    async ask() {
      const functionDeclarations = tools.map((name) => ({
        name,
        parametersJsonSchema: PARAMETERS,
      }));
      const stream = await client.models.generateContentStream({
        model: "gemini-3-pro-preview",
        contents,
        config: {
          systemInstruction: "Be brief.",
          thinkingConfig: { includeThoughts: true },
          tools: [
            ...(tools.length > 0 ? [{ functionDeclarations }] : []),
            ...(searches ? [{ googleSearch: {} }, { codeExecution: {} }] : []),
          ],
          toolConfig: { includeServerSideToolInvocations: searches },
          httpOptions: { extraBody: self.extra },
        },
      });
      const heard = nothingHeard();
      const parts: NonNullable<Content["parts"]> = [];
      for await (const chunk of stream) {
        const [candidate] = chunk.candidates ?? [];
        for (const part of candidate?.content?.parts ?? []) {
          parts.push(part);
          if (part.thought) heard.reasoning += part.text ?? "";
          else if (part.text)
            [heard.text, heard.pieces] = [heard.text + part.text, heard.pieces + 1];
          if (part.functionCall)
            heard.calls.push({
              id: part.functionCall.id ?? "",
              name: part.functionCall.name ?? "",
              arguments: part.functionCall.args,
            });
          heard.hosted.push(
            ...Object.keys(part).filter((key) =>
              /^(tool(Call|Response)|executableCode|codeExecutionResult)$/.test(key),
            ),
          );
        }
        heard.finish = candidate?.finishReason ?? heard.finish;
        heard.usage = chunk.usageMetadata ?? heard.usage;
        heard.sources.push(
          ...(candidate?.groundingMetadata?.groundingChunks ?? []).map((one) =>
            JSON.stringify(one),
          ),
        );
      }
      contents.push({ role: "model", parts });
      last = heard;
      return heard;
    },
  };
  return self;
}
