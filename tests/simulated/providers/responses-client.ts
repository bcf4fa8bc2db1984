import OpenAI from "openai";
import { type Client, emptyReply, type Options, PARAMETERS, type ReadReply } from "./client";

export function responsesClient(options: Options): Client {
  const client = new OpenAI({
    apiKey: "any",
    baseURL: options.providers.baseUrls["openai-responses"],
    maxRetries: 0,
  });
  let input: OpenAI.Responses.ResponseInput = [{ role: "user", content: "Hi!" }];
  let last: ReadReply = emptyReply();
  const self: Client = {
    extra: {},
    say: (content) => void input.push({ role: "user", content }),
    tamper: (change) => (input = JSON.parse(change(JSON.stringify(input)))),
    results(change = (ids) => ids) {
      for (const call_id of change(last.calls.map(({ id }) => id)))
        input.push({ type: "function_call_output", call_id, output: "done" });
    },
    async ask() {
      const stream = await client.responses.create({
        model: "gpt-5",
        input,
        instructions: "Be brief.",
        stream: true,
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoning: { summary: "auto" },
        tools: toolsOf(options),
        ...self.extra,
      });
      const { reply, output } = await readReply(stream);
      input.push(...(output as OpenAI.Responses.ResponseInput));
      last = reply;
      return reply;
    },
  };
  return self;
}

function toolsOf({ tools = [], searches = false }: Options): OpenAI.Responses.Tool[] {
  const functions = tools.map((name) => ({
    type: "function" as const,
    name,
    parameters: PARAMETERS,
    strict: false,
  }));
  return [
    ...functions,
    ...(searches
      ? [
          { type: "web_search" as const },
          { type: "code_interpreter" as const, container: { type: "auto" as const } },
        ]
      : []),
  ];
}

/** Reads a whole reply. Its output items go into the history. */
async function readReply(stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>) {
  const reply = emptyReply();
  let output: OpenAI.Responses.ResponseOutputItem[] = [];
  let number = 0;
  for await (const event of stream) {
    if (event.sequence_number !== number++)
      throw new Error(`event ${number} has number ${event.sequence_number}`);
    if (event.type === "response.output_text.delta")
      [reply.text, reply.pieces] = [reply.text + event.delta, reply.pieces + 1];
    if (event.type === "response.reasoning_summary_text.delta") reply.reasoning += event.delta;
    if (event.type === "response.output_text.annotation.added")
      reply.sources.push(JSON.stringify(event.annotation));
    if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
    const { status, usage, incomplete_details } = event.response;
    output = event.response.output;
    reply.finish = incomplete_details?.reason ?? String(status);
    reply.usage = usage;
    reply.hosted = output
      .map(({ type }) => type)
      .filter((type) => /web_search|code_interpreter/.test(type));
    reply.calls = output.flatMap((item) =>
      item.type === "function_call"
        ? [{ id: item.call_id, name: item.name, arguments: JSON.parse(item.arguments) }]
        : [],
    );
  }
  return { reply, output };
}
