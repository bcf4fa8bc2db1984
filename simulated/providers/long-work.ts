import { textSent } from "./model-input";
import { type Pace, type Script, tokensOf } from "./reply";
import { call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/** Scripts with a small context window, and scripts that fill their context window. */

/** Like `script`, but refuses requests with more than `tokens` tokens. */
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
 * Like `script`, but reports a usage of `inputTokens` for each request that contains `mark` and no
 * summary, as if the context window were nearly full.
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
  /** Number of files to write. */
  steps: number;
  /** Characters that each step adds to the conversation. */
  size: number;
  answer: string;
  /** Pace of its summaries. */
  summaryPace?: Pace;
};

/**
 * Writes large files one after the other, then answers or votes. The request alone shows how many
 * files are written: in the earlier calls, or in the script's own summary of them. When the service
 * requests a summary, the reply is the number of the last file.
 */
export function worksAtLength({ steps, size, answer, summaryPace }: Work): Script {
  return (situation) => {
    const stepsDone = stepsIn(situation);
    if (isSummary(situation))
      return {
        text: `Written so far: step-${stepsDone}.`,
        ...(summaryPace && { pace: summaryPace }),
      };
    if (stepsDone < steps && situation.stage !== "presentation") {
      return call("write_file", {
        path: `step-${stepsDone + 1}.txt`,
        content: "word ".repeat(size / 5),
      });
    }
    if (situation.stage === "presentation") return { text: answer };
    return situation.stage === "first_answer" ? newAnswer(answer) : vote(situation);
  };
}

/**
 * Writes three files. The next reply begins with the text `begun` and then fails, because the
 * context window is full. The answer after the summary repeats `begun` if the request contains that
 * text.
 */
export function outgrowsMidway(answer: string, begun: string): Script {
  const work = worksAtLength({ steps: 3, size: 4_000, answer });
  return async (situation) => {
    const sent = textSent(situation.asked);
    const repeatedText = sent.includes(begun) ? ` ${begun}` : "";
    if (isSummary(situation)) return { text: `${(await work(situation)).text}${repeatedText}` };
    if (stepsIn(situation) < 3 || situation.stage !== "first_answer") return work(situation);
    if (sent.includes("SUMMARY OF YOUR WORK")) return newAnswer(`${answer}${repeatedText}`);
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

/** The highest step that the request mentions. */
const stepsIn = ({ asked }: Situation): number =>
  Math.max(0, ...[...textSent(asked).matchAll(/step-(\d+)/g)].map(([, step]) => Number(step)));
