import { describe, expect, it } from "vitest";
import { nothingAsked } from "../../../simulated/providers/model-input";
import type { Reply, Script } from "../../../simulated/providers/reply";
import { argumentsText, capped, outputTokens } from "../../../simulated/providers/reply";
import * as scripts from "../../../simulated/providers/scripts";
import type { ShownAnswer, Situation, Stage } from "../../../simulated/providers/situation";

const short: ShownAnswer = { alias: "agent1", text: "Ten." };
const long: ShownAnswer = { alias: "agent2", text: "Twenty, for good reasons." };
const improved: ShownAnswer = { alias: "agent3", text: "Twenty, in short." };

function at(stage: Stage, shown: ShownAnswer[] = [], rest: Partial<Situation> = {}): Situation {
  const asked = nothingAsked("m");
  const none = {
    offers: [],
    forced: false,
    news: [],
    updates: 0,
    callIndex: 0,
    toolResults: [],
    question: "?",
    model: "m",
    asked,
  };
  return { ...none, aliases: ["agent1", "agent2", "agent3"], ...rest, stage, shown };
}

const answered = (content: string) => ({ calls: [{ name: "new_answer", arguments: { content } }] });
const voted = (agent_id: string) => ({ calls: [{ name: "vote", arguments: { agent_id } }] });

describe("scripted agents", () => {
  const simple = scripts.answersThenVotes({ answer: "Ten." });
  const improver = scripts.improvesOnce({ answer: "Ten.", improved: improved.text });
  const copier = scripts.copycat({ answer: "Mine." });
  const rejecting = scripts.rejects({ reason: "thin", instructions: "more" }, simple);

  it.each<{ name: string; script: Script; situation: Situation; expected: object }>([
    {
      name: "submit an answer in the first request",
      script: simple,
      situation: at("first_answer"),
      expected: answered("Ten."),
    },
    {
      name: "vote for the longest answer",
      script: simple,
      situation: at("deciding", [short, long]),
      expected: voted("agent2"),
    },
    {
      name: "vote for the longest answer, also if the answers have another order",
      script: simple,
      situation: at("deciding", [long, short]),
      expected: voted("agent2"),
    },
    {
      name: "vote for the first answer shown",
      script: scripts.answersThenVotes({ answer: "x", voteFor: "first" }),
      situation: at("deciding", [short, long]),
      expected: voted("agent1"),
    },
    {
      name: "vote for the agent that a function returns",
      script: scripts.answersThenVotes({ answer: "x", voteFor: () => "agent3" }),
      situation: at("deciding", [short]),
      expected: voted("agent3"),
    },
    {
      name: "present the longest answer",
      script: simple,
      situation: at("presentation", [short, long]),
      expected: { text: long.text },
    },
    {
      name: "confirm their final answer",
      script: simple,
      situation: at("judgement"),
      expected: scripts.call("submit", { confirmed: true }),
    },
    {
      name: "reject their final answer",
      script: rejecting,
      situation: at("judgement"),
      expected: scripts.call("restart_orchestration", { reason: "thin", instructions: "more" }),
    },
    {
      name: "submit an improved answer when they see answers",
      script: improver,
      situation: at("deciding", [short, long]),
      expected: answered(improved.text),
    },
    {
      name: "vote for the improved answer when they see it",
      script: improver,
      situation: at("deciding", [long, improved]),
      expected: voted("agent3"),
    },
    {
      name: "vote if they may no longer answer",
      script: improver,
      situation: at("at_limit", [short, long]),
      expected: voted("agent2"),
    },
    {
      name: "submit a copy of the first answer that they see",
      script: copier,
      situation: at("deciding", [short, long]),
      expected: answered(short.text),
    },
    {
      name: "vote after their copy",
      script: copier,
      situation: at("deciding", [short, long], { callIndex: 1 }),
      expected: voted("agent2"),
    },
    {
      name: "vote if they may no longer answer, although they otherwise always improve",
      script: scripts.improvesForever({ topic: "t" }),
      situation: at("at_limit", [short]),
      expected: voted("agent1"),
    },
    {
      name: "reply with text only",
      script: scripts.neverDecides("Hm."),
      situation: at("deciding", [], { forced: true }),
      expected: { text: "Hm." },
    },
    {
      name: "fail with an HTTP error",
      script: scripts.alwaysFails(503, { retryAfter: 2 }),
      situation: at("deciding"),
      expected: { fail: { status: 503, retryAfter: 2 } },
    },
    {
      name: "never complete a response",
      script: scripts.hangs("body"),
      situation: at("deciding"),
      expected: { hang: "body", cutAfterChunks: 2 },
    },
    {
      name: "respond slowly",
      script: scripts.paced({ ttftMs: 5 }, simple),
      situation: at("first_answer"),
      expected: { pace: { ttftMs: 5 } },
    },
    {
      name: "break the connection",
      script: scripts.cutAfter(3, simple),
      situation: at("first_answer"),
      expected: { cutAfterChunks: 3, ...answered("Ten.") },
    },
  ])("$name", async ({ script, situation, expected }) => {
    expect(await script(situation)).toMatchObject(expected);
  });

  it("submit a new text every time if they always improve", async () => {
    const script = scripts.improvesForever({ topic: "Pools" });
    const [first, second] = [
      await script(at("first_answer")),
      await script(at("deciding", [short])),
    ];
    const words = ({ calls = [] }: Reply): string[] =>
      calls.flatMap((call) => argumentsText(call).match(/\w+/g) ?? []);
    const repeated = words(second).filter((word) => words(first).includes(word));
    expect(repeated).toEqual(["content", "Pools"]);
    expect(words(second).length).toBeGreaterThan(20);
  });

  it("assign a persona to every agent in the tool's schema", async () => {
    const persona = {
      type: "object",
      properties: {
        agent: { type: "string", enum: ["agent1", "agent2"] },
        persona: { type: "string" },
      },
    };
    const parameters = {
      type: "object",
      properties: { personas: { type: "array", items: persona } },
    };
    const tools = [{ name: "assign_personas", parameters }];
    const { calls } = await simple(at("personas", [], { asked: { ...nothingAsked("m"), tools } }));
    const text = expect.stringMatching(/\w+/);
    expect(calls?.[0]?.arguments).toEqual({
      personas: [
        { agent: "agent1", persona: text },
        { agent: "agent2", persona: text },
      ],
    });
  });

  it("use a list of scripts in order, and then always the last script", async () => {
    const script = scripts.inOrder(scripts.alwaysFails(500), simple);
    expect(await script(at("first_answer"))).toHaveProperty("fail");
    expect(await script(at("first_answer"))).toMatchObject(answered("Ten."));
    expect(await script(at("first_answer"))).toMatchObject(answered("Ten."));
  });
});

describe("the output cap of a request", () => {
  const call = { name: "new_answer", arguments: { content: "a rather long answer" } };

  it.each<{ name: string; reply: Reply; cap: number | null; expected: Reply }>([
    {
      name: "does not change a shorter reply",
      reply: { text: "12345678" },
      cap: 2,
      expected: { text: "12345678" },
    },
    {
      name: "does not change a reply if there is no cap",
      reply: { text: "12345678" },
      cap: null,
      expected: { text: "12345678" },
    },
    {
      name: "cuts a text, also inside a word",
      reply: { text: "123456789" },
      cap: 2,
      expected: { text: "12345678", finishReason: "length" },
    },
    {
      name: "counts the reasoning before the text",
      reply: { reasoning: "1234", text: "12345" },
      cap: 2,
      expected: { reasoning: "1234", text: "1234", finishReason: "length" },
    },
    {
      name: "cuts the arguments of a call",
      reply: { calls: [call] },
      cap: 3,
      expected: { calls: [{ name: "new_answer", arguments: '{"content":"' }] },
    },
    {
      name: "removes a call if no tokens remain for it",
      reply: { text: "1234", calls: [call] },
      cap: 1,
      expected: { text: "1234", calls: [] },
    },
  ])("$name", ({ reply, cap, expected }) => {
    const ended = capped(reply, cap);
    expect(ended).toMatchObject(expected);
    expect(outputTokens(ended)).toBeLessThanOrEqual(cap ?? Number.POSITIVE_INFINITY);
  });
});
