import type { Reply, Script } from "../simulated-providers/reply";
import { aliasOf, answersThenVotes, byStage, isShown, newAnswer, paced, vote } from "../simulated-providers/scripts";
import type { Situation } from "../simulated-providers/situation";
import { IMPROVED, LARGEST, PRESENTATION, QUESTION, REASONS, ROUGH, THOROUGH, WEIGHING } from "./texts";

/**
 * The demo's story. gpt-5-mini answers fast and roughly, gpt-4o soon after; gpt-5 takes its time. When gpt-5's answer comes,
 * gpt-5-mini has voted already: its vote is void, it is shown the answer, and improves on it. gpt-4o is a careful judge: what it
 * weighs so long is overtaken twice, its vote comes too late and counts as stale. In the end all three want the same answer.
 *
 * Who does what depends on the answers they are shown; the paces only see to it that things happen in the order told, with more
 * than a second between any two that must not swap. In any other order the team comes to the same end.
 */

type DemoAgent = { id: string; model: string };

export const SCENARIO: { question: string; agents: readonly DemoAgent[]; models: Readonly<Record<string, Script>> } = {
  question: QUESTION,
  agents: [
    { id: "thinker", model: "gpt-5" },
    { id: "sprinter", model: "gpt-5-mini" },
    { id: "judge", model: "gpt-4o" },
  ],
  models: {
    "gpt-5": paced({ ttftMs: 1_500, tokensPerSecond: 34 }, thinker()),
    "gpt-5-mini": paced({ ttftMs: 600, tokensPerSecond: 50 }, sprinter()),
    "gpt-4o": paced({ ttftMs: 600, tokensPerSecond: 48 }, judge()),
  },
};

function thinker(): Script {
  return answersUntilImproved({
    answer: THOROUGH,
    final: REASONS.improvedByRival,
    before: (situation) => ({ ...voteFor(THOROUGH, REASONS.thorough, situation), pace: { ttftMs: 900, tokensPerSecond: 45 } }),
  });
}

function sprinter(): Script {
  return answersUntilImproved({
    answer: ROUGH,
    final: REASONS.improvedByItself,
    before: (situation) => {
      const canImprove = situation.stage === "deciding" && isShown(THOROUGH, situation);
      return canImprove ? newAnswer(IMPROVED) : voteFor(LARGEST, REASONS.largestOverRough, situation);
    },
  });
}

function judge(): Script {
  return answersUntilImproved({
    answer: LARGEST,
    final: REASONS.improvedAfterStale,
    before: (situation) => {
      const weighed = voteFor(LARGEST, REASONS.largestAfterWeighing, situation);
      return { text: WEIGHING, ...weighed, pace: { ttftMs: 600, tokensPerSecond: 32 } };
    },
  });
}

/** Answers, does `before` until the improved answer is in view, then votes for that; presents it whoever wins. */
function answersUntilImproved(parts: { answer: string; final: string; before: (situation: Situation) => Reply }): Script {
  const content = answersThenVotes({ answer: parts.answer, presentation: PRESENTATION });
  return byStage({
    answering: content,
    presenting: content,
    deciding: (situation) => (isShown(IMPROVED, situation) ? voteFor(IMPROVED, parts.final, situation) : parts.before(situation)),
  });
}

const voteFor = (text: string, reason: string, situation: Situation): Reply =>
  vote(situation, { voteFor: (seen) => aliasOf(text, seen), reason });
