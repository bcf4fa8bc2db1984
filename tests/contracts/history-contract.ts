import { describe, expect, it } from "vitest";
import type { Message, ReplyItem } from "../../src/providers/provider";
import { type Call, FULL, REQUEST } from "./contract-support";
import { hostedReply, offered } from "./hosted-contract";
import { events } from "../../simulated/raw-server";
import type { Reply, Wire } from "./wire";

/** A round of several calls. `between` follows each reply and its tool results. */
type Round = { name: string; replies: readonly Reply[]; between: Message[] };

/**
 * A second reply that uses the id `id_a` again. Some servers number the calls of each reply from
 * the start.
 */
const second: Reply = {
  reasoning: ["now this"],
  text: ["One more."],
  calls: [{ id: "id_a", name: "read_file", pieces: ['{"path":"b.txt"}'] }],
  stop: "tool_calls",
};
const last: Reply = { text: ["done"], stop: "stop" };

/** The rounds to test. */
const rounds = (wire: Wire): Round[] => [
  {
    name: "a round with calls, results and further calls",
    replies: [FULL, second, last],
    between: [],
  },
  { name: "a round with calls but no text", replies: [{ ...FULL, text: [] }, last], between: [] },
  {
    name: "a round with a text but no calls",
    replies: [{ text: ["hm"], stop: "stop" as const }, last],
    between: [nudge("go on")],
  },
  {
    name: "a round with newer answers after the results",
    replies: [FULL, second, last],
    between: [nudge("newer answers")],
  },
  ...(wire.hostedTools.length > 0
    ? [
        {
          name: "a round with hosted tools and calls",
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
 * Each next request contains the previous reply. The provider must accept this request, and its
 * beginning must be in the prompt cache.
 */
export function historyContract(wire: Wire, call: Call): void {
  describe.each(rounds(wire))("$name", (round) => {
    it("is accepted by the provider after it was stored as JSON", async () => {
      const sent = await bodiesOf({ wire, call }, round);
      expect(sent.map((body) => wire.acceptsHistory(body))).toEqual(sent.map(() => null));
    });

    it("makes requests that begin with the previous request, so that the prompt cache applies", async () => {
      const prefixes = (await bodiesOf({ wire, call }, round)).map((body) => wire.prefixOf(body));
      for (const [n, prefix] of prefixes.entries()) {
        const previous = prefixes[n - 1] ?? [];
        expect(prefix.slice(0, previous.length)).toEqual(previous);
        expect(prefix.length).toBeGreaterThan(previous.length);
      }
    });
  });
}

const nudge = (text: string): Message => ({ role: "user", text });

/**
 * The messages for the next request: the reply after it was stored as JSON, and a result for each
 * of its calls.
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
