import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { failed, type Known, perform, scripted, text, usage } from "./scripted-call";

describe("a call that fails", () => {
  it.each<{
    name: string;
    script: (ModelEvent | Error | "heard")[];
    headersCame?: boolean;
    want: Record<string, unknown>;
  }>([
    {
      name: "refused by status was never worked on",
      script: [failed("transient", "overloaded", { status: 503 })],
      want: {
        class: "transient",
        code: "overloaded",
        message: "Said so.",
        reached: false,
        usage: null,
      },
    },
    {
      name: "asks to wait as long as the provider says",
      script: [failed("transient", "rate_limited", { status: 429, retryAfterMs: 7000 })],
      want: { retryAfterMs: 7000, reached: false },
    },
    {
      name: "redirected was never worked on",
      script: [failed("bad_request", "redirect_refused", { status: 302 })],
      want: { reached: false },
    },
    ...[400, 401, 404, 413, 429, 500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530].map(
      (status) => ({
        name: `answered with ${status} before any reply was never worked on`,
        script: [failed("transient", "server_error", { status })],
        want: { reached: false },
      }),
    ),
    ...[408, 504, 520, 524, 598].map((status) => ({
      name: `answered with ${status} may have cost something: whoever said so only stopped waiting`,
      script: [failed("transient", "timeout", { status })],
      want: { reached: true },
    })),
    {
      name: "refused in a stream before a word of the reply was never worked on",
      script: ["heard", failed("transient", "rate_limited", { status: 429 })],
      want: { reached: false },
    },
    {
      name: "given up in a stream before a word of the reply may have cost something",
      script: ["heard", failed("transient", "timeout", { status: 408 })],
      want: { reached: true },
    },
    {
      name: "refused in a stream after a word of the reply may have cost something",
      script: ["heard", text("a"), failed("transient", "rate_limited", { status: 429 })],
      want: { reached: true },
    },
    {
      name: "that failed in its stream may have cost something, whatever status the stream tells",
      script: ["heard", failed("transient", "server_error", { status: 502 })],
      want: { reached: true },
    },
    {
      name: "whose connection seems to have been refused may have cost something: it looks like one that was lost (A2)",
      script: [failed("transient", "connection_refused")],
      want: { reached: true, retryAfterMs: null },
    },
    {
      name: "whose connection was lost before its headers may have cost something: the model may be at work",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut after its headers may have cost something",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut after something was heard may have cost something",
      script: ["heard", failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "cut in its stream is charged what was reported",
      script: [text("a"), { type: "usage", usage }, failed("transient", "stream_cut")],
      want: { reached: true, usage },
    },
    {
      name: "that timed out may have cost something",
      script: [failed("transient", "timeout")],
      want: { reached: true },
    },
    {
      name: "inside a stream of status 200 may have cost something",
      script: [failed("quota", "quota_exceeded", { status: 200 })],
      want: { class: "quota", reached: true },
    },
    {
      name: "that ends without a stop was cut",
      script: [text("a")],
      want: { class: "transient", code: "stream_cut", reached: true },
    },
    {
      name: "of our own is told without its words",
      script: [new Error("key sk-secret-123456 was bad")],
      want: {
        class: "transient",
        code: "unexpected",
        message: expect.not.stringContaining("secret"),
      },
    },
    {
      name: "by our own restart is an interruption",
      script: [new Error("Durable Object reset because its code was updated.")],
      want: { class: "interrupted" },
    },
  ])("$name", async ({ script, want }) => {
    const { performed } = await perform(scripted(script));
    expect(performed).toMatchObject({ type: "failed", failure: want });
  });

  const unreachable = failed("transient", "cannot_reach");
  const notBegun = failed("transient", "attachment_unreadable");
  it.each<{ name: string; error: Error; known: Known; reached: boolean; code?: string }>([
    {
      name: "before its request was sent cost nothing",
      error: notBegun,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "in the same way after it may have",
      error: notBegun,
      known: { wasSent: () => true },
      reached: true,
    },
    { name: "and nobody knows if it was sent may have", error: notBegun, known: {}, reached: true },
    {
      name: "while it was taken up again was sent before",
      error: notBegun,
      known: { wasSent: () => false, from: { id: "resp_1", after: 7 } },
      reached: true,
    },
    {
      name: "by a probe cost nothing (A2)",
      error: unreachable,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "by a probe after another request of the try had left may have",
      error: unreachable,
      known: { wasSent: () => true },
      reached: true,
      code: "connection_failed",
    },
    {
      name: "by our own fault, unsent, cost nothing",
      error: new Error("no such thing"),
      known: { wasSent: () => false },
      reached: false,
    },
  ])("$name", async ({ error, known, reached, code }) => {
    const { performed } = await perform(scripted([error]), known);
    expect(performed).toMatchObject({
      type: "failed",
      failure: { reached, ...(code && { code }) },
    });
  });

  it("by asking for more tools than anyone means is cut off", async () => {
    const items = Array.from({ length: 1_025 }, (_, id) => ({
      type: "tool_call" as const,
      id: `${id}`,
      name: "t",
      arguments: "{}",
    }));
    const { performed } = await perform(
      scripted([{ type: "stop", reason: "tool_calls", items, usage }]),
    );
    expect(performed).toMatchObject({
      type: "failed",
      failure: { code: "too_many_tool_calls", usage, reached: true },
    });
  });
});
