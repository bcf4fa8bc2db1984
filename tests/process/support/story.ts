import type { Reply, Script } from "../../../scripts/simulated-providers/reply";
import { aliasOf, byStage, isShown, newAnswer, paced, vote } from "../../../scripts/simulated-providers/scripts";
import type { Situation } from "../../../scripts/simulated-providers/situation";

/**
 * A run of about six seconds with everything in it that a kill could break: swift votes early and is voided, is injected the
 * improved answer and votes anew; slow's vote comes too late and is stale; steady improves, and presents if it wins. Who does
 * what depends on what is shown, so that after any number of restarts the team comes to the same end. The presentation
 * takes three seconds by itself: whatever was killed has that long to go, at least.
 */
export const FINAL =
  "The kettle boils at 100 °C at sea level, and one degree less for every 300 m above it: in La Paz at 88 °C. 🫖";
const SWIFT = "Water boils at 100 °C.";
const STEADY = "At sea level water boils at 100 °C; in the mountains at less.";
const SLOW = "It depends on the pressure of the air, thus on the height of the place.";
const IMPROVED =
  "Water boils at 100 °C at sea level and at about one degree less for each 300 m of height, since the air presses less.";

/** Real models' names, so that calls have prices. */
export const STORY_AGENTS = [
  { id: "swift", model: "gpt-5-mini" },
  { id: "steady", model: "gpt-5" },
  { id: "slow", model: "gpt-4o" },
] as const;

export const STORY: Readonly<Record<string, Script>> = {
  "gpt-5-mini": member({ answer: SWIFT, answering: 150, deciding: 300 }),
  "gpt-5": member({
    answer: STEADY,
    answering: 500,
    deciding: 700,
    early: (situation) => (situation.stage === "deciding" ? newAnswer(IMPROVED) : voteFor(IMPROVED, situation)),
  }),
  "gpt-4o": member({ answer: SLOW, answering: 800, deciding: 1_500 }),
};

type Part = {
  answer: string;
  /** ms to the first token. */
  answering: number;
  deciding: number;
  /** What it does until the improved answer is in view; absent: votes for its own. */
  early?: (situation: Situation) => Reply;
};

function member({ answer, answering, deciding, early = (situation) => voteFor(answer, situation) }: Part): Script {
  return byStage({
    answering: paced({ ttftMs: answering, tokensPerSecond: 40 }, () => newAnswer(answer)),
    deciding: (situation) => {
      const pace = { ttftMs: isShown(IMPROVED, situation) ? 250 : deciding, tokensPerSecond: 60 };
      return { pace, ...(isShown(IMPROVED, situation) ? voteFor(IMPROVED, situation) : early(situation)) };
    },
    presenting: paced({ ttftMs: 300, tokensPerSecond: 10 }, () => ({ text: FINAL })),
  });
}

const voteFor = (text: string, situation: Situation): Reply =>
  vote(situation, { voteFor: (seen) => aliasOf(text, seen), reason: "It is right and says why." });
