import { describe, expect, it } from "vitest";
import type { ModelEvent } from "../../src/providers/provider";
import { failed, type PerformOptions, perform, scripted, text, usage } from "./scripted-call";

describe("a call that fails", () => {
  it.each<{
    name: string;
    script: (ModelEvent | Error | "bytes")[];
    expected: Record<string, unknown>;
  }>([
    {
      name: "with a refusing status was not processed",
      script: [failed("transient", "overloaded", { status: 503 })],
      expected: {
        class: "transient",
        code: "overloaded",
        message: "Said so.",
        reached: false,
        usage: null,
      },
    },
    {
      name: "has the wait that the provider asks for",
      script: [failed("transient", "rate_limited", { status: 429, retryAfterMs: 7000 })],
      expected: { retryAfterMs: 7000, reached: false },
    },
    {
      name: "with a redirect was not processed",
      script: [failed("bad_request", "redirect_refused", { status: 302 })],
      expected: { reached: false },
    },
    ...[400, 401, 404, 413, 429, 500, 501, 502, 503, 521, 522, 523, 525, 526, 529, 530].map(
      (status) => ({
        name: `with status ${status} before any reply was not processed`,
        script: [failed("transient", "server_error", { status })],
        expected: { reached: false },
      }),
    ),
    ...[408, 504, 520, 524, 598].map((status) => ({
      name: `with status ${status} may have been processed, because a gateway may have stopped waiting`,
      script: [failed("transient", "timeout", { status })],
      expected: { reached: true },
    })),
    {
      name: "in its stream before the first text of the reply was not processed",
      script: ["bytes", failed("transient", "rate_limited", { status: 429 })],
      expected: { reached: false },
    },
    {
      name: "with a timeout in its stream before the first text may have been processed",
      script: ["bytes", failed("transient", "timeout", { status: 408 })],
      expected: { reached: true },
    },
    {
      name: "in its stream after a text of the reply may have been processed",
      script: ["bytes", text("a"), failed("transient", "rate_limited", { status: 429 })],
      expected: { reached: true },
    },
    {
      name: "with a server error in its stream may have been processed",
      script: ["bytes", failed("transient", "server_error", { status: 502 })],
      expected: { reached: true },
    },
    {
      name: "with a refused connection may have been processed: a lost connection looks the same (A2)",
      script: [failed("transient", "connection_refused")],
      expected: { reached: true, retryAfterMs: null },
    },
    {
      name: "with a connection lost before the response may have been processed",
      script: [failed("transient", "connection_failed")],
      expected: { reached: true },
    },
    {
      name: "with a lost connection and no status may have been processed",
      script: [failed("transient", "connection_failed")],
      expected: { reached: true },
    },
    {
      name: "with a connection lost after the first bytes may have been processed",
      script: ["bytes", failed("transient", "connection_failed")],
      expected: { reached: true },
    },
    {
      name: "in the middle of its stream has the usage reported so far",
      script: [text("a"), { type: "usage", usage }, failed("transient", "stream_cut")],
      expected: { reached: true, usage },
    },
    {
      name: "with a timeout may have been processed",
      script: [failed("transient", "timeout")],
      expected: { reached: true },
    },
    {
      name: "inside a stream of status 200 may have been processed",
      script: [failed("quota", "quota_exceeded", { status: 200 })],
      expected: { class: "quota", reached: true },
    },
    {
      name: "because its stream ends without a stop is reported as a cut stream",
      script: [text("a")],
      expected: { class: "transient", code: "stream_cut", reached: true },
    },
    {
      name: "with an unexpected error does not show the text of that error",
      script: [new Error("key sk-secret-123456 was bad")],
      expected: {
        class: "transient",
        code: "unexpected",
        message: expect.not.stringContaining("secret"),
      },
    },
    {
      name: "because the service restarted is reported as interrupted",
      script: [new Error("Durable Object reset because its code was updated.")],
      expected: { class: "interrupted" },
    },
  ])("$name", async ({ script, expected }) => {
    const { performed } = await perform(scripted(script));
    expect(performed).toMatchObject({ type: "failed", failure: expected });
  });

  const unreachable = failed("transient", "cannot_reach");
  const unreadable = failed("transient", "attachment_unreadable");
  it.each<{ name: string; error: Error; options: PerformOptions; reached: boolean; code?: string }>(
    [
      {
        name: "before its request was sent was not processed",
        error: unreadable,
        options: { wasSent: () => false },
        reached: false,
      },
      {
        name: "after its request was sent may have been processed",
        error: unreadable,
        options: { wasSent: () => true },
        reached: true,
      },
      {
        name: "may have been processed if it is unknown whether its request was sent",
        error: unreadable,
        options: {},
        reached: true,
      },
      {
        name: "while its reply was resumed may have been processed, because it was sent before",
        error: unreadable,
        options: { wasSent: () => false, from: { id: "resp_1", after: 7 } },
        reached: true,
      },
      {
        name: "in the probe of its host was not processed (A2)",
        error: unreachable,
        options: { wasSent: () => false },
        reached: false,
      },
      {
        name: "in a probe after another request of the same try was sent may have been processed",
        error: unreachable,
        options: { wasSent: () => true },
        reached: true,
        code: "connection_failed",
      },
      {
        name: "with an error of the service before it was sent was not processed",
        error: new Error("no such thing"),
        options: { wasSent: () => false },
        reached: false,
      },
    ],
  )("$name", async ({ error, options, reached, code }) => {
    const { performed } = await perform(scripted([error]), options);
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
