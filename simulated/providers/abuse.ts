import type { Reply, Script } from "./reply";
import { answersThenVotes, best, byStage, call, newAnswer, vote } from "./scripts";
import type { Situation } from "./situation";

/** Agents that break the rules, or repeat an action without end. */

/** Votes for its own answer, if it can identify it. */
export const votesForItself = (answer: string): Script =>
  answersThenVotes({
    answer,
    voteFor: ({ shown }) => shown.find(({ text }) => text.includes(answer))?.alias ?? "agent1",
  });

/** First votes for these targets, one per model call. Then votes correctly. */
export function votesWrongly(answer: string, ...targets: [string, ...string[]]): Script {
  const base = answersThenVotes({ answer });
  return (situation) => {
    const target = situation.stage === "deciding" ? targets[situation.callIndex] : undefined;
    return target === undefined
      ? base(situation)
      : call("vote", { agent_id: target, reason: "I think so." });
  };
}

/** In the first `times` decisions of a conversation: answers and votes in the same reply. */
export function decidesTwice(answer: string, times: number): Script {
  const base = answersThenVotes({ answer });
  return (situation) => {
    if (situation.stage !== "deciding" || situation.callIndex >= times) return base(situation);
    return {
      calls: [
        ...(newAnswer(`${answer} Again, in other words: ${situation.callIndex}.`).calls ?? []),
        ...callsOf(vote(situation)),
      ],
    };
  };
}

/** Votes `times` times in one reply: for the first answer shown, then the second, and so on. */
export function votesManyTimes(answer: string, times: number): Script {
  const target = ({ shown }: Situation, nth: number) =>
    shown[nth % Math.max(1, shown.length)]?.alias ?? "agent1";
  return byStage({
    answering: () => newAnswer(answer),
    deciding: (situation) => ({
      calls: Array.from({ length: times }, (_, nth) =>
        callsOf(call("vote", { agent_id: target(situation, nth), reason: "x" })),
      ).flat(),
    }),
    presenting: ({ shown }) => ({ text: best(shown)?.text ?? answer }),
  });
}

/** Calls an unknown tool `times` times in its first reply. Then answers and votes correctly. */
export function callsUnknownTool(answer: string, times: number): Script {
  const base = answersThenVotes({ answer });
  const calls = Array.from({ length: times }, (_, nth) => ({
    name: "delete_everything",
    arguments: { nth },
  }));
  return (situation) =>
    situation.callIndex === 0 && situation.stage !== "presentation" ? { calls } : base(situation);
}

/** Calls the tool `name` `times` times in its first reply. Its answer lists the results. */
export function callsAtOnce(name: string, times: number): Script {
  const calls = Array.from({ length: times }, (_, nth) => ({ name, arguments: { nth } }));
  return byStage({
    answering: ({ callIndex, toolResults }) =>
      callIndex === 0
        ? { calls }
        : newAnswer(`Told: ${toolResults.map(({ text }) => text).join(", ")}`),
    deciding: (situation) => vote(situation),
    presenting: ({ shown }) => ({ text: best(shown)?.text ?? "" }),
  });
}

const callsOf = (reply: Reply) => reply.calls ?? [];
