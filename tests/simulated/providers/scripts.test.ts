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

  it.each<{ name: string; script: Script; situation: Situation; want: object }>([
    { name: "answer first", script: simple, situation: at("first_answer"), want: answered("Ten.") },
    {
      name: "vote for the best, at any position",
      script: simple,
      situation: at("deciding", [short, long]),
      want: voted("agent2"),
    },
    {
      name: "vote for the best in another order",
      script: simple,
      situation: at("deciding", [long, short]),
      want: voted("agent2"),
    },
    {
      name: "vote for the first shown",
      script: scripts.answersThenVotes({ answer: "x", voteFor: "first" }),
      situation: at("deciding", [short, long]),
      want: voted("agent1"),
    },
    {
      name: "vote for the given agent",
      script: scripts.answersThenVotes({ answer: "x", voteFor: () => "agent3" }),
      situation: at("deciding", [short]),
      want: voted("agent3"),
    },
    {
      name: "present the best",
      script: simple,
      situation: at("presentation", [short, long]),
      want: { text: long.text },
    },
    {
      name: "confirm their final answer",
      script: simple,
      situation: at("judgement"),
      want: scripts.call("submit", { confirmed: true }),
    },
    {
      name: "reject their final answer",
      script: rejecting,
      situation: at("judgement"),
      want: scripts.call("restart_orchestration", { reason: "thin", instructions: "more" }),
    },
    {
      name: "improve when they see answers",
      script: improver,
      situation: at("deciding", [short, long]),
      want: answered(improved.text),
    },
    {
      name: "vote for the improved answer once it is shown",
      script: improver,
      situation: at("deciding", [long, improved]),
      want: voted("agent3"),
    },
    {
      name: "vote if they may not improve",
      script: improver,
      situation: at("at_limit", [short, long]),
      want: voted("agent2"),
    },
    {
      name: "copy what they see",
      script: copier,
      situation: at("deciding", [short, long]),
      want: answered(short.text),
    },
    {
      name: "vote after a refused copy",
      script: copier,
      situation: at("deciding", [short, long], { callIndex: 1 }),
      want: voted("agent2"),
    },
    {
      name: "vote at the limit, if never content",
      script: scripts.improvesForever({ topic: "t" }),
      situation: at("at_limit", [short]),
      want: voted("agent1"),
    },
    {
      name: "talk without deciding",
      script: scripts.neverDecides("Hm."),
      situation: at("deciding", [], { forced: true }),
      want: { text: "Hm." },
    },
    {
      name: "fail",
      script: scripts.alwaysFails(503, { retryAfter: 2 }),
      situation: at("deciding"),
      want: { fail: { status: 503, retryAfter: 2 } },
    },
    {
      name: "hang",
      script: scripts.hangs("body"),
      situation: at("deciding"),
      want: { hang: "body", cutAfterChunks: 2 },
    },
    {
      name: "respond slowly",
      script: scripts.paced({ ttftMs: 5 }, simple),
      situation: at("first_answer"),
      want: { pace: { ttftMs: 5 } },
    },
    {
      name: "break the connection",
      script: scripts.cutAfter(3, simple),
      situation: at("first_answer"),
      want: { cutAfterChunks: 3, ...answered("Ten.") },
    },
  ])("$name", async ({ script, situation, want }) => {
    expect(await script(situation)).toMatchObject(want);
  });

  it("write a new text every time, if they never stop improving", async () => {
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

  it("assign every agent a persona, by the tool's schema", async () => {
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

  it("follow a list, then stay with its last entry", async () => {
    const script = scripts.inOrder(scripts.alwaysFails(500), simple);
    expect(await script(at("first_answer"))).toHaveProperty("fail");
    expect(await script(at("first_answer"))).toMatchObject(answered("Ten."));
    expect(await script(at("first_answer"))).toMatchObject(answered("Ten."));
  });
});

describe("the output cap of a request", () => {
  const call = { name: "new_answer", arguments: { content: "a rather long answer" } };

  it.each<{ name: string; reply: Reply; cap: number | null; want: Reply }>([
    {
      name: "changes nothing that fits",
      reply: { text: "12345678" },
      cap: 2,
      want: { text: "12345678" },
    },
    {
      name: "changes nothing if absent",
      reply: { text: "12345678" },
      cap: null,
      want: { text: "12345678" },
    },
    {
      name: "cuts text mid-word",
      reply: { text: "123456789" },
      cap: 2,
      want: { text: "12345678", finishReason: "length" },
    },
    {
      name: "counts reasoning first",
      reply: { reasoning: "1234", text: "12345" },
      cap: 2,
      want: { reasoning: "1234", text: "1234", finishReason: "length" },
    },
    {
      name: "cuts the arguments of a call",
      reply: { calls: [call] },
      cap: 3,
      want: { calls: [{ name: "new_answer", arguments: '{"content":"' }] },
    },
    {
      name: "drops a call without a token left",
      reply: { text: "1234", calls: [call] },
      cap: 1,
      want: { text: "1234", calls: [] },
    },
  ])("$name", ({ reply, cap, want }) => {
    const ended = capped(reply, cap);
    expect(ended).toMatchObject(want);
    expect(outputTokens(ended)).toBeLessThanOrEqual(cap ?? Number.POSITIVE_INFINITY);
  });
});
