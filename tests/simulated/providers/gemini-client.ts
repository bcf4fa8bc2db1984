import { type Content, type GenerateContentResponse, GoogleGenAI, type Tool } from "@google/genai";
import { type Client, emptyReply, type Options, PARAMETERS } from "./client";

export function geminiClient(options: Options): Client {
  const client = new GoogleGenAI({
    apiKey: "any",
    apiVersion: "v1beta",
    httpOptions: { baseUrl: options.providers.baseUrls.gemini },
  });
  let contents: Content[] = [{ role: "user", parts: [{ text: "Hi!" }] }];
  let last = emptyReply();
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
      const stream = await client.models.generateContentStream({
        model: "gemini-3-pro-preview",
        contents,
        config: {
          systemInstruction: "Be brief.",
          thinkingConfig: { includeThoughts: true },
          tools: toolsOf(options),
          toolConfig: { includeServerSideToolInvocations: options.searches ?? false },
          httpOptions: { extraBody: self.extra },
        },
      });
      const { reply, parts } = await readReply(stream);
      contents.push({ role: "model", parts });
      last = reply;
      return reply;
    },
  };
  return self;
}

function toolsOf({ tools = [], searches = false }: Options): Tool[] {
  const functionDeclarations = tools.map((name) => ({
    name,
    parametersJsonSchema: PARAMETERS,
  }));
  return [
    ...(tools.length > 0 ? [{ functionDeclarations }] : []),
    ...(searches ? [{ googleSearch: {} }, { codeExecution: {} }] : []),
  ];
}

/** Reads a whole reply. Its parts go into the history. */
async function readReply(stream: AsyncIterable<GenerateContentResponse>) {
  const reply = emptyReply();
  const parts: NonNullable<Content["parts"]> = [];
  for await (const chunk of stream) {
    const [candidate] = chunk.candidates ?? [];
    for (const part of candidate?.content?.parts ?? []) {
      parts.push(part);
      if (part.thought) reply.reasoning += part.text ?? "";
      else if (part.text) [reply.text, reply.pieces] = [reply.text + part.text, reply.pieces + 1];
      if (part.functionCall)
        reply.calls.push({
          id: part.functionCall.id ?? "",
          name: part.functionCall.name ?? "",
          arguments: part.functionCall.args,
        });
      reply.hosted.push(
        ...Object.keys(part).filter((key) =>
          /^(tool(Call|Response)|executableCode|codeExecutionResult)$/.test(key),
        ),
      );
    }
    reply.finish = candidate?.finishReason ?? reply.finish;
    reply.usage = chunk.usageMetadata ?? reply.usage;
    reply.sources.push(
      ...(candidate?.groundingMetadata?.groundingChunks ?? []).map((one) => JSON.stringify(one)),
    );
  }
  return { reply, parts };
}
