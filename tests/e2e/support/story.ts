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
 * A run of about six seconds with everything that a kill could break: swift votes early, its vote
 * is voided, it gets the improved answer and votes again; slow's vote is late and stale; steady
 * improves, and presents if it wins. The actions depend on what is shown, so the team ends the same
 * way after any number of restarts. The presentation alone takes three seconds, which is the least
 * time for recovery after a kill.
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

/** The scripts of the three, at this many times the pace. */
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

/** The story by the names of its models. */
export const storyModels = (speed: number): Readonly<Record<string, Script>> =>
  Object.fromEntries(STORY_AGENTS.map(({ id, model }) => [model, storyAt(speed)[id]]));

export const STORY: Readonly<Record<string, Script>> = storyModels(1);

type Part = {
  answer: string;
  /** ms to the first token. */
  answering: number;
  deciding: number;
  /** Its actions until the improved answer is shown; omitted if it votes for its own. */
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
