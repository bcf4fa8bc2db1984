import Anthropic from "@anthropic-ai/sdk";
import { type Client, emptyReply, type Options, PARAMETERS } from "./client";

export function anthropicClient(options: Options): Client {
  const client = new Anthropic({
    apiKey: "any",
    baseURL: options.providers.baseUrls.anthropic,
    maxRetries: 0,
  });
  let messages: Anthropic.MessageParam[] = [{ role: "user", content: "Hi!" }];
  let last = emptyReply();
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
      const stream = client.messages.stream({
        model: "claude-sonnet-4-5",
        max_tokens: 5_000,
        system: "Be brief.",
        messages,
        thinking: { type: "enabled", budget_tokens: 1_024 },
        tools: toolsOf(options),
        ...self.extra,
      });
      const reply = emptyReply();
      stream.on(
        "text",
        (delta) => ([reply.text, reply.pieces] = [reply.text + delta, reply.pieces + 1]),
      );
      stream.on("thinking", (delta) => (reply.reasoning += delta));
      const message = await stream.finalMessage();
      Object.assign(reply, contentsOf(message));
      messages.push({
        role: "assistant",
        content: message.content as Anthropic.ContentBlockParam[],
      });
      last = reply;
      return reply;
    },
  };
  return self;
}

function toolsOf({ tools = [], searches = false }: Options): Anthropic.ToolUnion[] {
  const functions = tools.map((name) => ({ name, input_schema: PARAMETERS }));
  return [
    ...functions,
    ...(searches
      ? [
          { type: "web_search_20250305" as const, name: "web_search" as const },
          { type: "code_execution_20250825" as const, name: "code_execution" as const },
        ]
      : []),
  ];
}

function contentsOf(message: Anthropic.Message) {
  return {
    finish: String(message.stop_reason),
    usage: message.usage,
    hosted: message.content
      .map(({ type }) => type)
      .filter((type) => /server_tool|_tool_result/.test(type)),
    calls: message.content.flatMap((block) =>
      block.type === "tool_use" ? [{ id: block.id, name: block.name, arguments: block.input }] : [],
    ),
    sources: message.content.flatMap((block) =>
      block.type === "text" ? (block.citations ?? []).map((one) => JSON.stringify(one)) : [],
    ),
  };
}
