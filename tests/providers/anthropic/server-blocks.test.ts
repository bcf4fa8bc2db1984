import { expect, it } from "vitest";
import type { Message } from "../../../src/providers/provider";
import {
  assistant,
  body,
  call,
  hosted,
  result,
  textItem,
  searchResult,
  searchUse,
  user,
} from "./requests";

/**
 * The conversation of the request in short form: one line per message with its blocks, such as
 * `assistant: text use(s) tool_use`.
 */
function shortForm(messages: Message[], hostedTools = [SEARCH]): string[] {
  const inShort = (block: Record<string, unknown>): string => {
    if (block["type"] === "server_tool_use") return `use(${block["id"]})`;
    if (block["type"] === "web_search_tool_result") return `found(${block["tool_use_id"]})`;
    const { content } = block;
    return Array.isArray(content)
      ? `${block["type"]}[${content.map(({ text }) => text).join("|")}]`
      : String(block["type"]);
  };
  return body({ messages, hostedTools }).messages.map(
    ({ role, content }: { role: string; content: Record<string, unknown>[] }) =>
      `${role}: ${content.map(inShort).join(" ")}`,
  );
}
const SEARCH = { name: "web_search" as const, maxUses: 5 };
const used = hosted(searchUse("s"));
const found = hosted(searchResult("s"));

it.each<{ name: string; given: Message[]; expected: string[] }>([
  {
    name: "a use and its result in one reply stay",
    given: [user("q"), assistant(used, found, textItem("ok")), user("go on")],
    expected: ["user: text", "assistant: use(s) found(s) text", "user: text"],
  },
  {
    name: "a use that waits for the result of our own tool stays, so that the provider runs it now",
    given: [user("q"), assistant(used, call("a")), result("a")],
    expected: ["user: text", "assistant: use(s) tool_use", "user: tool_result"],
  },
  {
    name: "new text in the same message moves into the result, because otherwise the provider would not run the use",
    given: [user("q"), assistant(used, call("a")), result("a"), user("news")],
    expected: ["user: text", "assistant: use(s) tool_use", "user: tool_result[done|news]"],
  },
  {
    name: "a result at the beginning of the next reply belongs to the use",
    given: [
      user("q"),
      assistant(used, call("a")),
      result("a"),
      user("news"),
      assistant(found, textItem("ok")),
      user("go on"),
    ],
    expected: [
      "user: text",
      "assistant: use(s) tool_use",
      "user: tool_result[done|news]",
      "assistant: found(s) text",
      "user: text",
    ],
  },
  {
    name: "a result may arrive one reply later",
    given: [
      user("q"),
      assistant(used, call("a")),
      result("a"),
      assistant(call("b")),
      result("b"),
      assistant(found, textItem("ok")),
      user("go on"),
    ],
    expected: [
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
      assistant(textItem("ok")),
      user("go on"),
    ],
    expected: [
      "user: text",
      "assistant: tool_use",
      "user: tool_result",
      "assistant: text",
      "user: text",
    ],
  },
  {
    name: "a use that waits for no tool is dropped, and so is its message if nothing else is in it",
    given: [user("q"), assistant(used), user("go on")],
    expected: ["user: text text"],
  },
  {
    name: "a result without its use is omitted",
    given: [user("q"), assistant(found, textItem("ok")), user("go on")],
    expected: ["user: text", "assistant: text", "user: text"],
  },
  {
    name: "a paused reply is sent unchanged, with the use without a result at the end",
    given: [user("q"), assistant(textItem("let me see"), used)],
    expected: ["user: text", "assistant: text use(s)"],
  },
])("$name", ({ given, expected }) => expect(shortForm(given)).toEqual(expected));

it("a use of a tool that this call does not offer is dropped, because the provider cannot run it", () => {
  const waiting = [user("q"), assistant(used, call("a")), result("a"), user("news")];
  expect(shortForm(waiting, [])).toEqual([
    "user: text",
    "assistant: tool_use",
    "user: tool_result text",
  ]);
});

it("a use with its result stays, even if this call does not offer the tool", () => {
  const done = [user("q"), assistant(used, found, textItem("ok")), user("go on")];
  expect(shortForm(done, [])).toEqual(shortForm(done));
});
