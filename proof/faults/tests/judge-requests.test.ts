import { describe, expect, it } from "vitest";
import { type Judged, judgeRun } from "../runs/judge";
import { purposeOf, type ToolRequest } from "../runs/tool-witness";
import { END_AT, judged, ofKind, REQUESTS, requestOf } from "./recorded-run";

/** Requests that are open at the same time, or after a run was cancelled or erased. */

const together = (count: number) =>
  Array.from({ length: count }, () =>
    requestOf("another", { startedAt: 1, firstByteAt: 9, endedAt: 10 }),
  );
/** As many at tool servers, which began a little later. */
const toolsTogether = (count: number) =>
  Array.from({ length: count }, () => ({
    startedAt: 2,
    firstByteAt: null,
    endedAt: 10,
    purpose: "work" as const,
  }));
/** One at a tool server, from so long after the end until it ends; null: for ever. */
const atTool = (
  fromMs: number,
  endedAt: number | null,
  purpose: ToolRequest["purpose"] = "work",
) => [{ startedAt: END_AT + fromMs, firstByteAt: null, endedAt, purpose }];
const openAfter = (ms: number) => [
  requestOf("another", { startedAt: END_AT - 10, firstByteAt: END_AT, endedAt: END_AT + ms }),
];
const begunAfter = (ms: number) => [
  requestOf("another", { startedAt: END_AT + ms, firstByteAt: END_AT + ms, endedAt: END_AT + ms }),
];
const RIGHT: readonly { name: string; changed: Partial<Judged> }[] = [
  {
    name: "cancelled when it was over, what was open closed within two seconds",
    changed: { cancelledAt: END_AT },
  },
  {
    name: "with four requests that wait at once",
    changed: { requests: () => [...REQUESTS, ...together(4)] },
  },
  {
    name: "with one at a tool server besides",
    changed: {
      requests: () => [...REQUESTS, ...together(4)],
      toolRequests: () => toolsTogether(1),
    },
  },
  {
    name: "cancelled, and its tool servers told so, one of which may go on telling things",
    changed: {
      cancelledAt: END_AT,
      toolRequests: () => [
        ...atTool(500, END_AT + 510, "leaving"),
        ...atTool(-10, null, "listening"),
        ...atTool(-10, END_AT + 50),
      ],
    },
  },
  {
    name: "erased while a request was on its way",
    changed: {
      ...ofKind("erased"),
      erasedAt: END_AT,
      listed: async () => [],
      requests: () => [...REQUESTS, ...begunAfter(100), ...openAfter(1_900)],
    },
  },
];

const WRONG: readonly { name: string; changed: Partial<Judged>; wrong: string }[] = [
  {
    name: "five requests that wait at once",
    changed: { requests: () => together(5) },
    wrong: "I14: 5 requests",
  },
  {
    name: "six requests that wait at once, some of them at tool servers",
    changed: { requests: () => together(4), toolRequests: () => toolsTogether(2) },
    wrong: "I14: 6 requests in all",
  },
  {
    name: "a tool's request that began after the cancel",
    changed: { cancelledAt: END_AT, toolRequests: () => atTool(200, END_AT + 210) },
    wrong: "I15: 1 requests began",
  },
  {
    name: "a tool's request that stays open for ever after the cancel",
    changed: { cancelledAt: END_AT, toolRequests: () => atTool(-10, null) },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "word to a tool server that a call is over, which it never takes",
    changed: { cancelledAt: END_AT, toolRequests: () => atTool(10, null, "leaving") },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a tool's request that stays open after the session was erased",
    changed: {
      ...ofKind("erased"),
      listed: async () => [],
      erasedAt: END_AT,
      toolRequests: () => atTool(-10, null),
    },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a request that began after the cancel",
    changed: { cancelledAt: END_AT, requests: () => begunAfter(200) },
    wrong: "I15: 1 requests began",
  },
  {
    name: "a request that was open two seconds after the cancel",
    changed: { cancelledAt: END_AT, requests: () => openAfter(2_100) },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a request that began after the session was erased",
    changed: {
      ...ofKind("erased"),
      listed: async () => [],
      erasedAt: END_AT,
      requests: () => begunAfter(200),
    },
    wrong: "I15: 1 requests began",
  },
];

describe("a run that is over breaks no promise", () => {
  it.each(RIGHT)("$name", async ({ changed }) =>
    expect(await judgeRun(judged(changed))).toEqual([]),
  );
});

describe("a run that is over is wrong with", () => {
  it.each(WRONG)("$name", async ({ changed, wrong }) => {
    expect((await judgeRun(judged(changed))).join("\n")).toContain(wrong);
  });
});

it.each([
  { method: "POST", body: { method: "tools/call" }, purpose: "work" },
  { method: "POST", body: { method: "tools/list" }, purpose: "work" },
  { method: "POST", body: { method: "notifications/cancelled" }, purpose: "leaving" },
  { method: "POST", body: { method: "subscriptions/listen" }, purpose: "listening" },
  { method: "GET", body: null, purpose: "listening" },
  { method: "DELETE", body: null, purpose: "leaving" },
])("a $method $body.method to a tool server is for $purpose", ({ purpose, ...message }) => {
  expect(purposeOf(message)).toBe(purpose);
});
