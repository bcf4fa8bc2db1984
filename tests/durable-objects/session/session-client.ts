import { exports } from "cloudflare:workers";
import { createParser, type EventSourceMessage } from "eventsource-parser";
import { inject } from "vitest";
import type { NextSegment } from "../../../durable-objects/session/streams/runtime-stream";
import type { WireEvent } from "../../../src/protocol/events";

/** Helpers that use the service under test through its public HTTP API. */

const ORIGIN = "http://127.0.0.1:8787";

export const request = (path: string, init?: RequestInit): Promise<Response> =>
  exports.default.fetch(new Request(ORIGIN + path, init));

export const post = (
  path: string,
  body: unknown = {},
  headers: Record<string, string> = {},
): Promise<Response> =>
  request(path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** A config with agents `a0`, `a1` … that use these simulated models. */
export function teamOf(
  models: readonly string[],
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  const base_url = inject("providersUrl");
  const agents = models.map((model, index) => ({
    id: `a${index}`,
    backend: { type: "chatcompletion", model, base_url, api_key: "caller-key" },
  }));
  return { agents, ...more };
}

/** A team whose agents have these tool servers. */
export function withServers(
  models: readonly string[],
  mcp_servers: readonly object[],
  more: object = {},
): Record<string, unknown> {
  const team = teamOf(models);
  const agents = (team["agents"] as { backend: object }[]).map((agent) => ({
    ...agent,
    backend: { ...agent.backend, mcp_servers, ...more },
  }));
  return { ...team, agents };
}

/** A turn of a session. */
export type Run = { session_id: string; turn: number };

/** Starts a run with this config. `more`: further fields of the request. */
export async function start(
  config: Record<string, unknown>,
  more: Record<string, unknown> = {},
): Promise<Run> {
  const response = await post("/api/runs", {
    question: "What is six times seven?",
    config,
    ...more,
  });
  if (response.status !== 202) throw new Error(await response.text());
  return response.json();
}

export const eventsPath = ({ session_id, turn }: Run): string =>
  `/api/sessions/${session_id}/turns/${turn}/events`;

/** Reads the turn's event stream until the stream closes. */
export async function follow(
  run: Run,
  headers: Record<string, string> = {},
): Promise<{ text: string; events: WireEvent[] }> {
  const response = await request(eventsPath(run), { headers });
  const text = await response.text();
  return { text, events: parse(text) };
}

/** The events of a stream's text. */
export function parse(text: string): WireEvent[] {
  const messages: EventSourceMessage[] = [];
  createParser({ onEvent: (message) => messages.push(message) }).feed(text);
  return messages.map(({ data }): WireEvent => JSON.parse(data));
}

export const typesOf = (events: readonly WireEvent[]): string[] => events.map(({ type }) => type);

/** The first segment of an event stream. Throws if the stream has already ended. */
export function firstSegment(next: NextSegment): ReadableStream<Uint8Array> {
  const segment = next();
  if (segment === null) throw new Error("The stream has no segment.");
  return segment;
}
