import { madeUpArguments } from "./made-up-arguments";
import type { Failure, Pace, Reply, Script } from "./reply";
import type { ShownAnswer, Situation } from "./situation";

/**
 * Scripted agents, to be composed. A decision depends on the situation alone, so a script plays its part in any order of events
 * and for any number of sessions; only `inOrder` remembers.
 */

/** Whom to vote for. `best` is the longest answer, for everyone the same whatever order it is shown in. */
export type Choice = "best" | "first" | ((situation: Situation) => string);

type Voting = { voteFor?: Choice; reason?: string };
type Presenting = { presentation?: string };

/** Answers, then votes; presents its own words, or the best answer if none were given. The model of a good team member. */
export function answersThenVotes({
  answer,
  presentation,
  ...voting
}: { answer: string } & Voting & Presenting): Script {
  return byStage({
    answering: () => newAnswer(answer),
    deciding: (situation) => vote(situation, voting),
    presenting: (situation) => ({ text: presentation ?? best(situation.shown)?.text ?? answer }),
  });
}

/** Says what came with the question: images and files by type and hash, text files by what they say. */
export function tellsWhatCame(): Script {
  return (situation) => answersThenVotes({ answer: whatCame(situation) })(situation);
}

function whatCame({ asked: { attached, messages } }: Situation): string {
  const files = [
    ...(messages[0]?.text ?? "").matchAll(/<<<\w+ ATTACHED FILE>>>\n([\s\S]*?)\n<<</g),
  ].map(([, text = ""]) => text);
  const earlier = [
    ...(messages[0]?.text ?? "").matchAll(/\(With it came, not sent again: [^)]*\)/g),
  ].map(([text]) => text);
  return `What came: ${[...attached, ...files, ...earlier].join(" | ") || "nothing"}`;
}

/** As `answersThenVotes`, but once it is shown answers it first gives `improved`, unless that is there already. */
export function improvesOnce({
  improved,
  ...rest
}: { answer: string; improved: string } & Voting & Presenting): Script {
  const base = answersThenVotes({
    ...rest,
    voteFor: rest.voteFor ?? ((situation) => aliasOf(improved, situation)),
  });
  return (situation) => {
    const due = situation.stage === "deciding" && !isShown(improved, situation);
    return due ? newAnswer(improved) : base(situation);
  };
}

/** Never content: every time it may answer it does, with a text unlike any before. Votes only where nothing else is offered. */
export function improvesForever({ topic, ...voting }: { topic: string } & Voting): Script {
  return byStage({
    answering: () => newAnswer(unlikeAnyOther(topic)),
    deciding: (situation) =>
      situation.stage === "at_limit" ? vote(situation, voting) : newAnswer(unlikeAnyOther(topic)),
    presenting: (situation) => ({ text: best(situation.shown)?.text ?? topic }),
  });
}

/** Hands in the first answer it is shown as its own, `copies` times per round, then votes. */
export function copycat({
  answer,
  copies = 1,
  ...voting
}: { answer: string; copies?: number } & Voting): Script {
  const base = answersThenVotes({ answer, ...voting });
  return (situation) => {
    const copied =
      situation.stage === "deciding" && situation.callIndex < copies
        ? situation.shown[0]
        : undefined;
    return copied ? newAnswer(copied.text) : base(situation);
  };
}

/** Talks and talks, even where a tool call is required. */
export const neverDecides =
  (
    text = "There is much to be said on both sides, and I would like to think about it a little longer.",
  ): Script =>
  () => ({ text });

/** Answers every request with this HTTP error. */
export const alwaysFails =
  (status: number, failure: Omit<Failure, "status"> = {}): Script =>
  () => ({ fail: { status, ...failure } });

/** Accepts every request and never ends it: without headers, or after `tokens` of its text. */
export const hangs =
  (
    at: "headers" | "body" = "headers",
    { text = "Let me think about that.", tokens = 2 } = {},
  ): Script =>
  () => ({ hang: at, text, cutAfterChunks: tokens });

/** What `script` does, broken off after so many tokens. */
export const cutAfter = (tokens: number, script: Script): Script =>
  changed(script, { cutAfterChunks: tokens });

/** What `script` does, at this pace where it names none itself. */
export const paced =
  (pace: Pace, script: Script): Script =>
  async (situation) => ({ pace, ...(await script(situation)) });

/** Rejects every final answer of its own that it is asked to judge. */
export const rejects =
  (rejection: { reason: string; instructions: string }, script: Script): Script =>
  (situation) =>
    situation.stage === "judgement" ? call("restart_orchestration", rejection) : script(situation);

/** The n-th request gets the n-th script, all later ones the last. Counts over the server's life, whoever asks. */
export function inOrder(...scripts: [Script, ...Script[]]): Script {
  let asked = 0;
  return (situation) => {
    const script = scripts[Math.min(asked++, scripts.length - 1)] ?? scripts[0];
    return script(situation);
  };
}

/** One reply per kind of situation; judgement and personas are answered as a content and helpful agent would. */
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
    }
  };
}

/** A reply that is one `new_answer`. */
export const newAnswer = (content: string): Reply => call("new_answer", { content });

/** A reply that is one `vote`. */
export function vote(
  situation: Situation,
  { voteFor = "best", reason = "It is the most complete of the answers." }: Voting = {},
): Reply {
  return call("vote", { agent_id: chosen(situation, voteFor), reason });
}

/** A reply that is one call of a tool. */
export const call = (name: string, args: Record<string, unknown>): Reply => ({
  calls: [{ name, arguments: args }],
});

/** The longest answer; of equally long ones the first in the alphabet. */
export function best(shown: readonly ShownAnswer[]): ShownAnswer | undefined {
  return [...shown].sort((a, b) => b.text.length - a.text.length || (a.text < b.text ? -1 : 1))[0];
}

/** Who gave this text, as far as shown; else who gave the best. */
export const aliasOf = (text: string, { shown, aliases }: Situation): string =>
  (shown.find((answer) => answer.text.includes(text.trim())) ?? best(shown))?.alias ??
  aliases[0] ??
  "agent1";

/** Whether this text is among the answers shown. */
export const isShown = (text: string, { shown }: Situation): boolean =>
  shown.some((answer) => answer.text.includes(text.trim()));

function chosen(situation: Situation, choice: Choice): string {
  if (typeof choice === "function") return choice(situation);
  const answer = choice === "first" ? situation.shown[0] : best(situation.shown);
  return answer?.alias ?? situation.aliases[0] ?? "agent1";
}

const parametersOf = (name: string, { asked }: Situation): unknown =>
  asked.tools.find((tool) => tool.name === name)?.parameters;

const changed =
  (script: Script, change: Partial<Reply>): Script =>
  async (situation) => ({ ...(await script(situation)), ...change });

/** Shares no word with an earlier one but the topic, so that no novelty rule refuses it. */
function unlikeAnyOther(topic: string): string {
  const words = Array.from({ length: 30 }, () => Math.random().toString(36).slice(2, 10));
  return `${topic}: ${words.join(" ")}`;
}
