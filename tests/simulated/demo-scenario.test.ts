import { describe, expect, it } from "vitest";
import { SCENARIO } from "../../simulated/demo/scenario";
import { IMPROVED, LARGEST, PRESENTATION, ROUGH, THOROUGH } from "../../simulated/demo/texts";
import { outputTokens, type Reply } from "../../simulated/providers/reply";
import { nothingAsked } from "../../simulated/providers/model-input";
import type { Situation, Stage } from "../../simulated/providers/situation";

const ALIAS: Readonly<Record<string, string>> = {
  [ROUGH]: "agent3",
  [LARGEST]: "agent1",
  [THOROUGH]: "agent2",
  [IMPROVED]: "agent3",
};

async function reply(model: string, stage: Stage, texts: string[] = []): Promise<Reply> {
  const shown = texts.map((text) => ({ alias: ALIAS[text] ?? "", text: text.trim() }));
  const asked = nothingAsked(model);
  const none = {
    offers: [],
    forced: false,
    news: [],
    updates: 0,
    callIndex: 0,
    toolResults: [],
    question: SCENARIO.question,
  };
  const situation: Situation = {
    ...none,
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
const durationMs = (one: Reply): number => {
  const { ttftMs = 0, tokensPerSecond = Number.POSITIVE_INFINITY } = one.pace ?? {};
  return ttftMs + ((outputTokens(one) - 1) * 1000) / tokensPerSecond;
};

describe("the demo's story", () => {
  const first = [ROUGH, LARGEST];
  const overtaken = [LARGEST, THOROUGH, ROUGH];
  const improved = [THOROUGH, LARGEST, IMPROVED];

  it.each<{ name: string; model: string; stage: Stage; shown?: string[]; want: object }>([
    {
      name: "the sprinter answers roughly",
      model: "gpt-5.6-luna",
      stage: "first_answer",
      want: answered(ROUGH),
    },
    {
      name: "the judge answers with the largest pool",
      model: "gemini-3.1-pro-preview",
      stage: "first_answer",
      want: answered(LARGEST),
    },
    {
      name: "the thinker answers thoroughly",
      model: "claude-opus-5-5",
      stage: "first_answer",
      want: answered(THOROUGH),
    },
    {
      name: "the sprinter votes while there is no better answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: first,
      want: voted("agent1"),
    },
    {
      name: "the sprinter improves on the thorough answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: overtaken,
      want: answered(IMPROVED),
    },
    {
      name: "the judge votes for the better answer",
      model: "gemini-3.1-pro-preview",
      stage: "deciding",
      shown: first,
      want: voted("agent1"),
    },
    {
      name: "the thinker votes",
      model: "claude-opus-5-5",
      stage: "deciding",
      shown: overtaken,
      want: voted("agent2"),
    },
    {
      name: "the sprinter ends with the improved answer",
      model: "gpt-5.6-luna",
      stage: "deciding",
      shown: improved,
      want: voted("agent3"),
    },
    {
      name: "the judge ends with the improved answer",
      model: "gemini-3.1-pro-preview",
      stage: "deciding",
      shown: improved,
      want: voted("agent3"),
    },
    {
      name: "the thinker ends with the improved answer",
      model: "claude-opus-5-5",
      stage: "deciding",
      shown: improved,
      want: voted("agent3"),
    },
    {
      name: "the sprinter votes if it may not answer",
      model: "gpt-5.6-luna",
      stage: "at_limit",
      shown: overtaken,
      want: voted("agent1"),
    },
    {
      name: "every winner presents the same text",
      model: "gemini-3.1-pro-preview",
      stage: "presentation",
      shown: improved,
      want: { text: PRESENTATION },
    },
  ])("$name", async ({ model, stage, shown, want }) => {
    expect(await reply(model, stage, shown)).toMatchObject(want);
  });

  it("keeps more than a second between events that must not swap, at a pace that people can follow", async () => {
    const rough = durationMs(await reply("gpt-5.6-luna", "first_answer"));
    const largest = durationMs(await reply("gemini-3.1-pro-preview", "first_answer"));
    // the team waits a grace after its second answer
    const decidingFrom = Math.max(rough, largest) * 1.1 + 250;
    const thorough = durationMs(await reply("claude-opus-5-5", "first_answer"));
    const sprinterVote = decidingFrom + durationMs(await reply("gpt-5.6-luna", "deciding", first));
    const thinkerVote =
      thorough + durationMs(await reply("claude-opus-5-5", "deciding", overtaken));
    const improvement = thorough + durationMs(await reply("gpt-5.6-luna", "deciding", overtaken));
    const staleVote =
      Math.max(rough, largest) +
      durationMs(await reply("gemini-3.1-pro-preview", "deciding", first));
    const inOrder: [number, number][] = [
      [sprinterVote, thorough],
      [thinkerVote, improvement],
      [improvement, staleVote],
    ];
    for (const [earlier, later] of inOrder) expect(later - earlier).toBeGreaterThan(1_000);

    const consensus =
      staleVote + durationMs(await reply("gemini-3.1-pro-preview", "deciding", improved));
    const whole = consensus + durationMs(await reply("gpt-5.6-luna", "presentation", improved));
    expect(whole).toBeGreaterThan(15_000);
    expect(whole).toBeLessThan(30_000);
  });
});
