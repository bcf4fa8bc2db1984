import { describe, expect, it } from "vitest";
import { PARAMS } from "../../../src/providers/anthropic/params";
import { toBetas } from "../../../src/providers/anthropic/request";
import { hostedUseBlock, block, calls, decode, stopEvent, textBlock, start } from "./frames";
import {
  assistant,
  body,
  call,
  request,
  result,
  textItem,
  thinkingItem,
  TOOL,
  user,
} from "./requests";

/** Defects of the MassGen adapter for this format. Our adapter does not have them. */

describe("unlike MassGen's adapter", () => {
  it("a reply with a decision and a tool call keeps both, and causes no further request", () => {
    const { stop } = decode([
      start(),
      ...calls(0, "a", "vote", "{}"),
      ...calls(1, "b", "read_file", "{}"),
      stopEvent("tool_use"),
    ]);
    expect(stop.items).toMatchObject([{ name: "vote" }, { name: "read_file" }]);
    expect(stop.reason).toBe("tool_calls");
  });

  it("all of the system text is sent, and no message replaces it", () => {
    const sent = body({
      system: "who you are\n\nhow to decide",
      messages: [user("hi"), assistant(textItem("ok")), user("go on")],
    });
    expect(sent.system).toMatchObject([{ text: "who you are\n\nhow to decide" }]);
    expect(sent.messages.map(({ role }: { role: string }) => role)).toEqual([
      "user",
      "assistant",
      "user",
    ]);
  });

  it.each(["end_turn", "stop_sequence", "tool_use", "max_tokens", "something_new"])(
    "a call counts with the stop reason %s",
    (reason) => {
      const { stop } = decode([
        start(),
        ...calls(0, "a", "vote", '{"agent_id":"agent1"}'),
        stopEvent(reason),
      ]);
      expect(stop.items).toMatchObject([{ type: "tool_call", name: "vote" }]);
    },
  );

  it("a vote next to hosted tools is not lost", () => {
    const hostedWork = [
      ...hostedUseBlock(0, "s", "web_search", '{"query":"q"}'),
      ...block(1, { type: "web_search_tool_result", tool_use_id: "s", content: [] }),
    ];
    const { stop } = decode([
      start(),
      ...hostedWork,
      ...textBlock(2, "ok"),
      ...calls(3, "a", "vote", "{}"),
      stopEvent("tool_use"),
    ]);
    expect(stop.items.map(({ type }) => type)).toEqual(["hosted", "hosted", "text", "tool_call"]);
  });

  it.each(["enable_code_interpreter", "enable_code_execution", "enable_web_search", "cwd", "type"])(
    "the config key %s does not become a parameter of the request",
    (name) => expect(PARAMS.kinds).not.toHaveProperty(name),
  );

  it("thinking is shown, stored and sent back", () => {
    const thinking = block(
      0,
      { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "hm" },
      { type: "signature_delta", signature: "c2ln" },
    );
    const { events, stop } = decode([
      start(),
      ...thinking,
      ...calls(1, "a", "f", "{}"),
      stopEvent("tool_use"),
    ]);
    expect(events).toContainEqual({ type: "reasoning", text: "hm" });
    const sent = body({ messages: [user("hi"), assistant(...stop.items), result("a")] });
    expect(sent.messages[1].content[0]).toEqual({
      type: "thinking",
      thinking: "hm",
      signature: "c2ln",
    });
  });

  it("usage is read", () => {
    const { stop } = decode([
      start({ usage: { input_tokens: 3, output_tokens: 1 } }),
      ...textBlock(0, "x"),
      stopEvent("end_turn"),
    ]);
    expect(stop.usage).toMatchObject({ input_tokens: 3 });
  });

  it("the betas of the config are kept next to ours", () => {
    expect(
      toBetas(request({ model: "claude-opus-5-5", params: { betas: ["mine-1"] } })).split(","),
    ).toContain("mine-1");
  });

  it("an answer may be longer than 4,096 tokens", () => {
    expect(body({ maxOutputTokens: null, model: "claude-sonnet-4-5" }).max_tokens).toBeGreaterThan(
      4_096,
    );
  });

  it("a long conversation is sent completely, with the result of every call", () => {
    const rounds = Array.from({ length: 300 }, (_, n) => [
      assistant(thinkingItem("hm"), call(`c${n}`)),
      result(`c${n}`),
    ]).flat();
    const { messages } = body({ tools: [TOOL], messages: [user("hi"), ...rounds] });
    const blocks: { type: string }[] = messages.flatMap(
      ({ content }: { content: { type: string }[] }) => content,
    );
    const count = (type: string) => blocks.filter((one) => one.type === type).length;
    expect([count("tool_use"), count("tool_result")]).toEqual([300, 300]);
  });
});
