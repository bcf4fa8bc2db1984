import type { Reply, Script } from "./reply";
import { best, byStage, call, isShown, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/** Agents that work on files: they write, run what they wrote, look at each other's files, and then answer or vote. */

type Work = {
  /** Calls of tools, one a reply, before it answers; the file of the latest large result stands for `{kept}`. */
  first?: readonly [string, Record<string, unknown>][];
  answer: string;
  /** A second answer, given with an empty workspace as soon as it is shown answers. */
  improved?: string;
  /** Before it votes; the alias it will vote for stands for `{best}` in its arguments. */
  beforeVote?: readonly [string, Record<string, unknown>][];
  /** Before it presents. */
  last?: readonly [string, Record<string, unknown>][];
  /** What it presents; absent: its answer, and what its tools gave. */
  final?: Reply;
};

/** Works through its steps, one call a reply, then decides. It goes by how many replies it has given in the conversation. */
export function worksOnFiles({
  first = [],
  answer,
  improved,
  beforeVote = [],
  last = [],
  final,
}: Work): Script {
  const isDue = (situation: Situation) => improved !== undefined && !isShown(improved, situation);
  return byStage({
    answering: (situation) => stepOf(first, situation) ?? newAnswer(answer),
    deciding: (situation) =>
      isDue(situation)
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
  return call(name, JSON.parse(filled.replaceAll("{kept}", keptIn(situation))));
}

const keptIn = ({ toolResults }: Situation): string =>
  /\.tool_results\/[\w-]+\.txt/.exec(toolResults.at(-1)?.text ?? "")?.[0] ?? "";

const resultsOf = ({ toolResults }: Situation): string =>
  toolResults.map(({ text }) => text).join(" | ");
