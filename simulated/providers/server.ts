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
import { parseHostPath, rootOf } from "./hosts";
import { newRecord, type RecordedRequest } from "./ledger";
import { now } from "./play";
import type { Script } from "./reply";
import { startWire, type Wire } from "./wire";

/**
 * Simulated model providers on loopback in all wire formats: each model can be called in any
 * format. The format (`formats/`) defines accepted requests, responses and errors; aimock
 * (`wire.ts`) writes them.
 */
export type SimulatedProviders = {
  url: string;
  /** `base_url` of a config for Chat Completions. */
  baseUrl: string;
  /** The same for every format. */
  baseUrls: Readonly<Record<Format, string>>;
  /** The same as a host with this id, which may differ from the format's maker (`hosts.ts`). */
  baseUrlAs(host: string, format: Format): string;
  /** All requests in order of arrival; entries are updated while their requests are open. */
  requests(): readonly RecordedRequest[];
  /** Breaks every connection; returns the number of open requests. */
  cut(): number;
  /** Breaks open connections. */
  close(): Promise<void>;
};

type SimulatedProvidersOptions = { models: Readonly<Record<string, Script>>; port?: number };

const DIALECTS: readonly Dialect[] = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI];

/** Starts the providers on a loopback port; a free one by default. */
export async function startSimulatedProviders({
  models,
  port = 0,
}: SimulatedProvidersOptions): Promise<SimulatedProviders> {
  const wire = await startWire();
  const records: RecordedRequest[] = [];
  const handle = requestHandler(wire, records, models);
  const server = createServer((req, res) => {
    handle(req, res).catch((error: unknown) =>
      refuse(res, OPENAI_CHAT, {
        status: 500,
        message: error instanceof Error ? error.message : String(error),
      }),
    );
  });
  // closing idle connections could break a call that starts at that moment
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
      const broken = settleOpen(records); // before the close, which would look like the client's
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

/** Records each request and responds by the script of its model. */
function requestHandler(
  wire: Wire,
  records: RecordedRequest[],
  models: SimulatedProvidersOptions["models"],
) {
  const memories = new Map<string, Continuity>();
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const startedAt = now();
    const url = req.url ?? "";
    const { path, takes } = parseHostPath(url.split("?")[0] ?? "");
    const dialect = req.method === "POST" ? DIALECTS.find((one) => one.serves(path)) : undefined;
    if (!dialect)
      return refuse(res, OPENAI_CHAT, {
        status: 404,
        message: `Unknown URL (${req.method} ${url})`,
      });
    const body = parseJson(await text(req));
    if (!isJsonObject(body))
      return refuse(res, dialect, { status: 400, message: "The body is no JSON object." });
    const sent = { path, headers: flat(req), body, takes };
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
    const memory = memories.get(key) ?? new Continuity();
    memories.set(key, memory);
    await answer(res, record, { wire, dialect, sent, memory, script: models[model] });
  };
}

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
    baseUrlAs: (host, format) => url + rootOf(host) + basePaths.get(format),
  };
}

/** Returns the number of open requests. */
function settleOpen(records: readonly RecordedRequest[]): number {
  const open = records.filter(({ endedAt }) => endedAt === null);
  for (const record of open) settle(record, "cut");
  return open.length;
}

const flat = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
