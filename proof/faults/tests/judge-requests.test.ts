import { describe, expect, it } from "vitest";
import { type FinishedRun, judgeRun } from "../runs/judge";
import { RELAY_HEADER } from "../build/orders";
import { purposeOf, type ToolRequest } from "../runs/tool-records";
import { END_AT, recordedRun, ofKind, REQUESTS, requestOf } from "./recorded-run";

/** Checks of concurrent requests, and of requests after a cancel or an erase. */

/** Concurrent requests of a relay. */
const concurrentRequests = (count: number, relay = "a") =>
  Array.from({ length: count }, () => {
    const request = requestOf("another", { startedAt: 1, firstByteAt: 9, endedAt: 10 });
    return { ...request, headers: { ...request.headers, [RELAY_HEADER]: relay } };
  });
/**
 * Concurrent requests to tool servers, which begin a little later. `relay`: `null` if the session
 * itself sends them.
 */
const concurrentToolRequests = (count: number, relay: string | null) =>
  Array.from({ length: count }, () => ({
    startedAt: 2,
    firstByteAt: null,
    endedAt: 10,
    relay,
    purpose: "work" as const,
  }));
/**
 * A request to a tool server. `fromMs`: its start after the end of the run. `endedAt`: `null` if it
 * never ends.
 */
const toolRequest = (
  fromMs: number,
  endedAt: number | null,
  purpose: ToolRequest["purpose"] = "work",
) => [{ startedAt: END_AT + fromMs, firstByteAt: null, endedAt, relay: "a", purpose }];
const requestOpenUntil = (ms: number) => [
  requestOf("another", { startedAt: END_AT - 10, firstByteAt: END_AT, endedAt: END_AT + ms }),
];
const requestBegunAt = (ms: number) => [
  requestOf("another", { startedAt: END_AT + ms, firstByteAt: END_AT + ms, endedAt: END_AT + ms }),
];
const RIGHT: readonly { name: string; changed: Partial<FinishedRun> }[] = [
  {
    name: "cancelled after its end, with open requests closed within two seconds",
    changed: { cancelledAt: END_AT },
  },
  {
    name: "with four waiting requests in each of two relays",
    changed: {
      requests: () => [...REQUESTS, ...concurrentRequests(4), ...concurrentRequests(4, "b")],
    },
  },
  {
    name: "with four waiting requests of a relay and one of the session itself",
    changed: {
      requests: () => [...REQUESTS, ...concurrentRequests(4)],
      toolRequests: () => concurrentToolRequests(1, null),
    },
  },
  {
    name: "cancelled, with a message to its tool servers and a listening connection",
    changed: {
      cancelledAt: END_AT,
      toolRequests: () => [
        ...toolRequest(500, END_AT + 510, "leaving"),
        ...toolRequest(-10, null, "listening"),
        ...toolRequest(-10, END_AT + 50),
      ],
    },
  },
  {
    name: "erased while a request was in flight",
    changed: {
      ...ofKind("erased"),
      erasedAt: END_AT,
      listedIds: async () => [],
      requests: () => [...REQUESTS, ...requestBegunAt(100), ...requestOpenUntil(1_900)],
    },
  },
];

const WRONG: readonly { name: string; changed: Partial<FinishedRun>; wrong: string }[] = [
  {
    name: "five waiting requests in one relay",
    changed: { requests: () => concurrentRequests(5) },
    wrong: "I14: 5 requests of relay a",
  },
  {
    name: "six waiting requests in one relay, some of them at tool servers",
    changed: {
      requests: () => concurrentRequests(4),
      toolRequests: () => concurrentToolRequests(2, "a"),
    },
    wrong: "I14: 6 requests of relay a",
  },
  {
    name: "two waiting requests of the session itself",
    changed: { toolRequests: () => concurrentToolRequests(2, null) },
    wrong: "I14: 2 requests of the session",
  },
  {
    name: "a tool's request that began after the cancel",
    changed: { cancelledAt: END_AT, toolRequests: () => toolRequest(200, END_AT + 210) },
    wrong: "I15: 1 requests began",
  },
  {
    name: "a tool's request that stays open forever after the cancel",
    changed: { cancelledAt: END_AT, toolRequests: () => toolRequest(-10, null) },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a cancel message that a tool server never accepts",
    changed: { cancelledAt: END_AT, toolRequests: () => toolRequest(10, null, "leaving") },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a tool's request that stays open after the session was erased",
    changed: {
      ...ofKind("erased"),
      listedIds: async () => [],
      erasedAt: END_AT,
      toolRequests: () => toolRequest(-10, null),
    },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a request that began after the cancel",
    changed: { cancelledAt: END_AT, requests: () => requestBegunAt(200) },
    wrong: "I15: 1 requests began",
  },
  {
    name: "a request that was open two seconds after the cancel",
    changed: { cancelledAt: END_AT, requests: () => requestOpenUntil(2_100) },
    wrong: "I15: 1 requests were open",
  },
  {
    name: "a request that began after the session was erased",
    changed: {
      ...ofKind("erased"),
      listedIds: async () => [],
      erasedAt: END_AT,
      requests: () => requestBegunAt(200),
    },
    wrong: "I15: 1 requests began",
  },
];

describe("a finished run breaks no promise", () => {
  it.each(RIGHT)("$name", async ({ changed }) =>
    expect(await judgeRun(recordedRun(changed))).toEqual([]),
  );
});

describe("in a finished run, finds", () => {
  it.each(WRONG)("$name", async ({ changed, wrong }) => {
    expect((await judgeRun(recordedRun(changed))).join("\n")).toContain(wrong);
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
