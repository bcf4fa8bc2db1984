import type { Reply, Script } from "../providers/reply";
import { aliasOf, byStage, isShown, newAnswer, paced, vote } from "../providers/scripts";
import type { Situation } from "../providers/situation";
import {
  IMPROVED,
  LARGEST,
  PRESENTATION,
  QUESTION,
  REASONS,
  ROUGH,
  SEARCH,
  SOURCE,
  THOROUGH,
  WEIGHING,
} from "./texts";

/**
 * The demo's story with three agents of three vendors. The sprinter answers fast and roughly, the
 * judge soon after, the thinker late. When the thinker's answer arrives, the sprinter has voted:
 * its vote is void, it sees the answer and improves on it. The judge is slow: newer answers arrive
 * twice, and its vote is stale. In the end all three vote for the same answer. The presenter looks
 * up a fact about Postgres and cites its source.
 *
 * Decisions depend on the answers that agents see. The paces only fix the order of events, with
 * more than a second between events that must not swap. In any other order the team reaches the
 * same end.
 */

type DemoAgent = {
  id: string;
  model: string;
  type: "openai" | "claude" | "gemini";
  searches: boolean;
};

export const SCENARIO: {
  question: string;
  agents: readonly DemoAgent[];
  models: Readonly<Record<string, Script>>;
} = {
  question: QUESTION,
  agents: [
    { id: "thinker", type: "claude", model: "claude-opus-5-5", searches: false },
    { id: "sprinter", type: "openai", model: "gpt-5.6-luna", searches: true },
    { id: "judge", type: "gemini", model: "gemini-3.1-pro-preview", searches: false },
  ],
  models: {
    "claude-opus-5-5": paced({ ttftMs: 1_500, tokensPerSecond: 34 }, thinker()),
    "gpt-5.6-luna": paced({ ttftMs: 600, tokensPerSecond: 50 }, sprinter()),
    "gemini-3.1-pro-preview": paced({ ttftMs: 600, tokensPerSecond: 48 }, judge()),
  },
};

function thinker(): Script {
  return answersUntilImproved({
    answer: THOROUGH,
    final: REASONS.improvedByRival,
    before: (situation) => ({
      ...voteFor(THOROUGH, REASONS.thorough, situation),
      pace: { ttftMs: 900, tokensPerSecond: 45 },
    }),
  });
}

function sprinter(): Script {
  return answersUntilImproved({
    answer: ROUGH,
    final: REASONS.improvedByItself,
    before: (situation) => {
      const canImprove = situation.stage === "deciding" && isShown(THOROUGH, situation);
      return canImprove
        ? newAnswer(IMPROVED)
        : voteFor(LARGEST, REASONS.largestOverRough, situation);
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

/**
 * Answers, does `before` until the improved answer is shown, then votes for it; presents it,
 * whichever agent wins.
 */
function answersUntilImproved(parts: {
  answer: string;
  final: string;
  before: (situation: Situation) => Reply;
}): Script {
  return byStage({
    answering: () => newAnswer(parts.answer),
    presenting: () => ({ hosted: [SEARCH], text: PRESENTATION, citations: [SOURCE] }),
    deciding: (situation) =>
      isShown(IMPROVED, situation)
        ? voteFor(IMPROVED, parts.final, situation)
        : parts.before(situation),
  });
}

const voteFor = (text: string, reason: string, situation: Situation): Reply =>
  vote(situation, { voteFor: (seen) => aliasOf(text, seen), reason });
