import { madeUpArguments } from "./made-up-arguments";
import type { Failure, Pace, Reply, Script } from "./reply";
import type { ShownAnswer, Situation } from "./situation";

/**
 * Composable scripts for agents. A decision depends only on the situation, so a script works for
 * any order of events and any number of sessions. Only `inOrder` has state.
 */

/** Whom to vote for. `best` is the longest answer, the same for all agents in any order. */
export type Choice = "best" | "first" | ((situation: Situation) => string);

type VoteOptions = { voteFor?: Choice; reason?: string };
type PresentationOptions = { presentation?: string };

/** Answers, then votes; presents its own text, or the best answer. Models a good team member. */
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

/** Reports the question's attachments: images and files by type and hash, text files by content. */
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
 * Like `answersThenVotes`, but once it sees answers it first submits `improved`, unless that exists
 * already.
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
    const due = situation.stage === "deciding" && !isShown(improved, situation);
    return due ? newAnswer(improved) : base(situation);
  };
}

/** Submits a new and different answer whenever it may. Votes only if nothing else is offered. */
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

/** Writes text only, even if a tool call is required. */
export const neverDecides =
  (
    text = "There is much to be said on both sides, and I would like to think about it a little longer.",
  ): Script =>
  () => ({ text });

/** Fails every request with this HTTP error. */
export const alwaysFails =
  (status: number, failure: Omit<Failure, "status"> = {}): Script =>
  () => ({ fail: { status, ...failure } });

/** Accepts every request and never completes it: without headers, or after `tokens` of its text. */
export const hangs =
  (
    at: "headers" | "body" = "headers",
    { text = "Let me think about that.", tokens = 2 } = {},
  ): Script =>
  () => ({ hang: at, text, cutAfterChunks: tokens });

/** Like `script`, but the connection breaks after this many tokens. */
export const cutAfter = (tokens: number, script: Script): Script =>
  changed(script, { cutAfterChunks: tokens });

/** Like `script`, at this pace unless it sets its own. */
export const paced =
  (pace: Pace, script: Script): Script =>
  async (situation) => ({ pace, ...(await script(situation)) });

/** Rejects each of its own final texts when it judges them. */
export const rejects =
  (rejection: { reason: string; instructions: string }, script: Script): Script =>
  (situation) =>
    situation.stage === "judgement" ? call("restart_orchestration", rejection) : script(situation);

/** The nth request gets the nth script, later ones the last. Counts all requests of the server. */
export function inOrder(...scripts: [Script, ...Script[]]): Script {
  let asked = 0;
  return (situation) => {
    const script = scripts[Math.min(asked++, scripts.length - 1)] ?? scripts[0];
    return script(situation);
  };
}

/** One reply per kind of situation; judgement and personas get a cooperative reply. */
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

/** The longest answer; of equally long ones the first alphabetically. */
export function best(shown: readonly ShownAnswer[]): ShownAnswer | undefined {
  return [...shown].sort((a, b) => b.text.length - a.text.length || (a.text < b.text ? -1 : 1))[0];
}

/** The author of this text, if shown; else the author of the best answer. */
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

/** Shares only the topic with earlier texts, so that no novelty rule refuses it. */
function unlikeAnyOther(topic: string): string {
  const words = Array.from({ length: 30 }, () => Math.random().toString(36).slice(2, 10));
  return `${topic}: ${words.join(" ")}`;
}
