import { describe, expect, it } from "vitest";
import { UNKNOWN_HOST } from "../../../src/providers/hosts";
import { toBody } from "../../../src/providers/openai-chat/request";
import type { ReplyItem } from "../../../src/providers/provider";
import { REQUEST } from "../../contracts/contract-support";
import { calls, decode, delta, finish } from "./chunks";

/**
 * The data of a reply that the next request contains: read from a stream, stored as JSON, and sent.
 */
function returned(chunks: readonly unknown[]) {
  const { stop } = decode([...chunks, finish("tool_calls")]);
  const items: ReplyItem[] = JSON.parse(JSON.stringify(stop.type === "stop" ? stop.items : []));
  const { messages } = JSON.parse(
    JSON.stringify(
      toBody({ ...REQUEST, system: "", messages: [{ role: "assistant", items }] }, UNKNOWN_HOST),
    ),
  );
  return messages[0];
}

const details = (...reasoning_details: object[]) => delta({ reasoning_details });
const text = (value: string, more: object = {}) => ({
  type: "reasoning.text",
  text: value,
  index: 0,
  ...more,
});
const called = calls({ index: 0, id: "a", name: "vote", args: "{}" });

describe("reasoning of a model behind a router is sent back", () => {
  it.each([
    {
      name: "with its deltas joined and the last signature",
      given: [
        details(text("let ")),
        details(text("me see", { signature: null })),
        details(text("", { signature: "s1" })),
      ],
      expected: [text("let me see", { signature: "s1" })],
    },
    {
      name: "with encrypted parts, each separately",
      given: [
        details({ type: "reasoning.encrypted", data: "x", id: "a" }),
        details({ type: "reasoning.encrypted", data: "y", id: "b" }),
      ],
      expected: [
        { type: "reasoning.encrypted", data: "x", id: "a" },
        { type: "reasoning.encrypted", data: "y", id: "b" },
      ],
    },
    {
      name: "in separate blocks, each with its signature",
      given: [
        details(text("one", { signature: "s1" })),
        details(text("two")),
        details({ ...text("three"), index: 1 }),
      ],
      expected: [text("one", { signature: "s1" }), text("two"), { ...text("three"), index: 1 }],
    },
    {
      name: "with its summaries joined",
      given: [
        details({ type: "reasoning.summary", summary: "a" }),
        details({ type: "reasoning.summary", summary: "b" }),
      ],
      expected: [{ type: "reasoning.summary", summary: "ab" }],
    },
  ])("$name", ({ given, expected }) => {
    expect(returned([...given, called])).toMatchObject({
      role: "assistant",
      reasoning_details: expected,
    });
  });

  it("only if it is present and readable", () => {
    expect(
      returned([
        called,
        delta({ reasoning_details: "no" }),
        details(),
        delta({ reasoning_details: [1, null] }),
      ]),
    ).not.toHaveProperty("reasoning_details");
  });
});

it("additional data of a call is sent back with this call", () => {
  const signed = { extra_content: { google: { thought_signature: "s1" } } };
  const first = delta({
    tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: "{}" }, ...signed }],
  });
  const sent = returned([first, calls({ index: 1, id: "b", name: "g", args: "{}" })]);
  expect(sent.tool_calls[0]).toMatchObject({ id: "a", ...signed });
  expect(sent.tool_calls[1]).not.toHaveProperty("extra_content");
});
