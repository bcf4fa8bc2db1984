import { textSent } from "./model-input";
import { type Pace, type Script, tokensOf } from "./reply";
import { call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/** Models with a small context window, and agents that fill it. */

/** Like `script`, but refuses requests above this number of tokens. */
export const refusesOver =
  (tokens: number, script: Script): Script =>
  (situation) => {
    const sent = tokensOf(textSent(situation.asked));
    if (sent <= tokens) return script(situation);
    const message = `This model's maximum context length is ${tokens} tokens. However, your messages resulted in ${sent} tokens.`;
    return {
      fail: {
        status: 400,
        type: "invalid_request_error",
        code: "context_length_exceeded",
        message,
      },
    };
  };

/**
 * Like `script`, but reports a nearly full window whenever the request contains `mark` and no
 * summary.
 */
export const seemsFull =
  (inputTokens: number, mark: string, script: Script): Script =>
  async (situation) => {
    const sent = textSent(situation.asked);
    const isFull = sent.includes(mark) && !sent.includes("SUMMARY OF YOUR WORK");
    return {
      ...(await script(situation)),
      ...(isFull && { usage: { inputTokens, outputTokens: 50 } }),
    };
  };

type Work = {
  steps: number;
  /** Characters that each step adds to the conversation. */
  size: number;
  answer: string;
  /** Pace of its summaries. */
  summaryPace?: Pace;
};

/**
 * Writes large files one after the other, then answers or votes. Derives its progress from the
 * request alone: from its calls, or from its own summary of them. A summary request gets the
 * progress as reply.
 */
export function worksAtLength({ steps, size, answer, summaryPace }: Work): Script {
  return (situation) => {
    const done = stepsIn(situation);
    if (isSummary(situation))
      return { text: `Written so far: step-${done}.`, ...(summaryPace && { pace: summaryPace }) };
    if (done < steps && situation.stage !== "presentation") {
      return call("write_file", {
        path: `step-${done + 1}.txt`,
        content: "word ".repeat(size / 5),
      });
    }
    if (situation.stage === "presentation") return { text: answer };
    return situation.stage === "first_answer" ? newAnswer(answer) : vote(situation);
  };
}

/**
 * Works until its third step, when its window ends in the middle of a reply. Its answer repeats the
 * partial text, if the request contained it.
 */
export function outgrowsMidway(answer: string, begun: string): Script {
  const works = worksAtLength({ steps: 3, size: 4_000, answer });
  return async (situation) => {
    const sent = textSent(situation.asked);
    const reminded = sent.includes(begun) ? ` ${begun}` : "";
    if (isSummary(situation)) return { text: `${(await works(situation)).text}${reminded}` };
    if (stepsIn(situation) < 3 || situation.stage !== "first_answer") return works(situation);
    if (sent.includes("SUMMARY OF YOUR WORK")) return newAnswer(`${answer}${reminded}`);
    const message =
      "Your input exceeds the context window of this model. Please adjust your input and try again.";
    const failure = {
      status: 400,
      type: "invalid_request_error",
      code: "context_length_exceeded",
      message,
    };
    return {
      text: `${begun} and so on and so forth, without end.`,
      failsMidway: { afterTokens: tokensOf(begun) + 1, failure },
    };
  };
}

const isSummary = ({ asked }: Situation): boolean =>
  asked.tools.length === 0 && asked.system.startsWith("You sum up");

const stepsIn = ({ asked }: Situation): number =>
  Math.max(0, ...[...textSent(asked).matchAll(/step-(\d+)/g)].map(([, step]) => Number(step)));
