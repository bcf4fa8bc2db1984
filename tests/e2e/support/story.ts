import type { Reply, Script } from "../../../simulated/providers/reply";
import {
  aliasOf,
  byStage,
  isShown,
  newAnswer,
  paced,
  vote,
} from "../../../simulated/providers/scripts";
import type { Situation } from "../../../simulated/providers/situation";

/**
 * A run of about six seconds with every event that a kill could disturb. The agent `swift` votes
 * early. Then a new answer voids its vote, and it votes again. The agent `steady` submits that new
 * answer. The vote of the agent `slow` is late and therefore stale. Each action depends only on the
 * answers that the agent sees, so the team ends the same way after any number of restarts. The
 * presentation takes three seconds, which is the minimum time for a recovery after a kill.
 */

export const FINAL =
  "The kettle boils at 100 °C at sea level, and one degree less for every 300 m above it: in La Paz at 88 °C. 🫖";
const SWIFT = "Water boils at 100 °C.";
const STEADY = "At sea level water boils at 100 °C; in the mountains at less.";
const SLOW = "It depends on the pressure of the air, thus on the height of the place.";
const IMPROVED =
  "Water boils at 100 °C at sea level and at about one degree less for each 300 m of height, since the air presses less.";

/** The names of the models are real, so that their calls have prices. */
export const STORY_AGENTS = [
  { id: "swift", model: "gpt-5-mini" },
  { id: "steady", model: "gpt-5" },
  { id: "slow", model: "gpt-4o" },
] as const;

/** The scripts of the three agents. `speed`: factor of their pace. */
export function storyAt(
  speed: number,
): Readonly<Record<(typeof STORY_AGENTS)[number]["id"], Script>> {
  return {
    swift: member({ answer: SWIFT, answering: 150, deciding: 300 }, speed),
    steady: member(
      {
        answer: STEADY,
        answering: 500,
        deciding: 700,
        early: (situation) =>
          situation.stage === "deciding" ? newAnswer(IMPROVED) : voteFor(IMPROVED, situation),
      },
      speed,
    ),
    slow: member({ answer: SLOW, answering: 800, deciding: 1_500 }, speed),
  };
}

/** The scripts by the names of their models. */
export const storyModels = (speed: number): Readonly<Record<string, Script>> =>
  Object.fromEntries(STORY_AGENTS.map(({ id, model }) => [model, storyAt(speed)[id]]));

export const STORY: Readonly<Record<string, Script>> = storyModels(1);

type Part = {
  answer: string;
  /** Time to first token of an answer, in ms. */
  answering: number;
  /** Time to first token of a decision, in ms. */
  deciding: number;
  /** Its decisions until it sees the improved answer. Omitted: it votes for its own answer. */
  early?: (situation: Situation) => Reply;
};

function member(
  { answer, answering, deciding, early = (situation) => voteFor(answer, situation) }: Part,
  speed: number,
): Script {
  const pace = (ttftMs: number, tokensPerSecond: number) => ({
    ttftMs: ttftMs / speed,
    tokensPerSecond: tokensPerSecond * speed,
  });
  return byStage({
    answering: paced(pace(answering, 40), () => newAnswer(answer)),
    deciding: (situation) =>
      isShown(IMPROVED, situation)
        ? { pace: pace(250, 60), ...voteFor(IMPROVED, situation) }
        : { pace: pace(deciding, 60), ...early(situation) },
    presenting: paced(pace(300, 10), () => ({ text: FINAL })),
  });
}

const voteFor = (text: string, situation: Situation): Reply =>
  vote(situation, { voteFor: (seen) => aliasOf(text, seen), reason: "It is right and says why." });
