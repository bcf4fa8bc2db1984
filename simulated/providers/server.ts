import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isJsonObject, parseJson } from "../../src/providers/json";
import { answer, refuse, settle } from "./answer";
import { Continuity } from "./continuity";
import type { Dialect, Format } from "./dialect";
import { ANTHROPIC } from "./formats/anthropic";
import { GEMINI } from "./formats/gemini";
import { OPENAI_CHAT } from "./formats/openai-chat";
import { OPENAI_RESPONSES } from "./formats/openai-responses";
import { parseHostPath, hostPrefixOf } from "./hosts";
import { newRecord, type RecordedRequest } from "./ledger";
import { now } from "./play";
import type { PromptCache } from "./prompt-cache";
import type { Script } from "./reply";
import { startWire, type Wire } from "./wire";

/**
 * A server on loopback that simulates model providers. Each model can be called in every wire
 * format. The folder `formats/` defines the requests, responses and errors of each format. The
 * library aimock (`wire.ts`) generates the streamed events.
 */
export type SimulatedProviders = {
  url: string;
  /** `base_url` of a config for Chat Completions. */
  baseUrl: string;
  /** `base_url` of a config for each format. */
  baseUrls: Readonly<Record<Format, string>>;
  /** `base_url` at which the server behaves like the host with this id (`hosts.ts`). */
  baseUrlAs(host: string, format: Format): string;
  /** All requests in order of arrival; entries are updated while their requests are open. */
  requests(): readonly RecordedRequest[];
  /** Breaks every connection. Returns the number of requests that were open. */
  cut(): number;
  /** Breaks every connection and stops the server. */
  close(): Promise<void>;
};

type SimulatedProvidersOptions = {
  models: Readonly<Record<string, Script>>;
  port?: number;
  /** Whether the providers have prompt caches. Omitted: false, so that costs are predictable. */
  promptCaches?: boolean;
};

const DIALECTS: readonly Dialect[] = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI];

/** Starts the providers on loopback. Port 0, the default, selects a free port. */
export async function startSimulatedProviders({
  models,
  port = 0,
  promptCaches = false,
}: SimulatedProvidersOptions): Promise<SimulatedProviders> {
  const wire = await startWire();
  const records: RecordedRequest[] = [];
  const handle = requestHandler({ wire, records, models, promptCaches });
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) =>
      refuse(res, OPENAI_CHAT, {
        status: 500,
        message: error instanceof Error ? error.message : String(error),
      }),
    );
  });
  // 0: never close idle connections, because a call could start on one at that moment
  server.keepAliveTimeout = 0;
  await new Promise<void>((listening, failed) =>
    server.once("error", failed).listen(port, "127.0.0.1", listening),
  );
  const address = server.address();
  const url = `http://127.0.0.1:${address && typeof address === "object" ? address.port : port}`;
  return {
    ...addressesAt(url),
    requests: () => records,
    cut() {
      const broken = settleOpen(records); // first: a close looks like one by the client
      server.closeAllConnections();
      return broken;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
      await wire.close();
    },
  };
}

type HandlerOptions = Pick<SimulatedProvidersOptions, "models"> & {
  wire: Wire;
  records: RecordedRequest[];
  promptCaches: boolean;
};

/** Records each request and responds by the script of its model. */
function requestHandler({ wire, records, models, promptCaches }: HandlerOptions) {
  const memories = new Map<string, ModelMemory>();
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const startedAt = now();
    const url = req.url ?? "";
    const { path, acceptedFields } = parseHostPath(url.split("?")[0] ?? "");
    const dialect =
      req.method === "POST" ? DIALECTS.find((candidate) => candidate.serves(path)) : undefined;
    if (!dialect)
      return refuse(res, OPENAI_CHAT, {
        status: 404,
        message: `Unknown URL (${req.method} ${url})`,
      });
    const body = parseJson(await text(req));
    if (!isJsonObject(body))
      return refuse(res, dialect, { status: 400, message: "The body is no JSON object." });
    const sent = { path, headers: headersOf(req), body, acceptedFields };
    const model = dialect.modelOf(sent);
    const { format } = dialect;
    const record = newRecord({
      id: records.length + 1,
      format,
      model,
      path: url,
      headers: sent.headers,
      body,
      startedAt,
    });
    records.push(record);
    const key = `${format} ${model}`;
    const memory = memories.get(key) ?? newMemory(dialect, model);
    memories.set(key, memory);
    const cache = promptCaches ? memory.cache : null;
    await answer(res, record, {
      ...{ wire, dialect, sent, cache, memory: memory.replies, script: models[model] },
    });
  };
}

/** What a provider keeps of a model's requests in one format. */
type ModelMemory = { replies: Continuity; cache: PromptCache };

const newMemory = (dialect: Dialect, model: string): ModelMemory => ({
  replies: new Continuity(),
  cache: dialect.newPromptCache(model),
});

function addressesAt(
  url: string,
): Pick<SimulatedProviders, "url" | "baseUrl" | "baseUrls" | "baseUrlAs"> {
  const basePaths = new Map(DIALECTS.map(({ format, basePath }) => [format, basePath]));
  return {
    url,
    baseUrl: `${url}${OPENAI_CHAT.basePath}`,
    baseUrls: {
      "openai-chat": `${url}${OPENAI_CHAT.basePath}`,
      "openai-responses": `${url}${OPENAI_RESPONSES.basePath}`,
      anthropic: `${url}${ANTHROPIC.basePath}`,
      gemini: `${url}${GEMINI.basePath}`,
    },
    baseUrlAs: (host, format) => url + hostPrefixOf(host) + basePaths.get(format),
  };
}

/** Records the outcome `cut` for each open request. Returns the number of these requests. */
function settleOpen(records: readonly RecordedRequest[]): number {
  const open = records.filter(({ endedAt }) => endedAt === null);
  for (const record of open) settle(record, "cut");
  return open.length;
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
