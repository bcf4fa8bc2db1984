import { toBody } from "../../../src/providers/anthropic/request";
import type { Message, ModelRequest, ReplyItem } from "../../../src/providers/provider";

/** Builders for requests of agents and their bodies. */

export const TOOL = {
  name: "vote",
  description: "Votes.",
  parameters: { type: "object", properties: {} },
};

export const request = (change: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "claude-sonnet-4-5",
  system: "be brief",
  messages: [{ role: "user", text: "hi" }],
  tools: [],
  toolChoice: "auto",
  maxOutputTokens: 100,
  params: {},
  hostedTools: [],
  continues: false,
  ...change,
});
export const body = (change: Partial<ModelRequest> = {}) =>
  JSON.parse(JSON.stringify(toBody(request(change))));

export const user = (text: string): Message => ({ role: "user", text });
export const assistant = (...items: ReplyItem[]): Message => ({ role: "assistant", items });
export const result = (id: string, text = "done", isError = false): Message => ({
  role: "tool",
  toolCallId: id,
  name: "f",
  text,
  isError,
});
export const textItem = (text: string): ReplyItem => ({ type: "text", text });
export const call = (id: string, text = "{}"): ReplyItem => ({
  type: "tool_call",
  id,
  name: "f",
  arguments: text,
});
export const thinkingItem = (text: string, signature = "c2ln"): ReplyItem => ({
  type: "reasoning",
  text,
  opaque: { type: "thinking", signature },
});
type HostedFields = Readonly<Record<string, unknown>>;
export const hosted = (block: HostedFields, more: HostedFields = {}): ReplyItem => ({
  type: "hosted",
  name: "web_search",
  opaque: { block, ...more },
});
export const searchUse = (id: string) => ({
  type: "server_tool_use",
  id,
  name: "web_search",
  input: { query: "q" },
});
export const searchResult = (id: string) => ({
  type: "web_search_tool_result",
  tool_use_id: id,
  content: [],
});
