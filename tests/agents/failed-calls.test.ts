import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { failed, type PerformOptions, perform, scripted, text, usage } from "./scripted-call";

describe("a call that fails", () => {
  it.each<{
    name: string;
    script: (ModelEvent | Error | "bytes")[];
    want: Record<string, unknown>;
  }>([
    {
      name: "and was refused by its status was never worked on",
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
      name: "asks for the wait that the provider names",
      script: [failed("transient", "rate_limited", { status: 429, retryAfterMs: 7000 })],
      want: { retryAfterMs: 7000, reached: false },
    },
    {
      name: "with a redirect was never worked on",
      script: [failed("bad_request", "redirect_refused", { status: 302 })],
      want: { reached: false },
    },
    ...[400, 401, 404, 413, 429, 500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530].map(
      (status) => ({
        name: `with status ${status} before any reply was never worked on`,
        script: [failed("transient", "server_error", { status })],
        want: { reached: false },
      }),
    ),
    ...[408, 504, 520, 524, 598].map((status) => ({
      name: `with status ${status} may have cost something: its sender only stopped waiting`,
      script: [failed("transient", "timeout", { status })],
      want: { reached: true },
    })),
    {
      name: "in its stream before the first word of the reply was never worked on",
      script: ["bytes", failed("transient", "rate_limited", { status: 429 })],
      want: { reached: false },
    },
    {
      name: "with a timeout in its stream before the first word may have cost something",
      script: ["bytes", failed("transient", "timeout", { status: 408 })],
      want: { reached: true },
    },
    {
      name: "in its stream after a word of the reply may have cost something",
      script: ["bytes", text("a"), failed("transient", "rate_limited", { status: 429 })],
      want: { reached: true },
    },
    {
      name: "with a server error in its stream may have cost something",
      script: ["bytes", failed("transient", "server_error", { status: 502 })],
      want: { reached: true },
    },
    {
      name: "with a refused connection may have cost something: a lost connection looks the same (A2)",
      script: [failed("transient", "connection_refused")],
      want: { reached: true, retryAfterMs: null },
    },
    {
      name: "with a connection lost before the headers may have cost something: the model may be working",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "after its headers may have cost something",
      script: [failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "after the provider sent data may have cost something",
      script: ["bytes", failed("transient", "connection_failed")],
      want: { reached: true },
    },
    {
      name: "in the middle of its stream is charged the usage reported so far",
      script: [text("a"), { type: "usage", usage }, failed("transient", "stream_cut")],
      want: { reached: true, usage },
    },
    {
      name: "with a timeout may have cost something",
      script: [failed("transient", "timeout")],
      want: { reached: true },
    },
    {
      name: "inside a stream of status 200 may have cost something",
      script: [failed("quota", "quota_exceeded", { status: 200 })],
      want: { class: "quota", reached: true },
    },
    {
      name: "because its stream ends without a stop is reported as a cut stream",
      script: [text("a")],
      want: { class: "transient", code: "stream_cut", reached: true },
    },
    {
      name: "with an unexpected error does not show the text of that error",
      script: [new Error("key sk-secret-123456 was bad")],
      want: {
        class: "transient",
        code: "unexpected",
        message: expect.not.stringContaining("secret"),
      },
    },
    {
      name: "because our service restarted is reported as interrupted",
      script: [new Error("Durable Object reset because its code was updated.")],
      want: { class: "interrupted" },
    },
  ])("$name", async ({ script, want }) => {
    const { performed } = await perform(scripted(script));
    expect(performed).toMatchObject({ type: "failed", failure: want });
  });

  const unreachable = failed("transient", "cannot_reach");
  const notBegun = failed("transient", "attachment_unreadable");
  it.each<{ name: string; error: Error; known: PerformOptions; reached: boolean; code?: string }>([
    {
      name: "before its request was sent costs nothing",
      error: notBegun,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "after its request was sent may have cost something",
      error: notBegun,
      known: { wasSent: () => true },
      reached: true,
    },
    {
      name: "may have cost something if it is unknown whether its request was sent",
      error: notBegun,
      known: {},
      reached: true,
    },
    {
      name: "while it was resumed had been sent before",
      error: notBegun,
      known: { wasSent: () => false, from: { id: "resp_1", after: 7 } },
      reached: true,
    },
    {
      name: "in the probe of its host costs nothing (A2)",
      error: unreachable,
      known: { wasSent: () => false },
      reached: false,
    },
    {
      name: "in a probe after another request of the same try was sent may have cost something",
      error: unreachable,
      known: { wasSent: () => true },
      reached: true,
      code: "connection_failed",
    },
    {
      name: "with our own error before it was sent costs nothing",
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

  it("because its reply has more than 1,024 tool calls is reported as such", async () => {
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
