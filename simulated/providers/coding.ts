import type { Reply, Script } from "./reply";
import { best, byStage, call, isShown, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/**
 * Agents that work on files: they write, run their code, look at files of others, and then answer
 * or vote.
 */

type Work = {
  /**
   * Tool calls before the answer, one per reply. `{kept}` is replaced by the path of the file that
   * the service stored for the latest large tool result.
   */
  first?: readonly [string, Record<string, unknown>][];
  answer: string;
  /** A second answer, submitted as soon as the agent sees answers, without a tool call. */
  improved?: string;
  /** Tool calls before the vote. `{best}` is replaced by the alias that the agent will vote for. */
  beforeVote?: readonly [string, Record<string, unknown>][];
  /** Tool calls before the presentation. */
  last?: readonly [string, Record<string, unknown>][];
  /** The presentation. Omitted: the answer and the results of the tools. */
  final?: Reply;
};

/**
 * Performs the steps, one tool call per reply, and then decides. The number of its replies in the
 * conversation selects the next step.
 */
export function worksOnFiles({
  first = [],
  answer,
  improved,
  beforeVote = [],
  last = [],
  final,
}: Work): Script {
  const mustImprove = (situation: Situation) =>
    improved !== undefined && !isShown(improved, situation);
  return byStage({
    answering: (situation) => stepOf(first, situation) ?? newAnswer(answer),
    deciding: (situation) =>
      mustImprove(situation)
        ? newAnswer(improved ?? "")
        : (stepOf(beforeVote, situation) ?? vote(situation)),
    presenting: (situation) =>
      stepOf(last, situation) ?? final ?? { text: `${answer} Results: ${resultsOf(situation)}` },
  });
}

function stepOf(steps: Work["first"], situation: Situation): Reply | null {
  const step = steps?.[situation.callIndex];
  if (!step) return null;
  const [name, args] = step;
  const filled = JSON.stringify(args).replaceAll(
    "{best}",
    best(situation.shown)?.alias ?? "agent1",
  );
  return call(name, JSON.parse(filled.replaceAll("{kept}", storedFileIn(situation))));
}

const storedFileIn = ({ toolResults }: Situation): string =>
  /\.tool_results\/[\w-]+\.txt/.exec(toolResults.at(-1)?.text ?? "")?.[0] ?? "";

const resultsOf = ({ toolResults }: Situation): string =>
  toolResults.map(({ text }) => text).join(" | ");
