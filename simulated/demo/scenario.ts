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
 * The story of the demo, with three agents of three vendors. The sprinter answers first, with a
 * rough text. The judge answers soon after, and the thinker much later. When the thinker's answer
 * arrives, the sprinter has already voted. Its vote becomes void. It sees the new answer and
 * submits a better one. The judge decides slowly: two new answers arrive meanwhile, so its vote is
 * stale. In the end all three agents vote for the same answer. The presenter searches the web for a
 * fact about Postgres and cites the source.
 *
 * Each decision depends only on the answers that the agent sees. The paces fix the order of the
 * events. Events whose order matters are more than a second apart. With any other order, the team
 * still reaches the same final vote.
 */

type DemoAgent = {
  id: string;
  model: string;
  type: "openai" | "claude" | "gemini";
  /** Whether the agent has the web search tool. */
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
    finalReason: REASONS.improvedByRival,
    beforeImproved: (situation) => ({
      ...voteFor(THOROUGH, REASONS.thorough, situation),
      pace: { ttftMs: 900, tokensPerSecond: 45 },
    }),
  });
}

function sprinter(): Script {
  return answersUntilImproved({
    answer: ROUGH,
    finalReason: REASONS.improvedByItself,
    beforeImproved: (situation) => {
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
    finalReason: REASONS.improvedAfterStale,
    beforeImproved: (situation) => {
      const weighed = voteFor(LARGEST, REASONS.largestAfterWeighing, situation);
      return { text: WEIGHING, ...weighed, pace: { ttftMs: 600, tokensPerSecond: 32 } };
    },
  });
}

/**
 * First submits `answer`. Then decides by `beforeImproved` until the agent sees the improved
 * answer, and votes for that answer with `finalReason`. The presentation is the same for each
 * agent.
 */
function answersUntilImproved(parts: {
  answer: string;
  finalReason: string;
  beforeImproved: (situation: Situation) => Reply;
}): Script {
  return byStage({
    answering: () => newAnswer(parts.answer),
    presenting: () => ({ hosted: [SEARCH], text: PRESENTATION, citations: [SOURCE] }),
    deciding: (situation) =>
      isShown(IMPROVED, situation)
        ? voteFor(IMPROVED, parts.finalReason, situation)
        : parts.beforeImproved(situation),
  });
}

const voteFor = (text: string, reason: string, situation: Situation): Reply =>
  vote(situation, { voteFor: (seen) => aliasOf(text, seen), reason });
