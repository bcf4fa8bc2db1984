import { expect, it } from "vitest";
import type { Message } from "../../../src/providers/provider";
import {
  assistant,
  body,
  call,
  hosted,
  result,
  said,
  searchResult,
  searchUse,
  user,
} from "./requests";

/**
 * Conversations in short form: each message by its blocks, as `assistant: text use(s) tool_use`.
 */
function picture(messages: Message[], hostedTools = [SEARCH]): string[] {
  const shown = (block: Record<string, unknown>): string => {
    if (block["type"] === "server_tool_use") return `use(${block["id"]})`;
    if (block["type"] === "web_search_tool_result") return `found(${block["tool_use_id"]})`;
    const { content } = block;
    return Array.isArray(content)
      ? `${block["type"]}[${content.map(({ text }) => text).join("|")}]`
      : String(block["type"]);
  };
  return body({ messages, hostedTools }).messages.map(
    ({ role, content }: { role: string; content: Record<string, unknown>[] }) =>
      `${role}: ${content.map(shown).join(" ")}`,
  );
}
const SEARCH = { name: "web_search" as const, maxUses: 5 };
const used = hosted(searchUse("s"));
const found = hosted(searchResult("s"));

it.each<{ name: string; given: Message[]; gives: string[] }>([
  {
    name: "a use and its result in one reply stay",
    given: [user("q"), assistant(used, found, said("ok")), user("go on")],
    gives: ["user: text", "assistant: use(s) found(s) text", "user: text"],
  },
  {
    name: "a use that waits for the agent's own tool result stays, so that the provider runs it now",
    given: [user("q"), assistant(used, call("a")), result("a")],
    gives: ["user: text", "assistant: use(s) tool_use", "user: tool_result"],
  },
  {
    name: "new text in the same message moves into the result, where it does not end the wait",
    given: [user("q"), assistant(used, call("a")), result("a"), user("news")],
    gives: ["user: text", "assistant: use(s) tool_use", "user: tool_result[done|news]"],
  },
  {
    name: "the result at the head of the next reply answers it",
    given: [
      user("q"),
      assistant(used, call("a")),
      result("a"),
      user("news"),
      assistant(found, said("ok")),
      user("go on"),
    ],
    gives: [
      "user: text",
      "assistant: use(s) tool_use",
      "user: tool_result[done|news]",
      "assistant: found(s) text",
      "user: text",
    ],
  },
  {
    name: "the result may come one reply later still",
    given: [
      user("q"),
      assistant(used, call("a")),
      result("a"),
      assistant(call("b")),
      result("b"),
      assistant(found, said("ok")),
      user("go on"),
    ],
    gives: [
      "user: text",
      "assistant: use(s) tool_use",
      "user: tool_result",
      "assistant: tool_use",
      "user: tool_result",
      "assistant: found(s) text",
      "user: text",
    ],
  },
  {
    name: "a use without a result is dropped once the conversation has continued",
    given: [
      user("q"),
      assistant(used, call("a")),
      result("a"),
      assistant(said("ok")),
      user("go on"),
    ],
    gives: [
      "user: text",
      "assistant: tool_use",
      "user: tool_result",
      "assistant: text",
      "user: text",
    ],
  },
  {
    name: "a use without a possible wait is dropped, with its message if that is empty",
    given: [user("q"), assistant(used), user("go on")],
    gives: ["user: text text"],
  },
  {
    name: "a result without its use is omitted",
    given: [user("q"), assistant(found, said("ok")), user("go on")],
    gives: ["user: text", "assistant: text", "user: text"],
  },
  {
    name: "a paused reply is sent unchanged, its open use last",
    given: [user("q"), assistant(said("let me see"), used)],
    gives: ["user: text", "assistant: text use(s)"],
  },
])("$name", ({ given, gives }) => expect(picture(given)).toEqual(gives));

it("a use that waits for a tool outside this call is dropped: the provider cannot run it", () => {
  const waiting = [user("q"), assistant(used, call("a")), result("a"), user("news")];
  expect(picture(waiting, [])).toEqual([
    "user: text",
    "assistant: tool_use",
    "user: tool_result text",
  ]);
});

it("a use with its result stays, even if this call offers no such tool", () => {
  const done = [user("q"), assistant(used, found, said("ok")), user("go on")];
  expect(picture(done, [])).toEqual(picture(done));
});
