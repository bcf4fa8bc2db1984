import { describe, expect, it } from "vitest";
import type { Part } from "../../../src/providers/attachment-parts";
import type { Message } from "../../../src/providers/provider";
import { assistant, body, call, result, textItem, thinkingItem, TOOL, user } from "./requests";

/**
 * The provider finds a prompt in its cache only if the bytes of the beginning are the same and the
 * cache marks are in the right places.
 */

const MARK = '"cache_control":{"type":"ephemeral"}';
const unmarked = (value: unknown) => JSON.stringify(value).replaceAll(`,${MARK}`, "");
const marks = (value: unknown) => JSON.stringify(value).split(MARK).length - 1;
const parts = { tools: [TOOL], system: "be brief", continues: true };

const many = Array.from({ length: 30 }, (_, n) => `call_${n}`);
const FIRST: Message[] = [user("the question")];
const SECOND: Message[] = [
  ...FIRST,
  assistant(thinkingItem("hm"), textItem("so"), ...many.map((id) => call(id))),
  ...many.map((id) => result(id)),
];
const THIRD: Message[] = [...SECOND, user("newer answers"), assistant(call("z")), result("z")];

describe("calls of one round", () => {
  const [first, second, third] = [FIRST, SECOND, THIRD].map((messages) =>
    body({ ...parts, messages }),
  );

  it.each([
    { name: "the second request begins with the first", before: first, after: second },
    {
      name: "the third request begins with the second if newer answers follow the results",
      before: second,
      after: third,
    },
  ])("$name, byte for byte apart from moved marks", ({ before, after }) => {
    expect(unmarked(after.tools)).toBe(unmarked(before.tools));
    expect(unmarked(after.system)).toBe(unmarked(before.system));
    const beginning = unmarked(before.messages).replace(/\]\}\]$/, "");
    expect(unmarked(after.messages).startsWith(beginning)).toBe(true);
  });

  it("mark the end of the instructions, of the previous call's messages, and of their own messages", () => {
    expect(marks(first)).toBe(2);
    for (const one of [second, third]) {
      expect(marks(one)).toBe(3);
      expect(marks(one.system)).toBe(1);
      const users = one.messages.filter(({ role }: { role: string }) => role === "user");
      for (const { content } of users.slice(-2)) expect(marks(content.at(-1))).toBe(1);
    }
  });

  it("read the cache exactly at the end of the previous call, after any number of calls", () => {
    const endOfFirst = first.messages[0].content.at(-1);
    expect(second.messages[0].content.at(-1)).toEqual(endOfFirst);
    expect(marks(endOfFirst)).toBe(1);
  });

  it("are deterministic: they do not depend on the clock or on random numbers", () => {
    expect(JSON.stringify(body({ ...parts, messages: THIRD }))).toBe(JSON.stringify(third));
    expect(JSON.stringify(third)).not.toMatch(/\d{10,}|\d{4}-\d{2}-\d{2}T/);
  });
});

describe("a call without a next call", () => {
  it("writes no cache for its messages", () => {
    const last = body({ ...parts, continues: false, messages: FIRST });
    expect(marks(last.messages)).toBe(0);
    expect(marks(last.system)).toBe(1);
  });

  it("still reads the previous call's cache", () => {
    const last = body({ ...parts, continues: false, messages: SECOND });
    expect(marks(last.messages[0])).toBe(1);
    expect(marks(last.messages.at(-1))).toBe(0);
  });
});

describe("attachments of a question", () => {
  const attached: Part[] = [
    { type: "text", text: "the list" },
    { type: "image", mediaType: "image/png", base64: "iVBORw0=" },
    { type: "pdf", name: "a.pdf", base64: "JVBERi0=" },
  ];
  const asked = (text: string): Message => ({ role: "user", text, parts: attached });
  const upToParts = ({ messages, ...one }: ReturnType<typeof body>) => [
    one.tools,
    one.system,
    messages[0].content.slice(0, attached.length),
  ];

  it.each([true, false])(
    "end with a mark that two rounds share, whether or not a next call follows (%s)",
    (continues) => {
      const rounds = ["round one", "round two, with answers"].map((text) =>
        body({ ...parts, continues, messages: [asked(text)] }),
      );
      const [one, two] = rounds.map(upToParts);
      expect(JSON.stringify(two)).toBe(JSON.stringify(one));
      expect(marks(one?.[2].at(-1))).toBe(1);
      expect(marks(one?.[2])).toBe(1);
    },
  );

  it("never cause more than the four marks that are allowed", () => {
    const long = [asked("the question"), ...THIRD.slice(1)];
    expect(marks(body({ ...parts, messages: long }))).toBe(4);
    expect(marks(body({ ...parts, messages: [asked("")] }))).toBe(2);
  });
});

describe("the history of a conversation", () => {
  const earlier = ["turn one\n\n", "turn two\n\n"];
  const asked = (history: readonly string[], more: Partial<Message & { role: "user" }> = {}) =>
    ({ role: "user", text: "the question", history, ...more }) as const;
  const contentOf = (messages: Message[], continues = true) =>
    body({ ...parts, continues, messages }).messages[0].content;

  it.each([true, false])(
    "has one block per turn and a mark after the last, whether or not a next call follows (%s)",
    (continues) => {
      const content = contentOf([asked(earlier)], continues);
      expect(content.map(({ text }: { text: string }) => text)).toEqual([
        ...earlier,
        "the question",
      ]);
      expect(content.map(marks)).toEqual([0, 1, continues ? 1 : 0]);
    },
  );

  it("begins, block by block, with the history of the turn before", () => {
    const before = contentOf([asked(earlier)]);
    const after = contentOf([asked([...earlier, "turn three\n\n"])]);
    expect(unmarked(after.slice(0, 2))).toBe(unmarked(before.slice(0, 2)));
  });

  it("comes before the attachments, which have their own mark", () => {
    const attached: Part[] = [{ type: "image", mediaType: "image/png", base64: "iVBORw0=" }];
    const content = contentOf([asked(earlier, { parts: attached })]);
    expect(content.map(({ type }: { type: string }) => type)).toEqual([
      ...["text", "text", "image", "text"],
    ]);
    expect(content.map(marks)).toEqual([0, 1, 1, 1]);
  });

  it("takes the mark of the instructions only if no other mark is left", () => {
    const attached: Part[] = [{ type: "text", text: "the list" }];
    const first = asked(earlier, { parts: attached });
    expect(marks(body({ ...parts, messages: [first] }).system)).toBe(1);
    const long = body({ ...parts, messages: [first, ...THIRD.slice(1)] });
    expect(marks(long.system)).toBe(0);
    expect(marks(long)).toBe(4);
  });
});

it("the last tool has a mark if there are no instructions", () => {
  expect(marks(body({ tools: [TOOL, { ...TOOL, name: "g" }], system: "" }).tools.at(-1))).toBe(1);
});
