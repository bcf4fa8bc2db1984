import { describe, expect, it } from "vitest";
import { SCENARIO } from "../../simulated/demo/scenario";
import { IMPROVED, LARGEST, PRESENTATION, ROUGH, THOROUGH } from "../../simulated/demo/texts";
import { outputTokens, type Reply } from "../../simulated/providers/reply";
import { nothingAsked } from "../../simulated/providers/model-input";
import type { Situation, Stage } from "../../simulated/providers/situation";

/** The alias of the author of each answer. */
const ALIAS: Readonly<Record<string, string>> = {
  [ROUGH]: "agent3",
  [LARGEST]: "agent1",
  [THOROUGH]: "agent2",
  [IMPROVED]: "agent3",
};

/** The reply of a model at a stage where it sees these answers. */
async function reply(model: string, stage: Stage, texts: string[] = []): Promise<Reply> {
  const shown = texts.map((text) => ({ alias: ALIAS[text] ?? "", text: text.trim() }));
  const asked = nothingAsked(model);
  const emptyFields = {
    offers: [],
    forced: false,
    news: [],
    updates: 0,
    callIndex: 0,
    toolResults: [],
    question: SCENARIO.question,
  };
  const situation: Situation = {
    ...emptyFields,
    model,
    aliases: ["agent1", "agent2", "agent3"],
    stage,
    shown,
    asked,
  };
  const script = SCENARIO.models[model];
  if (!script) throw new Error(`no script for ${model}`);
  return script(situation);
}

const answered = (content: string) => ({ calls: [{ name: "new_answer", arguments: { content } }] });
const voted = (agent_id: string) => ({ calls: [{ name: "vote", arguments: { agent_id } }] });
/** Time from the request to the end of the reply. */
const durationMs = (timedReply: Reply): number => {
  const { ttftMs = 0, tokensPerSecond = Number.POSITIVE_INFINITY } = timedReply.pace ?? {};
  return ttftMs + ((outputTokens(timedReply) - 1) * 1000) / tokensPerSecond;
};

describe("the demo's story", () => {
  const firstAnswers = [ROUGH, LARGEST];
  const withThorough = [LARGEST, THOROUGH, ROUGH];
  const withImproved = [THOROUGH, LARGEST, IMPROVED];

  it.each<{ name: string; model: string; stage: Stage; shown?: string[]; expected: object }>([
    {
      name: "the sprinter submits a rough answer",
      model: "gpt-5.6-luna",
      stage: "first_answer",
      expected: answered(ROUGH),
    },
    {
      name: "the judge submits an answer with the largest pool",
      model: "gemini-3.1-pro-preview",
      stage: "first_answer",
      expected: answered(LARGEST),
    },
    {
      name: "the thinker submits a thorough answer",
      model: "claude-opus-5-5",
      stage: "first_answer",
      expected: answered(THOROUGH),
    },
    {
      name: "the sprinter votes before it sees the thorough answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: firstAnswers,
      expected: voted("agent1"),
    },
    {
      name: "the sprinter submits an improved answer when it sees the thorough answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: withThorough,
      expected: answered(IMPROVED),
    },
    {
      name: "the judge votes for the better of the first two answers",
      model: "gemini-3.1-pro-preview",
      stage: "deciding",
      shown: firstAnswers,
      expected: voted("agent1"),
    },
    {
      name: "the thinker votes for its own answer",
      model: "claude-opus-5-5",
      stage: "deciding",
      shown: withThorough,
      expected: voted("agent2"),
    },
    {
      name: "the sprinter votes for the improved answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: withImproved,
      expected: voted("agent3"),
    },
    {
      name: "the judge votes for the improved answer",
      model: "gemini-3.1-pro-preview",
      stage: "deciding",
      shown: withImproved,
      expected: voted("agent3"),
    },
    {
      name: "the thinker votes for the improved answer",
      model: "claude-opus-5-5",
      stage: "deciding",
      shown: withImproved,
      expected: voted("agent3"),
    },
    {
      name: "the sprinter votes if it may no longer answer",
      model: "gpt-5.6-luna",
      stage: "at_limit",
      shown: withThorough,
      expected: voted("agent1"),
    },
    {
      name: "every winner presents the same text",
      model: "gemini-3.1-pro-preview",
      stage: "presentation",
      shown: withImproved,
      expected: { text: PRESENTATION },
    },
  ])("$name", async ({ model, stage, shown, expected }) => {
    expect(await reply(model, stage, shown)).toMatchObject(expected);
  });

  it("has more than a second between events whose order matters, and takes 15 to 30 s", async () => {
    const rough = durationMs(await reply("gpt-5.6-luna", "first_answer"));
    const largest = durationMs(await reply("gemini-3.1-pro-preview", "first_answer"));
    // after its second answer, the team waits a short time for the third
    const decidingFrom = Math.max(rough, largest) * 1.1 + 250;
    const thorough = durationMs(await reply("claude-opus-5-5", "first_answer"));
    const sprinterVote =
      decidingFrom + durationMs(await reply("gpt-5.6-luna", "deciding", firstAnswers));
    const thinkerVote =
      thorough + durationMs(await reply("claude-opus-5-5", "deciding", withThorough));
    const improvement =
      thorough + durationMs(await reply("gpt-5.6-luna", "deciding", withThorough));
    const staleVote =
      Math.max(rough, largest) +
      durationMs(await reply("gemini-3.1-pro-preview", "deciding", firstAnswers));
    const orderedTimes: [number, number][] = [
      [sprinterVote, thorough],
      [thinkerVote, improvement],
      [improvement, staleVote],
    ];
    for (const [earlier, later] of orderedTimes) expect(later - earlier).toBeGreaterThan(1_000);

    const consensus =
      staleVote + durationMs(await reply("gemini-3.1-pro-preview", "deciding", withImproved));
    const totalMs =
      consensus + durationMs(await reply("gpt-5.6-luna", "presentation", withImproved));
    expect(totalMs).toBeGreaterThan(15_000);
    expect(totalMs).toBeLessThan(30_000);
  });
});
