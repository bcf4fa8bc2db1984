import { describe, expect, it } from "vitest";
import type { Message, ReplyItem } from "../../src/providers/provider";
import { type Call, FULL, REQUEST } from "./contract-support";
import { hostedReply, offered } from "./hosted-contract";
import { events } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

type Round = { name: string; replies: readonly Reply[]; between: Message[] };

/** Uses the id `id_a` again, like servers that number the calls of each reply from the start. */
const second: Reply = {
  reasoning: ["now this"],
  text: ["One more."],
  calls: [{ id: "id_a", name: "read_file", pieces: ['{"path":"b.txt"}'] }],
  stop: "tool_calls",
};
const last: Reply = { text: ["done"], stop: "stop" };

/** Rounds of several calls. `between`: messages that follow each reply and its tool results. */
const rounds = (wire: Wire): Round[] => [
  { name: "calls, results and calls again", replies: [FULL, second, last], between: [] },
  { name: "calls without a text", replies: [{ ...FULL, text: [] }, last], between: [] },
  {
    name: "a text without calls",
    replies: [{ text: ["hm"], stop: "stop" as const }, last],
    between: [nudge("go on")],
  },
  {
    name: "newer answers injected after the results",
    replies: [FULL, second, last],
    between: [nudge("newer answers")],
  },
  ...(wire.hostedTools.length > 0
    ? [
        {
          name: "hosted tools among the calls",
          replies: [hostedReply(wire), second, last],
          between: [],
        },
      ]
    : []),
];

/** Sends one request per reply and returns the bodies of all requests. */
async function bodiesOf(
  { wire, call }: { wire: Wire; call: Call },
  { replies, between }: Round,
): Promise<unknown[]> {
  let messages: Message[] = REQUEST.messages;
  const sent: unknown[] = [];
  for (const reply of replies) {
    const {
      events: got,
      error,
      server,
    } = await call(events(wire.encode(reply)), {
      messages,
      continues: true,
      hostedTools: offered(wire),
    });
    expect(error).toBeUndefined();
    sent.push((await server.request()).body);
    const stop = got.at(-1);
    messages = [...messages, ...roundTrip(stop?.type === "stop" ? stop.items : []), ...between];
  }
  return sent;
}

/**
 * The next request repeats the reply. The provider must accept it and find its prefix in the cache.
 */
export function historyContract(wire: Wire, call: Call): void {
  describe.each(rounds(wire))("of $name", (round) => {
    it("is accepted by the provider after being stored", async () => {
      const sent = await bodiesOf({ wire, call }, round);
      expect(sent.map((body) => wire.acceptsHistory(body))).toEqual(sent.map(() => null));
    });

    it("starts with the previous request, so that the provider's cache applies", async () => {
      const prefixes = (await bodiesOf({ wire, call }, round)).map((body) => wire.prefixOf(body));
      for (const [n, prefix] of prefixes.entries()) {
        const before = prefixes[n - 1] ?? [];
        expect(prefix.slice(0, before.length)).toEqual(before);
        expect(prefix.length).toBeGreaterThan(before.length);
      }
    });
  });
}

const nudge = (text: string): Message => ({ role: "user", text });

/**
 * The reply as a part of the next request, with a result for each call, after it was stored as
 * JSON.
 */
function roundTrip(items: ReplyItem[]): Message[] {
  const results = items.flatMap((item): Message[] =>
    item.type === "tool_call"
      ? [
          {
            role: "tool",
            toolCallId: item.id,
            name: item.name,
            text: `result of ${item.name}`,
            isError: false,
          },
        ]
      : [],
  );
  return JSON.parse(JSON.stringify([{ role: "assistant", items }, ...results]));
}
