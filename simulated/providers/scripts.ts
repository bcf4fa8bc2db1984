import { madeUpArguments } from "./made-up-arguments";
import type { Failure, Pace, Reply, Script } from "./reply";
import type { ShownAnswer, Situation } from "./situation";

/**
 * Scripts for agents, and functions that combine scripts. Each reply depends only on the situation,
 * so a script works for any order of events and any number of sessions. Only `inOrder` has state.
 */

/**
 * Selects the answer to vote for. `best`: the longest answer, which is the same for all agents,
 * also if they see the answers in different orders. A function returns the alias of the answer.
 */
export type Choice = "best" | "first" | ((situation: Situation) => string);

type VoteOptions = { voteFor?: Choice; reason?: string };
type PresentationOptions = { presentation?: string };

/**
 * A cooperative agent: answers, then votes. If it wins, it presents `presentation`, or else the
 * best answer.
 */
export function answersThenVotes({
  answer,
  presentation,
  ...voting
}: { answer: string } & VoteOptions & PresentationOptions): Script {
  return byStage({
    answering: () => newAnswer(answer),
    deciding: (situation) => vote(situation, voting),
    presenting: (situation) => ({ text: presentation ?? best(situation.shown)?.text ?? answer }),
  });
}

/**
 * Its answer lists the attachments of the question: images and files by type and hash, text files
 * by content.
 */
export function reportsAttachments(): Script {
  return (situation) => answersThenVotes({ answer: attachmentReport(situation) })(situation);
}

function attachmentReport({ asked: { attached, messages } }: Situation): string {
  const files = [
    ...(messages[0]?.text ?? "").matchAll(/<<<\w+ ATTACHED FILE>>>\n([\s\S]*?)\n<<</g),
  ].map(([, text = ""]) => text);
  const earlier = [
    ...(messages[0]?.text ?? "").matchAll(/\(With it came, not sent again: [^)]*\)/g),
  ].map(([text]) => text);
  return `What came: ${[...attached, ...files, ...earlier].join(" | ") || "nothing"}`;
}

/**
 * Like `answersThenVotes`, but its first action after it sees answers is to submit `improved`. If
 * `improved` is among the answers, it votes.
 */
export function improvesOnce({
  improved,
  ...rest
}: { answer: string; improved: string } & VoteOptions & PresentationOptions): Script {
  const base = answersThenVotes({
    ...rest,
    voteFor: rest.voteFor ?? ((situation) => aliasOf(improved, situation)),
  });
  return (situation) => {
    const mustImprove = situation.stage === "deciding" && !isShown(improved, situation);
    return mustImprove ? newAnswer(improved) : base(situation);
  };
}

/** Submits a new answer as often as it is allowed to. Votes only if it cannot submit an answer. */
export function improvesForever({ topic, ...voting }: { topic: string } & VoteOptions): Script {
  return byStage({
    answering: () => newAnswer(unlikeAnyOther(topic)),
    deciding: (situation) =>
      situation.stage === "at_limit" ? vote(situation, voting) : newAnswer(unlikeAnyOther(topic)),
    presenting: (situation) => ({ text: best(situation.shown)?.text ?? topic }),
  });
}

/** Submits the first answer it sees as its own, `copies` times per round, then votes. */
export function copycat({
  answer,
  copies = 1,
  ...voting
}: { answer: string; copies?: number } & VoteOptions): Script {
  const base = answersThenVotes({ answer, ...voting });
  return (situation) => {
    const copied =
      situation.stage === "deciding" && situation.callIndex < copies
        ? situation.shown[0]
        : undefined;
    return copied ? newAnswer(copied.text) : base(situation);
  };
}

/** Replies with text only, even if a tool call is required. */
export const neverDecides =
  (
    text = "There is much to be said on both sides, and I would like to think about it a little longer.",
  ): Script =>
  () => ({ text });

/** Fails every request with this HTTP error. */
export const alwaysFails =
  (status: number, failure: Omit<Failure, "status"> = {}): Script =>
  () => ({ fail: { status, ...failure } });

/**
 * Accepts every request and never completes the response. It stops before the headers, or after the
 * first `tokens` tokens of `text`.
 */
export const hangs =
  (
    at: "headers" | "body" = "headers",
    { text = "Let me think about that.", tokens = 2 } = {},
  ): Script =>
  () => ({ hang: at, text, cutAfterChunks: tokens });

/** Like `script`, but the connection breaks after this many tokens. */
export const cutAfter = (tokens: number, script: Script): Script =>
  withFields(script, { cutAfterChunks: tokens });

/** Like `script`, but at this pace for each reply without its own pace. */
export const paced =
  (pace: Pace, script: Script): Script =>
  async (situation) => ({ pace, ...(await script(situation)) });

/** Like `script`, but rejects its presentation whenever it judges one. */
export const rejects =
  (rejection: { reason: string; instructions: string }, script: Script): Script =>
  (situation) =>
    situation.stage === "judgement" ? call("restart_orchestration", rejection) : script(situation);

/**
 * The nth request gets the reply of the nth script. After the last script, all requests get its
 * reply. The requests of all sessions are counted together.
 */
export function inOrder(...scripts: [Script, ...Script[]]): Script {
  let requestCount = 0;
  return (situation) => {
    const script = scripts[Math.min(requestCount++, scripts.length - 1)] ?? scripts[0];
    return script(situation);
  };
}

/**
 * One script for each stage of a coordination. At the stages judgement, personas and summary, the
 * agent cooperates.
 */
export function byStage(parts: Record<"answering" | "deciding" | "presenting", Script>): Script {
  return (situation) => {
    switch (situation.stage) {
      case "first_answer":
        return parts.answering(situation);
      case "deciding":
      case "at_limit":
        return parts.deciding(situation);
      case "presentation":
        return parts.presenting(situation);
      case "judgement":
        return call("submit", { confirmed: true });
      case "personas":
        return call("assign_personas", madeUpArguments(parametersOf("assign_personas", situation)));
      case "summary":
        return { text: summaryOf(situation) };
    }
  };
}

/** Characters of each block that a simulated summary repeats. */
const SUMMARISED_CHARS = 60;
/** Most characters of a simulated summary. */
const MOST_SUMMARY_CHARS = 2_000;

/** A summary of earlier turns: the beginning of each of their texts. */
export function summaryOf({ asked }: Situation): string {
  const text = asked.messages.map((message) => message.text).join("");
  const blocks =
    /<<<\S+ (?:SUMMARY OF EARLIER|EARLIER MESSAGE|REPLY TO EARLIER)[^>]*>>>\n([\s\S]*?)\n<<</g;
  const beginnings = [...text.matchAll(blocks)].map(([, content = ""]) =>
    content.slice(0, SUMMARISED_CHARS),
  );
  return `So far: ${beginnings.join(" | ")}`.slice(0, MOST_SUMMARY_CHARS);
}

/** A reply with one `new_answer` call. */
export const newAnswer = (content: string): Reply => call("new_answer", { content });

/** A reply with one `vote` call. */
export function vote(
  situation: Situation,
  { voteFor = "best", reason = "It is the most complete of the answers." }: VoteOptions = {},
): Reply {
  return call("vote", { agent_id: chosen(situation, voteFor), reason });
}

/** A reply with one tool call. */
export const call = (name: string, args: Record<string, unknown>): Reply => ({
  calls: [{ name, arguments: args }],
});

/** The longest answer. Of answers with equal length, the first in alphabetical order. */
export function best(shown: readonly ShownAnswer[]): ShownAnswer | undefined {
  return [...shown].sort((a, b) => b.text.length - a.text.length || (a.text < b.text ? -1 : 1))[0];
}

/** The alias of the answer that contains `text`, or else the alias of the best answer. */
export const aliasOf = (text: string, { shown, aliases }: Situation): string =>
  (shown.find((answer) => answer.text.includes(text.trim())) ?? best(shown))?.alias ??
  aliases[0] ??
  "agent1";

/** Whether one of the answers shown contains `text`. */
export const isShown = (text: string, { shown }: Situation): boolean =>
  shown.some((answer) => answer.text.includes(text.trim()));

function chosen(situation: Situation, choice: Choice): string {
  if (typeof choice === "function") return choice(situation);
  const answer = choice === "first" ? situation.shown[0] : best(situation.shown);
  return answer?.alias ?? situation.aliases[0] ?? "agent1";
}

const parametersOf = (name: string, { asked }: Situation): unknown =>
  asked.tools.find((tool) => tool.name === name)?.parameters;

/** Like `script`, with these fields in each reply. */
const withFields =
  (script: Script, change: Partial<Reply>): Script =>
  async (situation) => ({ ...(await script(situation)), ...change });

/** A text of random words after the topic. It is so new that no novelty rule refuses it. */
function unlikeAnyOther(topic: string): string {
  const words = Array.from({ length: 30 }, () => Math.random().toString(36).slice(2, 10));
  return `${topic}: ${words.join(" ")}`;
}
