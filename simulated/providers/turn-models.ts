import type { Reply, Script } from "./reply";
import { byStage, call, newAnswer, rejects, vote } from "./scripts";
import type { Situation } from "./situation";

/**
 * Models that do what the user's message says, so that a test can state the work of each turn. Its
 * lines are `first TOOL ARGUMENTS` for the first attempt and `again TOOL ARGUMENTS` for the next.
 * The final text has the prompt's paragraph on earlier files, the earlier replies as the model
 * reads them, and the results of the tools.
 */
const obeys: Script = byStage({
  answering: (situation) => nextStep(situation) ?? newAnswer(reportOf(situation)),
  deciding: vote,
  presenting: (situation) => nextStep(situation) ?? { text: reportOf(situation) },
});

export const TURN_MODELS: Readonly<Record<string, Script>> = {
  obedient: obeys,
  /** Rejects its first final text. */
  scrupulous: (situation) =>
    isAgain(situation)
      ? obeys(situation)
      : rejects({ reason: "not enough", instructions: "read what there is" }, obeys)(situation),
};

const promptOf = ({ asked }: Situation): string => asked.messages[0]?.text ?? "";
const isAgain = (situation: Situation): boolean =>
  promptOf(situation).includes("REJECTED REPLY>>>");

function nextStep(situation: Situation): Reply | null {
  const kind = isAgain(situation) ? "again" : "first";
  const steps = situation.question.split("\n").flatMap((line) => {
    const [word, name, ...args] = line.split(" ");
    return word === kind && name !== undefined ? [{ name, args: args.join(" ") }] : [];
  });
  const step = steps[situation.callIndex];
  return step ? call(step.name, JSON.parse(step.args)) : null;
}

function reportOf(situation: Situation): string {
  const prompt = promptOf(situation);
  // The last one, because earlier replies may repeat theirs.
  const [about = "nothing about earlier files"] = prompt.match(/^.*`\/turns.*$/gm)?.slice(-1) ?? [];
  const replies = [...prompt.matchAll(/(?<!END )REPLY TO EARLIER MESSAGE \d+>>>\n(.*)/g)].map(
    ([, text]) => text,
  );
  const results = situation.toolResults.map(({ text }) => text);
  return `I wrote /workspace/a.txt.\n${[about, ...replies, ...results].join("\n")}`;
}
