import { once } from "node:events";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import * as z from "zod";
import { relayOf } from "../runs/tool-records";

/** Nearly the longest allowed answer. */
const ANSWER_CHARS = 120_000;
const CHUNK_CHARS = 8_000;

const BodySchema = z.object({
  tools: z
    .array(
      z.object({
        function: z.object({ name: z.string(), parameters: z.looseObject({}).optional() }),
      }),
    )
    .default([]),
});
const AliasesSchema = z.object({
  properties: z.object({ agent_id: z.object({ enum: z.array(z.string()) }) }),
});

export type LoudProvider = {
  baseUrl: string;
  /** Pauses all models in the middle of their replies until `resume`. They start paused. */
  pause(): void;
  resume(): void;
  /** The most requests of one relay that waited for their headers at the same time. */
  mostWaiting(): number;
  close(): Promise<void>;
};

/**
 * A Chat Completions endpoint whose models write the longest and the most allowed answers, then
 * vote. Chunks are large because the size of the session matters, not the number of tokens.
 */
export async function startLoudProvider(): Promise<LoudProvider> {
  let calls = 0;
  const waiting = new Map<object, string | null>();
  let mostWaiting = 0;
  let gate = Promise.withResolvers<void>();
  const server = createServer(async (req, res) => {
    waiting.set(res, relayOf(req.headers));
    mostWaiting = Math.max(mostWaiting, mostInOneRelay(waiting));
    res.once("close", () => waiting.delete(res));
    const { tools } = BodySchema.parse(JSON.parse(await text(req)));
    const offered = new Map(tools.map((tool) => [tool.function.name, tool.function.parameters]));
    await gate.promise;
    waiting.delete(res);
    res.writeHead(200, { "content-type": "text/event-stream" });
    const send = async (delta: object, finish: string | null = null) => {
      await gate.promise;
      if (res.destroyed) return;
      res.write(
        `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "loud", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
      );
    };
    const call = async (name: string, args: object) => {
      calls += 1;
      await send({
        role: "assistant",
        tool_calls: [
          { index: 0, id: `call_${calls}`, type: "function", function: { name, arguments: "" } },
        ],
      });
      for (const chunk of toChunks(JSON.stringify(args)))
        await send({ tool_calls: [{ index: 0, function: { arguments: chunk } }] });
      await send({}, "tool_calls");
    };
    if (offered.has("new_answer")) await call("new_answer", { content: longText(calls) });
    else if (offered.has("vote"))
      await call("vote", { agent_id: firstAlias(offered.get("vote")), reason: "It is long." });
    else {
      for (const chunk of toChunks(longText(calls))) await send({ content: chunk });
      await send({}, "stop");
    }
    res.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    baseUrl: `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}/v1`,
    pause() {
      gate = Promise.withResolvers();
    },
    resume: () => gate.resolve(),
    mostWaiting: () => mostWaiting,
    async close() {
      gate.resolve();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

const mostInOneRelay = (waiting: ReadonlyMap<object, string | null>): number =>
  Math.max(...[...Map.groupBy(waiting.values(), (relay) => relay)].map(([, some]) => some.length));

/** One character beyond Latin-1 makes the runtime store the text with two bytes per character. */
const longText = (nth: number): string =>
  `→ ${`Answer ${nth}. `.repeat(Math.ceil(ANSWER_CHARS / 12))}`.slice(0, ANSWER_CHARS);
const toChunks = (whole: string): string[] =>
  whole.match(new RegExp(`[^]{1,${CHUNK_CHARS}}`, "g")) ?? [];
const firstAlias = (parameters: unknown): string =>
  AliasesSchema.parse(parameters).properties.agent_id.enum[0] ?? "";
